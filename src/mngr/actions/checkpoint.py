"""The shell side of snapshots on plain hosts: an agent's files taken in one round trip, and put back in one."""

from collections.abc import Sequence

from msgspec import Struct

from mngr.actions.heritage import NOT_STATE
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.host import HostRef
from mngr.store.paths import HostPaths
from mngr.store.script import quote
from mngr.transfer.dirty import snapshot_commit_script
from mngr.transfer.git import NEEDS_GIT

TAKEN, HOLDS_HOST_DIR, NO_WORK_DIR = 17, 18, 72
_KEPT = tuple(pattern for pattern in NOT_STATE if pattern != "outbox")


class Taken(Struct, frozen=True):
    """What a checkpoint holds of a work dir. Without git `repository` is empty and the files are in a tar."""

    name: str
    commit: str = ""
    head: str = ""
    branch: str = ""
    repository: str = ""
    """The git directory on the host that keeps the commit, also after the agent is destroyed."""


class Snapshot(Struct, frozen=True, omit_defaults=True):
    """`snapshot.json`: what was kept of which agent, and where."""

    name: str
    agent_id: str
    agent_name: str
    created_at: str
    host: HostRef = HostRef()
    commit: str = ""
    """The commit that holds the work tree; empty where the work dir has no git or no files."""
    note: str = ""
    head: str = ""
    branch: str = ""
    repository: str = ""
    schema: int = 1

    @property
    def taken(self) -> Taken:
        return Taken(self.name, self.commit, self.head, self.branch, self.repository)


def snapshot_dir(host: Host, name: str) -> str:
    return f"{HostPaths(host.dir).snapshots}/{name}"


def snapshot_ref(agent_id: str, name: str) -> str:
    return f"refs/mngr/snapshots/{agent_id}/{name}"


def take_script(host: Host, spec: AgentSpec, name: str, *, is_auto_named: bool) -> str:
    """Shell lines that make the snapshot's directory and fill it; they print a `Taken`, a field a line.

    An auto name gets the first free number. On failure the directory is removed again.
    """
    paths = HostPaths(host.dir)
    return f"""umask 077
all={quote(paths.snapshots)}
mkdir -p "$all"
{_claim(name, is_auto_named)}
S=$all/$name
trap '[ "$?" = 0 ] || rm -rf "$S"' EXIT
trap 'exit 130' HUP INT TERM
cp -p {quote(paths.agent(spec.id).run)} "$S/run.sh"
mkdir "$S/state"
cd -- {quote(paths.agent(spec.id).dir)}
{_each("./", _KEPT, 'cp -pR "$f" "$S/state/" || [ ! -e "$f" ]')}
cd -- {quote(spec.work_dir)} 2>/dev/null || exit {NO_WORK_DIR}
commit= head= branch= repository=
host={quote(host.dir)}
if {_has_git(spec)}; then
  case $host/ in "$(git rev-parse --show-toplevel)"/*) git check-ignore -q "$host" || exit {HOLDS_HOST_DIR} ;; esac
{_take_commit(spec)}
else
  case $host/ in "$(pwd -P)"/*) exit {HOLDS_HOST_DIR} ;; esac
  tar -c -f "$S/files.tar" . || [ "$?" = 1 ]
fi
printf '%s\\n' "$name" "$commit" "$head" "$branch" "$repository"
"""


def put_back_script(host: Host, spec: AgentSpec, taken: Taken) -> str:
    """Shell lines that make the agent's files and work dir what they were; the log and ignored files stay.

    They print a word when HEAD could not be put back as it was.
    """
    own = HostPaths(host.dir).agent(spec.id).dir
    return f"""umask 077
S={quote(snapshot_dir(host, taken.name))}
[ -d "$S/state" ] || exit {NO_WORK_DIR}
cd -- {quote(spec.work_dir)} 2>/dev/null || exit {NO_WORK_DIR}
{_put_back_commit(spec, taken) if taken.repository else _PUT_BACK_FILES}
cd -- {quote(own)}
{_each("./", _KEPT, 'rm -rf "$f"')}
cp -pR "$S/state/." .
"""


def remove_script(host: Host, agent_id: str, taken: Taken) -> str:
    """Shell lines that remove a snapshot and let go of its commit. Twice is safe."""
    repository = quote(taken.repository)
    drop = f"""if [ -d {repository} ]; then
  git --git-dir={repository} update-ref -d {quote(snapshot_ref(agent_id, taken.name))}
fi
"""
    return f"{drop if taken.commit else ''}rm -rf {quote(snapshot_dir(host, taken.name))}\n"


def keep_commit_script(host: Host, work_dir: str, ref: str) -> str:
    """Shell lines that put the commits and uncommitted work of a repository into our store and print where."""
    return f"""umask 077
all={quote(HostPaths(host.dir).snapshots)}
cd -- {quote(work_dir)} && [ -d .git ] && git rev-parse --git-dir >/dev/null 2>&1 || exit 0
commit=$({snapshot_commit_script(work_dir)})
[ -n "$commit" ] || exit 0
{_into_store(quote(ref))}
echo "$repository"
"""


