"""`create`: a work dir, a host if asked for, and a running agent; or nothing at all."""

import os
import time
from functools import partial
from typing import Unpack

import msgspec
from msgspec import Struct

from mngr import registry
from mngr.actions import claim
from mngr.actions.create.host import open_or_make_host
from mngr.actions.create.plan import Plan, make_plan
from mngr.actions.create.request import CreateFields, CreateSpec, create_spec
from mngr.actions.create.seed import commits_at_hand, send_files
from mngr.actions.environment import base_env, told_env
from mngr.actions.host_notes import forget_creation, remember_created
from mngr.actions.later import later
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import just_launched, look_at, this_process
from mngr.actions.undo import Undo
from mngr.agents.protocol import Resumable
from mngr.errors import BlockedError, MngrError, UnreachableError, UsageError
from mngr.hosts.protocol import Host, shares_files
from mngr.model import event as kinds
from mngr.model.agent import Agent, AgentSpec, AgentState, Change
from mngr.model.host import HostRef
from mngr.model.ids import check_name, new_agent_id, random_name
from mngr.model.labels import check_labels
from mngr.model.message import Delivery
from mngr.process import Completed
from mngr.sh.lines import append_at, put, ring
from mngr.store.paths import HostPaths
from mngr.store.runfile import NOT_WRITTEN, RunFile, run_file_text
from mngr.tmux.session import Launched, launch_script, read_launch, run_there
from mngr.transfer.protocol import Continues, Sent, Transfer
from mngr.transfer.source import parse_branch_option

_SETUP_DEADLINE_S = 1800
_HINT_MAX = 500
_LINE_MAX = 1000
# What sh answers when it could not exec the program: nothing ran, so nothing is worth keeping.
_CANNOT_START = (72, NOT_WRITTEN, 126, 127)


