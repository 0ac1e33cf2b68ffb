"""An agent's work tree seen through a git directory of ours: nothing that its repository configures is used.

The git directory is made for one script and removed with it. It holds a commit for HEAD, a copy of the index, a link to
the objects and a configuration that we wrote, so that no filter, hook, remote or include of the agent's own counts; its
attributes can only choose among the user's filters. git enters an embedded repository only to see whether it is dirty,
and is never asked to.
"""

from msgspec import Struct

from mngr.hosts.protocol import Host, shares_files
from mngr.sh.codes import Exit
from mngr.sh.program import program
from mngr.sh.quote import quote, words
from mngr.store.paths import HostPaths
from mngr.transfer.dirty import SNAPSHOT_MESSAGE
from mngr.transfer.git import ISOLATE, NEEDS_GIT
from mngr.transfer.protocol import WorkSource
from mngr_lib.git import git_argv

_REFUSE = f"{{ echo 'its .git leads to another repository' >&2; exit {Exit.OTHER_REPOSITORY}; }}"
# rev-parse repeats a flag it does not know: a separator that no path can fake, newlines included.
_MARK = "--mngr-mark"


class Checkout(Struct, frozen=True):
    """A work dir on a host and what this machine knows about its repository."""

    host: Host
    work_dir: str
    common_dir: str = ""
    """The repository that it is a worktree of; empty: the work dir holds its own."""
    config: str = ""
    """The git configuration to go by: the user's own, whose filters make what is committed; empty: none."""
    is_any: bool = False
    """Whether `.git` may lead anywhere: the work dir is not the agent's own."""


def checkout_of(host: Host, work_dir: str, transfer: str, source: WorkSource | None) -> Checkout:
    """The work dir of an agent, seen with the configuration of the repository it was made from where that counts.

    A copy on a remote host has the user's filters in its own configuration only, and what they run runs there.
    """
    common_dir = source.common_dir if source else ""
    if transfer == "worktree" and shares_files(host):
        return Checkout(host, work_dir, common_dir, f"{common_dir}/config" if common_dir else "")
    if transfer == "none":
        return Checkout(host, work_dir, config=f"{work_dir}/.git/config", is_any=True)
    if transfer == "copy" and not shares_files(host):
        return Checkout(host, work_dir, config=f"{work_dir}/.git/config")
    if transfer == "copy":
        return Checkout(host, work_dir, config=f"{common_dir}/config" if common_dir else "")
    return Checkout(host, work_dir)


def enter_script(place: Checkout) -> str:
    """Shell lines that go into the work dir and set `dir`, `common`, `form`, `head` and `branch` of its repository.

    `its_git` works on that repository: only for references, which start nothing, whatever is configured.
    """
    return f"""{NEEDS_GIT}cd -- {quote(place.work_dir)} 2>/dev/null || exit {Exit.NO_DIRECTORY}
[ -e .git ] || [ -L .git ] || exit {Exit.NO_REPOSITORY}
dir=$(pwd)/.git
its_git() ( {ISOLATE}export GIT_DIR="$dir"; git "$@" )
said=$(its_git rev-parse --absolute-git-dir {_MARK} --path-format=absolute --git-common-dir {_MARK} \\
  --show-object-format) || exit {Exit.UNREADABLE}
mark='
{_MARK}
'
dir=${{said%%"$mark"*}} said=${{said#*"$mark"}}
common=${{said%%"$mark"*}} form=${{said##*"$mark"}}
{_check(place)}
head=$(its_git rev-parse -q --verify HEAD || :)
branch=$(its_git symbolic-ref -q HEAD || :)
"""


def _check(place: Checkout) -> str:
    if place.is_any:
        return ":"
    if place.common_dir:
        same = f'[ "$(cd -P -- "$common" && pwd)" = "$(cd -P -- {quote(place.common_dir)} && pwd)" ]'
        return f'[ "$dir" != "$common" ] && {same} || {_REFUSE}'
    return f'[ -d .git ] && [ ! -L .git ] && [ "$dir" = "$common" ] || {_REFUSE}'


def view_script(place: Checkout, *, writes: bool = False) -> str:
    """Shell lines, after `enter_script` and in a subshell of their own, from which on git looks through the view.

    With `writes` the index is locked as git locks it; `KEEP_INDEX` makes the view's index the agent's.
    """
    tmp = quote(f"{HostPaths(place.host.dir).dir}/tmp")
    lock = f"""( set -C; : >"$dir/index.lock" ) 2>/dev/null || exit {Exit.INDEX_LOCKED}
locked=$dir/index.lock
"""
    return f"""view= locked=
trap 'rm -rf ${{view:+"$view"}} ${{locked:+"$locked"}}' EXIT
trap 'exit 130' HUP INT TERM
{lock if writes else ""}mkdir -p {tmp}
view=$(mktemp -d {tmp}/view.XXXXXX)
mkdir "$view/refs" "$view/info"
ln -s "$common/objects" "$view/objects"
for f in info/exclude info/attributes shallow; do
  if [ -f "$common/$f" ]; then cp "$common/$f" "$view/$f"; fi
done
if [ -f "$dir/info/sparse-checkout" ]; then cp "$dir/info/sparse-checkout" "$view/info/"; fi
if [ -d "$common/lfs" ]; then ln -s "$common/lfs" "$view/lfs"; fi
for f in "$dir"/sharedindex.*; do
  if [ -f "$f" ]; then ln -s "$f" "$view/"; fi
done
echo "${{head:-ref: refs/heads/unborn}}" >"$view/HEAD"
{_config_lines(place)}
{ISOLATE if not place.config else ""}export GIT_DIR="$view" GIT_WORK_TREE="$(pwd)" GIT_INDEX_FILE="$view/index"
if [ -f "$dir/index" ]; then cp "$dir/index" "$view/index"; fi
if ! git ls-files -z >/dev/null 2>&1; then
  rm -f "$view/index"
  if [ -n "$head" ]; then git read-tree "$head"; fi
fi
"""


def _config_lines(place: Checkout) -> str:
    """Lines that write the view's configuration; a damaged repository's own is not even read."""
    escaped = place.config.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    include = f'[include]\n\tpath = "{escaped}"\n' if place.config else ""
    lfs = """if [ -d "$common/lfs" ] && command -v git-lfs >/dev/null; then
  printf '[filter "lfs"]\\n\\tclean = git-lfs clean -- %%f\\n\\tprocess = git-lfs filter-process\\n\\trequired\\n'
fi"""
    return f"""{{
printf %s {quote(include)}
{":" if place.config else lfs}
printf '[core]\\n\\trepositoryformatversion = 1\\n\\tbare = false\\n\\tlogAllRefUpdates = false\\n'
printf '[extensions]\\n\\tobjectformat = %s\\n' "$form"
}} >"$view/config"
"""


STATUS = "git status --porcelain -z --ignore-submodules=dirty"
"""Prints what is uncommitted; a commit that an embedded repository moved to counts, what lies in it does not."""


def snapshot_script() -> str:
    """Shell lines in a view that print the id of a commit of the work tree as it is: HEAD's own when it is clean."""
    add = words(*git_argv("update-index", "--add", "--")) + ' "$1" 2>/dev/null || :'
    return program("sh/commit_view", message=SNAPSHOT_MESSAGE, add_embedded=add)


KEEP_INDEX = """cat "$view/index" >"$locked"
mv -f "$locked" "$dir/index"
locked=
"""
"""Shell lines in a view that writes: its index becomes the agent's, in one step."""
