"""A claim: an agent's directory and name on a host, taken before anything else and given back on failure."""

import time
from collections.abc import Mapping

import msgspec

from mngr.actions.manager import Manager
from mngr.actions.rows import Row, look_at
from mngr.errors import MngrError, RefusedError
from mngr.hosts.protocol import Host, shares_files
from mngr.model.agent import AgentSpec, AgentState
from mngr.model.ids import random_name
from mngr.process import wait_until
from mngr.sh.codes import Exit
from mngr.sh.lines import remove_tree, ring
from mngr.sh.program import READ_AND_RUN, encode, program, quote, words
from mngr.store.paths import REMOVED, HostPaths
from mngr.store.rules import UnfitError
from mngr.store.untrusted import read_exit, read_time
from mngr.tmux.server import tmux_sh
from mngr.tmux.session import Launched, kill_script

_TRIES = 20
_FIRST_SIGN_S = 30.0
_ISOLATED = ("unshare", "-U", "--map-current-user", "--pid", "--fork", "--kill-child", "--mount-proc")


def claim(host: Host, spec: AgentSpec, *, is_auto_named: bool) -> tuple[AgentSpec, float]:
    """Makes the agent's directory and takes its name; an auto name that is taken is drawn again.

    Returns the agent as it was claimed, and the time by the host's clock.
    """
    now = str(int(time.time())) if shares_files(host) else ""
    for _ in range(_TRIES):
        done = host.run(READ_AND_RUN, stdin=encode(_claim_script(HostPaths(host.dir), spec, now)))
        if done.code == 0:
            return spec, read_time(done.text.strip()) or time.time()
        if done.code != Exit.TAKEN:
            raise not_written(host, "nothing is created", done.complaint)
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
    """Shell lines that claim as part of a longer script, for a host that only this agent uses; they print its time."""
    # A shell of its own: what it sets must not reach the agent.
    return f"now=$(\n{_claim_script(paths, spec, '')}) || exit 1\nprintf '%s ' \"$now\""


def take_name(paths: HostPaths, name: str, agent_id: str) -> str:
    """Shell lines that claim a name, or exit with TAKEN. A name whose agent is gone is free."""
    return f"{_names_functions(paths)}mngr_take_name {words(name, agent_id)}"


def release(host: Host, spec: AgentSpec) -> None:
    """Removes the agent's directory and gives its name back. Twice is safe, also where nothing could be made."""
    paths = HostPaths(host.dir)
    script = f"[ -d {quote(host.dir)} ] || exit 0\n{forget_script(paths, {spec.id: spec.name})}"
    host.run(READ_AND_RUN, stdin=encode(script)).check(f"removing {spec.id}")


def forget_script(paths: HostPaths, names: Mapping[str, str]) -> str:
    """Shell lines that remove agents, given as id to name. Killed at any point they leave all of an agent or none.

    A directory is first renamed to what no look takes for an agent, and `gc` removes what is left of it. They
    print what resists.
    """
    away = {agent_id: quote(f"{paths.agents}/{REMOVED}{agent_id}") for agent_id in names}
    lines = []
    for agent_id, target in away.items():
        own = quote(paths.agent(agent_id).dir)
        lines.append(f"[ ! -d {own} ] || mv {own} {target} || [ ! -d {own} ] || exit 1")
    removal = remove_tree(" ".join(away.values()))
    return "\n".join((*lines, drop_names(paths, names), ring(paths.bell), removal, "exit 0\n"))


def drop_names(paths: HostPaths, names: Mapping[str, str]) -> str:
    """Shell lines that give names back, where they are these agents'. While the names stay locked `gc` has to."""
    return f"{_names_functions(paths)}{drop_call(names)}"


def drop_call(names: Mapping[str, str]) -> str:
    """The last line of these, where the lines before have taken or given back a name."""
    return words("mngr_drop_names", *(word for agent_id, name in names.items() for word in (name, agent_id)))


def _names_functions(paths: HostPaths) -> str:
    return program("sh/lib/names", names=paths.names, agents=paths.agents)


def drop_names_of(paths: HostPaths, agent_id: str) -> str:
    """Shell lines that give back every name this agent has: its record does not say which that is."""
    find = f"find {quote(paths.names)} -type f -size -2 -exec grep -lxF {agent_id} {{}} +"
    return f'{find} 2>/dev/null | while IFS= read -r name; do rm -f "$name"; done'


def end_session(host: Host, spec: AgentSpec) -> None:
    """Ends the agent's session if it is really its own."""
    from mngr.tmux.tree import end_trees  # every create would pay for it

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
        return read_exit(launched.exit_json).exit_code
    except UnfitError:
        return None


def exit_without_trace(host: Host, spec: AgentSpec, manager: Manager) -> int | None:
    """The code of a program that left no process id, from its pane; None when it leaves one after all.

    A run file that cannot write its process id ends, and on the same full disk its exit cannot be recorded either.
    """

    def first_sign() -> tuple[Row, ...]:
        rows = look_at(host, manager, agent_glob=spec.id)
        return tuple(row for row in rows if row.evidence.mark or row.agent.state == AgentState.DONE)

    rows = wait_until(first_sign, _FIRST_SIGN_S)
    return rows[0].agent.exit_code if rows else None


def isolated(argv: tuple[str, ...], how: str) -> tuple[str, ...]:
    """The command, in a pid namespace of its own when asked: nothing it starts can outlive it."""
    return (*_ISOLATED, *argv) if how == "pid" else argv


def not_written(host: Host, outcome: str, why: str) -> MngrError:
    """The error for a step that could not write under the host dir, with what came of it."""
    why = why.partition("\n")[0]
    return MngrError(
        f"could not write to {host.dir} on {host.name}, {outcome}: {why}",
        hint="is its disk full or read-only? MNGR_HOST_DIR names another folder; mngr doctor looks further",
    )


def _claim_script(paths: HostPaths, spec: AgentSpec, now: str = "") -> str:
    return program(
        "sh/claim",
        **{
            "names": paths.names,
            "agents": paths.agents,
            "work": paths.work,
            "agent_dir": paths.agent(spec.id).dir,
        },
        **{"id": spec.id, "name": spec.name, "spec": msgspec.json.encode(spec).decode(), "now": now},
    )