class AgentDiedError(MngrError):
    """The program ended with a failure right after its start. The agent is kept, as DONE, with its evidence."""

    def __init__(self, change: Change, message: str, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.change = change


class Made(Struct, frozen=True):
    """An agent that was launched, and what to tell a person about it."""

    spec: AgentSpec
    launched: Launched
    started_at: float
    notes: tuple[str, ...]


def create(
    spec: CreateSpec | str = "", *, manager: Manager | None = None, **fields: Unpack[CreateFields]
) -> Change:
    """Makes an agent and starts it, or leaves nothing behind.

    Raises AgentDiedError when its program ends with a failure at once; every other error means that nothing is left.
    """
    manager = default_manager(manager)
    asked = spec if isinstance(spec, CreateSpec) else create_spec(_as_keys({"name": spec, **fields}))
    plan = make_plan(asked, manager)
    reused = _reuse(plan, manager) if plan.spec.reuse else None
    return reused or carry_out(plan, manager)


def carry_out(plan: Plan, manager: Manager) -> Change:
    """Makes what a plan says, or leaves nothing behind."""
    if plan.heritage.inside:
        from mngr.actions.create.from_image import carry_out_inside

        return carry_out_inside(plan, draft(plan, manager), manager)
    with commits_at_hand(plan.heritage.stored, plan.source, manager.host_dir) as source:
        plan = msgspec.structs.replace(plan, source=source)
        with Undo() as undo:
            first = draft(plan, manager)
            host, owns_host = open_or_make_host(plan, first, manager, undo)
            owns_host = owns_host or (host.provider, host.name) == plan.heritage.home
            made = _make(plan, host, _placed(first, host, owns_host), manager, undo)
            undo.keep()
    forget_creation(manager, HostRef(host.name, host.provider))
    return _finish(plan, made, host, manager)


def _as_keys(fields: dict[str, object]) -> dict[str, object]:
    return {"from" if key == "source" else key: value for key, value in fields.items()}


def _reuse(plan: Plan, manager: Manager) -> Change | None:
    from mngr.actions.start import start
    from mngr.actions.targets import resolve

    if not plan.address.name:
        raise UsageError("--reuse needs a name", hint="mngr create NAME --reuse …")
    found = resolve(manager, [plan.address.name]).rows
    if not found:
        return None
    agent = found[0].agent
    if agent.state in (AgentState.STOPPED, AgentState.DONE):
        return start(agent, manager=manager)
    return Change(agent, changed=False, notes=("it was there already",))


def _make(plan: Plan, host: Host, first: AgentSpec, manager: Manager, undo: Undo) -> Made:
    manager.hook("before_create", agent=first)
    undo.push(f"agent {first.id}", lambda: claim.release(host, first))
    if _claims_late(plan, host, first):
        made = _at_once(plan, host, first, manager, undo)
    else:
        made = _step_by_step(plan, host, first, manager, undo)
    return msgspec.structs.replace(made, notes=plan.tell() + made.notes)


def _step_by_step(plan: Plan, host: Host, first: AgentSpec, manager: Manager, undo: Undo) -> Made:
    spec, seconds, sent = _claim_and_send(plan, host, first, undo)
    manager.note_clock(host, seconds)
    spec = _with_work(plan, spec, sent)
    _record(plan, host, spec, manager, undo)
    _upload(plan, host, spec, manager)
    run = _run_file(plan, host, spec, manager)
    _set_up(plan, host, spec, run)
    undo.push(f"session {spec.session}", lambda: claim.end_session(host, spec))
    started_at = manager.time_on(host)
    done = run_there(host, _launch_script(host, spec, run, started_at))
    return Made(spec, _started(done, host, spec, run, manager), started_at, sent.notes)


def _at_once(plan: Plan, host: Host, first: AgentSpec, manager: Manager, undo: Undo) -> Made:
    """The work, the claim and the launch, in one visit to the host where the transfer can do that."""

    def script(sent: Sent) -> str:
        spec = _with_work(plan, first, sent)
        _record(plan, host, spec, manager, undo)
        return _launch_script(host, spec, _run_file(plan, host, spec, manager), None)

    undo.push(f"session {first.session}", lambda: claim.end_session(host, first))
    transfer = _transfer(plan, host)
    if isinstance(transfer, Continues) and not plan.heritage.unpack:
        assert plan.source
        sent, done = transfer.send_then(plan.source, host, first.work_dir, first.branch, script)
        undo.push(f"work dir {sent.work_dir}", lambda: _discard(plan, host, sent))
    else:
        sent = _send(plan, host, first, undo)
        done = run_there(host, script(sent))
    spec = _with_work(plan, first, sent)
    launched = _started(done, host, spec, _run_file(plan, host, spec, manager), manager)
    started_at = float(launched.said)
    manager.note_clock(host, started_at)
    return Made(spec, launched, started_at, sent.notes)


def _record(plan: Plan, host: Host, spec: AgentSpec, manager: Manager, undo: Undo) -> None:
    """Keeps here what an agent elsewhere is created with, before it can run and change what its host says of it."""
    if shares_files(host):
        return
    from mngr.actions.creation_record import remove_records, write_record  # an agent here needs none

    undo.push(f"record of {spec.id}", lambda: remove_records(manager, host, [spec.id]))
    write_record(manager, host, spec, plan.env)


def _with_work(plan: Plan, spec: AgentSpec, sent: Sent) -> AgentSpec:
    return msgspec.structs.replace(
        spec,
        work_dir=sent.work_dir,
        branch=sent.branch,
        base_commit=plan.heritage.base_commit or sent.base_commit,
        owns_work_dir=sent.owns_work_dir,
        owns_branch=sent.owns_branch,
    )


def _is_alone(plan: Plan, host: Host, spec: AgentSpec) -> bool:
    """Whether the host is made for this agent: nobody can have its name there."""
    return spec.owns_host and (host.provider, host.name) != plan.heritage.home


def _claims_late(plan: Plan, host: Host, spec: AgentSpec) -> bool:
    """Whether the launch may claim as well: nobody is there to see it missing, and nothing needs it before."""
    needs_it = plan.spec.setup or plan.spec.upload or plan.heritage.converse or spec.type != "command"
    return _is_alone(plan, host, spec) and not needs_it


def _claim_and_send(plan: Plan, host: Host, first: AgentSpec, undo: Undo) -> tuple[AgentSpec, float, Sent]:
    """The claim, then the work; at once where nobody can have the name."""
    work = partial(claim.claim, host, first, is_auto_named=not plan.address.name)
    if _is_alone(plan, host, first):
        claiming = later(work)
        sent = _send(plan, host, first, undo)
        return (*claiming(), sent)
    spec, seconds = work()
    return spec, seconds, _send(plan, host, spec, undo)


def draft(plan: Plan, manager: Manager) -> AgentSpec:
    """What is known of the agent before its host is."""
    asked, source = plan.spec, plan.source
    name = check_name(plan.address.name or random_name())
    return AgentSpec(
        id=new_agent_id(),
        name=name,
        type=plan.agent_type.name,
        argv=asked.args,
        work_dir=os.path.normpath(plan.address.path) if plan.address.path else "",
        created_at=time.time(),
        labels=check_labels(asked.labels),
        project=asked.project or (os.path.basename(source.path) if source else ""),
        branch=parse_branch_option(plan.branch, name).new if source and source.common_dir else "",
        base_commit=plan.heritage.base_commit or (source.head if source else ""),
        source=source.path if source else "",
        source_machine=os.uname().nodename,
        transfer=plan.transfer,
        owns_work_dir=plan.transfer != "none",
        owns_branch=plan.transfer == "worktree",
        prefix=manager.prefix,
        record=asked.record,
        isolate=asked.isolate,
        windows=asked.windows,
        creator=this_process(),
    )


def _placed(spec: AgentSpec, host: Host, owns_host: bool) -> AgentSpec:
    default_dir = f"{HostPaths(host.dir).work}/{spec.name}-{spec.id[6:12]}"
    return msgspec.structs.replace(spec, work_dir=spec.work_dir or default_dir, owns_host=owns_host)


def _transfer(plan: Plan, host: Host) -> Transfer:
    if plan.transfer == "worktree" and not shares_files(host):
        raise UsageError(
            f'a worktree cannot live on host "{host.name}": it shares no files with this machine',
            hint="use --transfer mirror, the default there",
        )
    transfer: Transfer = registry.load(registry.TRANSFERS, plan.transfer)()
    return transfer


def _send(plan: Plan, host: Host, spec: AgentSpec, undo: Undo) -> Sent:
    transfer = _transfer(plan, host)
    assert plan.source
    if plan.heritage.unpack:
        sent = send_files(plan.heritage, host, spec.work_dir)
    else:
        sent = transfer.send(plan.source, host, spec.work_dir, spec.branch)
    undo.push(f"work dir {sent.work_dir}", lambda: _discard(plan, host, sent))
    return sent


def _discard(plan: Plan, host: Host, sent: Sent) -> None:
    from mngr.transfer.discard import discard  # every create would pay for it

    discard(host, sent, plan.source, plan.transfer)


def _upload(plan: Plan, host: Host, spec: AgentSpec, manager: Manager) -> None:
    for pair in plan.spec.upload:
        local, colon, remote = pair.rpartition(":")
        if not colon or not local or not remote:
            raise UsageError(
                f'--upload "{pair}" is not LOCAL:REMOTE', hint="REMOTE is relative to the agent's work dir"
            )
        path, there = os.path.join(manager.cwd, local), os.path.join(spec.work_dir, remote)
        if os.path.isfile(path) and not remote.endswith("/"):
            host.write(there, manager.local.read(path), mode=os.stat(path).st_mode & 0o777)
        else:
            from mngr.transfer.files import push_files  # every create would pay for it

            push_files([path], host, there)


def _run_file(plan: Plan, host: Host, spec: AgentSpec, manager: Manager) -> RunFile:
    goes_on = plan.heritage.converse is not None and plan.heritage.converse(host, spec)
    agent_type = plan.agent_type
    agent_type.prepare(spec, host)
    if goes_on and isinstance(agent_type, Resumable):
        command = agent_type.resume_command(spec, host)
    else:
        command = agent_type.command(spec, host)
    argv = claim.isolated(command.argv, spec.isolate)
    base = base_env(manager.env) if shares_files(host) else {}
    env = {**base, **command.env, **plan.env, **told_env(spec, host.dir)}
    return RunFile(cwd=spec.work_dir, argv=argv, env=env)


def _set_up(plan: Plan, host: Host, spec: AgentSpec, run: RunFile) -> None:
    if not plan.spec.setup:
        return
    from mngr.actions.agent_shell import agent_shell_argv

    paths = HostPaths(host.dir).agent(spec.id)
    host.write(paths.run, run_file_text(run, paths).encode("utf-8", "surrogateescape"))
    done = host.run(
        agent_shell_argv(host, spec.id, ("sh", "-c", plan.spec.setup)), timeout_s=_SETUP_DEADLINE_S
    )
    if done.code != 0:
        raise MngrError(
            f'setup of "{spec.name}" failed with exit code {done.code}: {done.complaint[-2000:]}',
            hint=_setup_hint(plan.spec.setup),
        )


def _setup_hint(script: str) -> str:
    """What to try by hand: the lines after the last that no person wrote, such as a packed program; of many the end."""
    lines = script.splitlines()
    packed = [number for number, line in enumerate(lines, 1) if len(line) > _LINE_MAX]
    lines = lines[packed[-1] if packed else 0 :]
    lines = lines[1:-1] if lines[:1] == ["("] and lines[-1] == ")" else lines
    shown = "\n".join(lines).strip()
    if not shown:
        return "that is what its host lacks; see: mngr doctor"
    return f"try it by hand: {shown if len(shown) <= _HINT_MAX else '… ' + shown[-_HINT_MAX:].strip()}"


def _launch_script(host: Host, spec: AgentSpec, run: RunFile, started_at: float | None) -> str:
    """Starts the agent, and claims before that where it has not been: then by the time of the host."""
    paths = HostPaths(host.dir)
    agent = paths.agent(spec.id)
    at = '"$now"' if started_at is None else repr(started_at)
    before = "\n".join(
        (
            claim.claim_lines(paths, spec) if started_at is None else "",
            put(agent.run, run_file_text(run, agent)) + " || exit 1",
            # With its creator, who is the only sign of life until there is a process; nobody asks after `created`.
            put(agent.spec, msgspec.json.encode(spec).decode()) + " || exit 1",
            append_at(agent.events, at, kinds.STARTED) + " || exit 1",
        )
    )
    after = append_at(agent.events, at, kinds.CREATED) + "\n" + ring(paths.bell)
    return launch_script(paths, spec, before=before, after=after)


def _started(done: Completed, host: Host, spec: AgentSpec, run: RunFile, manager: Manager) -> Launched:
    """What a launch started; an error where its program could not be."""
    launched = read_launch(done, host, spec)
    code = claim.exit_code(launched) if launched.pid else claim.exit_without_trace(host, spec, manager)
    if code == NOT_WRITTEN:
        raise claim.not_written(host, f'"{spec.name}" could not be started', "not even its process id")
    if code in _CANNOT_START:
        why = _why_not(launched)
        # tmux forgets what it has not read of a process that died: then there is only what we know ourselves.
        known = run.argv[0] if spec.type == "command" else spec.type
        program = why.removesuffix(": not found") if why.endswith(": not found") else known
        raise MngrError(
            f'"{spec.name}" could not be started: {why or program}',
            hint=f"is {program} installed, and on the PATH of its host?",
        )
    return launched


def _why_not(launched: Launched) -> str:
    """What sh said, without the name of our own script in front."""
    return _last_words(launched).rpartition("run.sh: ")[2].rpartition("exec: ")[2]


def _last_words(launched: Launched) -> str:
    return launched.screen.strip()[-2000:]


def _finish(plan: Plan, made: Made, host: Host, manager: Manager) -> Change:
    agent = _now(made, host, manager)
    remember_created(manager, agent)
    change = Change(agent, changed=True, notes=made.notes)
    if made.launched.exit_json and (agent.exit_code or agent.signal):
        how = agent.signal or f"exit code {agent.exit_code}"
        said = _last_words(made.launched)
        raise AgentDiedError(
            change,
            f'"{agent.name}" ended right after its start with {how}' + (f":\n{said}" if said else ""),
            hint=f"it is kept as {agent.state}; mngr destroy {agent.name} removes it",
        )
    manager.hook("after_create", agent=agent)
    if plan.spec.message:
        from mngr.actions.message import deliver  # every create would pay for it

        receipt = deliver(host, made.spec, plan.spec.message.encode("utf-8", "surrogateescape"), manager)
        if receipt.status in (Delivery.BLOCKED, Delivery.UNKNOWN):
            raise BlockedError(
                f'"{agent.name}" runs, but its message is {receipt.status}: {receipt.why}',
                hint=f"look at it: mngr capture {agent.name}",
            )
    return change


def _now(made: Made, host: Host, manager: Manager) -> Agent:
    """The agent as it is now; a plain command that was seen to settle needs no second look."""
    if made.launched.has_settled and made.spec.type == "command":
        return just_launched(made.spec, made.launched.pid, made.started_at, host, manager)
    rows = look_at(host, manager, agent_glob=made.spec.id)
    if not rows:
        raise UnreachableError(f"{made.spec.id} is not on {host.name} any more")
    return rows[0].agent
