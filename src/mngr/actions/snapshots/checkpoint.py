"""The shell side of snapshots on plain hosts: an agent's files taken in one round trip, and put back in one."""

from collections.abc import Sequence

from msgspec import Struct

from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.host import HostRef
from mngr.sh.codes import Exit
from mngr.sh.program import load
from mngr.sh.quote import quote, words
from mngr.store.paths import HostPaths
from mngr.transfer.dirty import snapshot_commit_script
from mngr.transfer.git import NEEDS_GIT
from mngr.transfer.refs import SNAPSHOTS, snapshot_refs
from mngr.transfer.view import KEEP_INDEX, Checkout, enter_script, snapshot_script, view_script

# Shell patterns: what an agent's log and its processes wrote, and what is made anew for another agent.
NOT_STATE = (
    *("agent.json", "run.sh", "events.jsonl", "fold.json", "pid", ".pid", "exit.json", "screen"),
    *("raw", "raw.tim", "outbox", "*.new.*", "*.lock", "*.lock.d"),
)
_KEPT = tuple(pattern for pattern in NOT_STATE if pattern != "outbox")


class Taken(Struct, frozen=True):
    """What a checkpoint holds of a work dir. Without git `repository` is empty and the files are in a tar."""

    name: str
    commit: str = ""
    head: str = ""
    branch: str = ""
    repository: str = ""
    """The git directory on the host that keeps the commit, also after the agent is destroyed."""
    ref: str = ""
    """What keeps it there."""


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
    ref: str = ""
    schema: int = 1

    @property
    def taken(self) -> Taken:
        ref = self.ref or f"{SNAPSHOTS}/{self.agent_id}/{self.name}"
        return Taken(self.name, self.commit, self.head, self.branch, self.repository, ref)


def snapshot_dir(host: Host, name: str) -> str:
    return f"{HostPaths(host.dir).snapshots}/{name}"


def snapshot_ref(host: Host, agent_id: str, name: str) -> str:
    """The reference that keeps a snapshot's commit; it tells the snapshots of one host dir from those of another."""
    return f"{snapshot_refs(host.dir)}/{agent_id}/{name}"


