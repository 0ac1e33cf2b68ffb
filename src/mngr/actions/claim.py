"""A claim: an agent's directory and name on a host, taken before anything else and given back on failure."""

import time

import msgspec

from mngr.errors import MngrError, RefusedError
from mngr.hosts.protocol import Host, shares_files
from mngr.model import event as kinds
from mngr.model.agent import AgentSpec
from mngr.model.ids import random_name
from mngr.store.paths import HostPaths
from mngr.store.probe import ExitRecord
from mngr.store.script import READ_AND_RUN, append_at, encode, put, quote, ring
from mngr.tmux.server import tmux_sh
from mngr.tmux.session import Launched, kill_script
from mngr.tmux.tree import end_trees

_TAKEN = 17
_TRIES = 20
_TIME_THERE = "$(date +%s)"
_ISOLATED = ("unshare", "-U", "--map-current-user", "--pid", "--fork", "--kill-child", "--mount-proc")


def claim(host: Host, spec: AgentSpec, *, is_auto_named: bool) -> tuple[AgentSpec, float]:
    """Makes the agent's directory and takes its name; an auto name that is taken is drawn again.

    Returns the agent as it was claimed, and the time by the host's clock.
    """
    now = str(int(time.time())) if shares_files(host) else _TIME_THERE
    for _ in range(_TRIES):
        done = host.run(READ_AND_RUN, stdin=encode(_claim_script(HostPaths(host.dir), spec, now)))
        if done.code == 0:
            return spec, float(done.stdout)
        if done.code != _TAKEN:
            raise MngrError(
                f"could not write to {host.dir} on {host.name}: {_first_line(done.complaint)}",
                hint="is its disk full or read-only? MNGR_HOST_DIR names another folder; mngr doctor looks further",
            )
        if not is_auto_named:
            raise RefusedError(
                f'an agent "{spec.name}" is there already',
                hint=f"mngr connect {spec.name}, or create with --reuse or another name",
            )
        name = random_name()
        spec = msgspec.structs.replace(
            spec,
            name=name,
            work_dir=spec.work_dir.replace(spec.name, name),
            branch=spec.branch.replace(spec.name, name),
        )
    raise MngrError("found no free name", hint="name the agent yourself")


def claim_lines(paths: HostPaths, spec: AgentSpec) -> str:
    """Shell lines that claim as part of a longer script, for a host where nobody else is; they print its time."""
    # A shell of its own: what it sets must not reach the agent.
    return f"now=$(\n{_claim_script(paths, spec, _TIME_THERE)}) || exit 1\nprintf '%s ' \"$now\""


def take_name(paths: HostPaths, name: str, agent_id: str) -> str:
    """Shell lines that claim a name, or exit 17. A name whose agent is gone is free.

    The file is linked, not written: it holds the id from its first moment on, whoever is killed meanwhile.
    """
    file, own = quote(paths.name(name)), quote(paths.agent(agent_id).id)
    return f"""\
[ -s {own} ] || printf '%s\\n' {agent_id} >{own} || exit 1
take() {{ ln {own} {file}; }}
take 2>/dev/null || {{
  owner=; {{ read -r owner <{file}; }} 2>/dev/null
  [ -n "$owner" ] && [ -d {quote(paths.agents)}/"$owner" ] && exit {_TAKEN}
  rm -f {file}; take || {{ [ -e {file} ] && exit {_TAKEN}; exit 1; }}
}}"""


def release(host: Host, spec: AgentSpec) -> None:
    """Removes the agent's directory and gives its name back. Twice is safe, also where nothing could be made."""
    paths = HostPaths(host.dir)
    script = f"""\
[ -d {quote(host.dir)} ] || exit 0
{drop_name(paths, spec.name, spec.id)}
rm -rf {quote(paths.agent(spec.id).dir)}
{ring(paths.bell)}
"""
    host.run(READ_AND_RUN, stdin=encode(script)).check(f"removing {spec.id}")


def drop_name(paths: HostPaths, name: str, agent_id: str) -> str:
    """Shell lines that give a name back, if it is this agent's."""
    file = quote(paths.name(name))
    return f'owner=; {{ read -r owner <{file}; }} 2>/dev/null; [ "$owner" != {agent_id} ] || rm -f {file}'


def end_session(host: Host, spec: AgentSpec) -> None:
    """Ends the agent's session if it is really its own."""
    end_trees(host, [spec.id], grace_s=1)
    paths = HostPaths(host.dir)
    own = f"{tmux_sh(paths)} list-sessions -F '#{{session_name}} #{{@mngr_id}}' 2>/dev/null"
    script = f"{own} | grep -qxF {quote(f'{spec.session} {spec.id}')} || exit 0\n"
    script += kill_script(paths, [(spec.session, paths.agent(spec.id))])
    host.run(READ_AND_RUN, stdin=encode(script)).check(f"ending session {spec.session}")


def exit_code(launched: Launched) -> int | None:
    """The code of a program that ended at once; None while it lives or when a signal ended it."""
    if not launched.exit_json:
        return None
    try:
        return msgspec.json.decode(launched.exit_json, type=ExitRecord).exit_code
    except msgspec.DecodeError:
        return None


def isolated(argv: tuple[str, ...], how: str) -> tuple[str, ...]:
    """The command, in a pid namespace of its own when asked: nothing it starts can outlive it."""
    return (*_ISOLATED, *argv) if how == "pid" else argv


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _claim_script(paths: HostPaths, spec: AgentSpec, now: str) -> str:
    agent = paths.agent(spec.id)
    return f"""\
umask 077
D={quote(agent.dir)}
mkdir -p {quote(paths.names)} {quote(paths.work)} "$D/outbox" || exit 1
trap '[ "$?" = 0 ] || rm -rf "$D"' EXIT
{put(agent.spec, msgspec.json.encode(spec).decode())} || exit 1
now={now}
{append_at(agent.events, '"$now"', kinds.CREATING)} || exit 1
{take_name(paths, spec.name, spec.id)}
echo "$now"
exit 0
"""