def _claim(name: str, is_auto_named: bool) -> str:
    if not is_auto_named:
        return f"""name={quote(name)}
mkdir "$all/$name" 2>/dev/null || {{ [ -d "$all/$name" ] && exit {TAKEN}; exit 1; }}"""
    return f"""n=1
until mkdir "$all/"{quote(name)}"-$n" 2>/dev/null; do [ -d "$all/"{quote(name)}"-$n" ]; n=$((n + 1)); done
name={quote(name)}-$n"""


def _each(prefix: str, but: Sequence[str], command: str) -> str:
    return f"""for f in {prefix}* {prefix}.[!.]*; do
  [ -e "$f" ] || [ -L "$f" ] || continue
  case ${{f#{prefix}}} in {"|".join(but)}) continue ;; esac
  {command}
done"""


def _has_git(spec: AgentSpec) -> str:
    """A folder that lies in someone else's repository by chance has no git of its own."""
    return "[ -e .git ]" if spec.owns_work_dir else "git rev-parse --is-inside-work-tree >/dev/null 2>&1"


def _take_commit(spec: AgentSpec) -> str:
    """A worktree's commit lives in its repository; a repository that goes with the agent hands it to our store."""
    ref = f"refs/mngr/snapshots/{spec.id}/"
    return f"""{NEEDS_GIT}
commit=$({snapshot_commit_script(spec.work_dir)})
head=$(git rev-parse -q --verify 'HEAD^{{commit}}' || :)
branch=$(git symbolic-ref -q HEAD || :)
repository=$(git rev-parse --path-format=absolute --git-common-dir)
case $repository in
  "$(pwd -P)"/*) [ {int(spec.owns_work_dir)} = 0 ] || {{
{_into_store(f'"{ref}$name"')}
  }} ;;
esac
[ -z "$commit" ] || git --git-dir="$repository" update-ref "{ref}$name" "$commit"
"""


def _into_store(ref: str) -> str:
    """Shell lines that copy `$commit` into the host's store, made if missing, and set `$repository` to it."""
    push = "git -c push.followTags=false -c push.gpgSign=false push -q --no-verify"
    return f"""form=$(git rev-parse --show-object-format)
repository=$all/store-$form.git
mkdir -p "$all"
[ -d "$repository" ] || git init -q --bare --template= --object-format="$form" "$repository"
git --git-dir="$repository" config receive.shallowUpdate true
[ -z "$commit" ] || {push} "$repository" "$commit:"{ref}"""


def _put_back_commit(spec: AgentSpec, taken: Taken) -> str:
    ref = snapshot_ref(spec.id, taken.name)
    fetch = (
        "git -c protocol.file.allow=always fetch -q --no-tags --no-write-fetch-head --no-recurse-submodules"
    )
    return f"""{NEEDS_GIT}
cd -- "$(git rev-parse --show-toplevel)"
tree={quote(taken.commit)} head={quote(taken.head)} branch={quote(taken.branch)}
[ -z "$tree" ] || git cat-file -e "$tree" 2>/dev/null || {fetch} {quote(taken.repository)} {quote(ref)}
git read-tree --reset -u "${{tree:-$(git hash-object -w -t tree /dev/null)}}"
git clean -q -f -d
{_PUT_BACK_HEAD if spec.owns_work_dir else ""}
git reset -q --mixed
"""


# A branch that went on elsewhere, or is checked out in another work tree, is left alone: HEAD then names the commit.
_PUT_BACK_HEAD = """now=$(git symbolic-ref -q HEAD || :)
tip=; [ -z "$branch" ] || tip=$(git rev-parse -q --verify "$branch" || :)
if [ -n "$branch" ] && [ "$now" = "$branch" ]; then
  if [ -n "$head" ]; then git update-ref -m 'mngr restore' HEAD "$head"; else git update-ref -d "$branch"; fi
elif [ -n "$branch" ] && [ "$tip" = "$head" ] &&
  ! git worktree list --porcelain | grep -qxF "branch $branch"; then
  git symbolic-ref -m 'mngr restore' HEAD "$branch"
elif [ -n "$head" ]; then
  git update-ref --no-deref -m 'mngr restore' HEAD "$head"
  [ -z "$branch" ] || echo detached
fi"""

_PUT_BACK_FILES = """new=./.mngr-restore.$$
mkdir "$new"
tar -x -p -f "$S/files.tar" -C "$new" || { rm -rf "$new"; exit 1; }
for f in ./* ./.[!.]* ./..?*; do
  [ "$f" = "$new" ] || rm -rf "$f"
done
for f in "$new"/* "$new"/.[!.]* "$new"/..?*; do
  if [ -e "$f" ] || [ -L "$f" ]; then mv -f "$f" ./; fi
done
rmdir "$new"
"""