def take_script(place: Checkout, spec: AgentSpec, name: str, *, is_auto_named: bool) -> str:
    """Shell lines that make the snapshot's directory and fill it; they print a `Taken`, a field a line.

    An auto name gets the first free number. On failure the directory is removed again.
    """
    host, paths = place.host, HostPaths(place.host.dir)
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
cd -- {quote(spec.work_dir)} 2>/dev/null || exit {Exit.NO_DIRECTORY}
commit= head= branch= repository=
host={quote(host.dir)}
if {_has_git(spec)}; then
{_take_commit(place, spec) if spec.owns_work_dir else _take_in_place(place.host, spec)}
else
  case $host/ in "$(pwd -P)"/*) exit {Exit.HOLDS_HOST_DIR} ;; esac
  tar -c -f "$S/files.tar" . || [ "$?" = 1 ]
fi
printf '%s\\n' "$name" "$commit" "$head" "$branch" "$repository" {_ref_word(place.host, spec)}
"""


def put_back_script(place: Checkout, spec: AgentSpec, taken: Taken) -> str:
    """Shell lines that make the agent's files and work dir what they were; the log and ignored files stay.

    They print a word when HEAD could not be put back as it was.
    """
    host, own = place.host, HostPaths(place.host.dir).agent(spec.id).dir
    return f"""umask 077
S={quote(snapshot_dir(host, taken.name))}
[ -d "$S/state" ] || exit {Exit.NO_DIRECTORY}
cd -- {quote(spec.work_dir)} 2>/dev/null || exit {Exit.NO_DIRECTORY}
{_put_back(place, spec, taken) if taken.repository else load("sh/put_back_files")}
cd -- {quote(own)}
{_each("./", _KEPT, 'rm -rf "$f"')}
cp -pR "$S/state/." .
"""


def remove_script(host: Host, taken: Taken) -> str:
    """Shell lines that remove a snapshot and let go of its commit. Twice is safe."""
    repository = quote(taken.repository)
    drop = f"""if [ -d {repository} ]; then
  git --git-dir={repository} update-ref -d {quote(taken.ref)}
fi
"""
    return f"{drop if taken.commit else ''}rm -rf {quote(snapshot_dir(host, taken.name))}\n"


def keep_commit_script(place: Checkout, ref: str) -> str:
    """Shell lines that put the commits and uncommitted work of a repository into our store and print where."""
    return f"""umask 077
all={quote(HostPaths(place.host.dir).snapshots)}
[ -d {quote(place.work_dir)}/.git ] || exit 0
{enter_script(place)}
( {view_script(place)}
commit=$({snapshot_script()})
[ -n "$commit" ] || exit 0
{_into_store(quote(ref))}
echo "$repository"
)
"""


def _ref_word(host: Host, spec: AgentSpec) -> str:
    """The reference of the snapshot that is being taken, as a word of the shell."""
    return f'{quote(snapshot_ref(host, spec.id, ""))}"$name"'


def _claim(name: str, is_auto_named: bool) -> str:
    if not is_auto_named:
        return f"""name={quote(name)}
mkdir "$all/$name" 2>/dev/null || {{ [ -d "$all/$name" ] && exit {Exit.TAKEN}; exit 1; }}"""
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
    """A folder that merely lies within another repository has no git of its own."""
    return "[ -e .git ]" if spec.owns_work_dir else "git rev-parse --is-inside-work-tree >/dev/null 2>&1"


def _take_commit(place: Checkout, spec: AgentSpec) -> str:
    """A worktree's commit lives in its repository; a repository that goes with the agent hands it to our store."""
    ref = _ref_word(place.host, spec)
    keep = f"""[ -z "$commit" ] || git --git-dir="$repository" update-ref {ref} "$commit"
"""
    return f"""{enter_script(place)}
case $host/ in "$(pwd -P)"/*) its_git --work-tree=. check-ignore -q --no-index "$host" ||
  exit {Exit.HOLDS_HOST_DIR} ;;
esac
repository={"$common" if place.common_dir else "$all/store-$form.git"}
commit=$( {view_script(place)}
commit=$({snapshot_script()})
{"" if place.common_dir else _into_store(ref)}
echo "$commit"
)
{keep if place.common_dir else ""}"""


def _take_in_place(host: Host, spec: AgentSpec) -> str:
    """The work dir is the user's own, and so are its repository and what that configures."""
    ref = _ref_word(host, spec)
    return f"""{NEEDS_GIT}
case $host/ in "$(git rev-parse --show-toplevel)"/*) git check-ignore -q "$host" || exit {Exit.HOLDS_HOST_DIR} ;; esac
commit=$({snapshot_commit_script(spec.work_dir)})
head=$(git rev-parse -q --verify 'HEAD^{{commit}}' || :)
branch=$(git symbolic-ref -q HEAD || :)
repository=$(git rev-parse --path-format=absolute --git-common-dir)
[ -z "$commit" ] || git --git-dir="$repository" update-ref {ref} "$commit"
"""


def _into_store(ref: str) -> str:
    """Shell lines in a view that copy `$commit` into the host's store, made if missing, and set `$repository`."""
    push = "git -c push.followTags=false -c push.gpgSign=false push -q --no-verify"
    return f"""repository=$all/store-$form.git
mkdir -p "$all"
if ! [ -d "$repository" ]; then
  ( unset GIT_DIR GIT_WORK_TREE; git init -q --bare --template= --object-format="$form" "$repository" )
fi
git --git-dir="$repository" config receive.shallowUpdate true
[ -z "$commit" ] || GIT_ALLOW_PROTOCOL=file {push} "$repository" "$commit:"{ref}"""


_FETCH = "git -c protocol.file.allow=always fetch -q --no-tags --no-write-fetch-head --no-recurse-submodules"


def _put_back(place: Checkout, spec: AgentSpec, taken: Taken) -> str:
    """Files and index are made in a view of the agent's repository; of that itself only HEAD is moved."""
    if not spec.owns_work_dir:
        return _put_back_in_place(taken)
    return f"""{enter_script(place)}
tree={quote(taken.commit)} old={quote(taken.head)} branch={quote(taken.branch)}
( {view_script(place, writes=True)}
{_take_over(taken, "GIT_ALLOW_PROTOCOL=file " + _FETCH)}
{KEEP_INDEX})
{load("sh/put_back_head")}head=$(its_git rev-parse -q --verify HEAD || :)
( {view_script(place, writes=True)}
if [ -n "$head" ]; then git read-tree --reset "$head"; else git read-tree --empty; fi
git update-index -q --refresh || :
{KEEP_INDEX})
"""


def _put_back_in_place(taken: Taken) -> str:
    return f"""{NEEDS_GIT}
cd -- "$(git rev-parse --show-toplevel)"
tree={quote(taken.commit)}
{_take_over(taken, _FETCH)}
git reset -q --mixed
"""


def _take_over(taken: Taken, fetch: str) -> str:
    """Shell lines that make the files those of `$tree`, fetched where it is missing; what is ignored stays."""
    return f"""[ -z "$tree" ] || git cat-file -e "$tree" 2>/dev/null || {fetch} {words(taken.repository, taken.ref)}
git read-tree --reset -u "${{tree:-$(git hash-object -w -t tree /dev/null)}}"
git clean -q -f -d"""
