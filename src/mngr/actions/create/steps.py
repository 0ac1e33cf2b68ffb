"""The steps of a creation, in their order. Each pushes its own undo; `carry_out` walks them, and on failure back."""

import os
import time
from collections.abc import Callable
from functools import partial

import msgspec
from msgspec import Struct

from mngr import registry
from mngr.actions import claim as claims
from mngr.actions.create.host import open_or_make_host
from mngr.actions.create.launch import check_launch, last_lines, launch_lines
from mngr.actions.create.plan import Plan, plan_on_image
from mngr.actions.environment import agent_shell_argv, base_env, identity_env
from mngr.actions.host_notes import forget_creation, remember_created
from mngr.actions.manager import Manager
from mngr.actions.rows import just_launched, look_at, this_process
from mngr.actions.undo import Undo
from mngr.agents.protocol import Resumable
from mngr.errors import BlockedError, MngrError, UnreachableError, UsageError
from mngr.hosts.protocol import Host, shares_files
from mngr.model.agent import AgentSpec, Change
from mngr.model.host import HostRef
from mngr.model.ids import check_name, new_agent_id, random_name
from mngr.model.labels import check_labels
from mngr.model.message import Delivery
from mngr.process import Completed
from mngr.store.paths import HostPaths
from mngr.store.runfile import RunFile, run_file_text
from mngr.tmux.session import Launched, run_there
from mngr.transfer.protocol import SendsWithMore, Sent, Transfer
from mngr.transfer.source import parse_branch_option
from mngr_lib.threads import Future

_SETUP_DEADLINE_S = 1800
_HINT_MAX = 500
_LINE_MAX = 1000


class AgentDiedError(MngrError):
    """The program ended with a failure right after its start. The agent is kept, as DONE, with its evidence."""

    def __init__(self, change: Change, message: str, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.change = change


class Creation(Struct, frozen=True):
    """How far a creation has come: each step takes one and returns the next."""

    plan: Plan
    manager: Manager
    undo: Undo
    spec: AgentSpec = AgentSpec(id="", name="", type="", argv=(), work_dir="", created_at=0.0)
    opened: Host | None = None
    claiming: Callable[[], float] | None = None
    """Waits for a claim that is on its way, and returns the time by the host's clock."""
    visit: Callable[[str], Completed] | None = None
    """Sends the work, then runs the lines of the launch in the same visit to the host; None: it has been sent."""
    run: RunFile = RunFile("", ())
    launched: Launched = Launched(0)
    started_at: float = 0.0
    change: Change | None = None
    notes: tuple[str, ...] = ()

    @property
    def host(self) -> Host:
        assert self.opened
        return self.opened

    @property
    def has_own_host(self) -> bool:
        """Whether the host was made for this agent: no other can have its name there."""
        return self.spec.owns_host and (self.host.provider, self.host.name) != self.plan.seed.home

    @property
    def claims_at_launch(self) -> bool:
        """Whether the launch claims as well: no other can take the name, and no step needs its directory before."""
        spec, seed = self.plan.spec, self.plan.seed
        needs_it = spec.setup or spec.upload or seed.copy_conversation or self.spec.type != "command"
        return self.has_own_host and not needs_it


def draft(creation: Creation) -> Creation:
    """Says what is known of the agent before its host is, with the commits it begins with fetched."""
    plan, manager = creation.plan, creation.manager
    if plan.seed.fetch_commits:
        source = creation.undo.hold(plan.seed.fetch_commits())
        plan = msgspec.structs.replace(plan, seed=msgspec.structs.replace(plan.seed, source=source))
    asked, seed, source = plan.spec, plan.seed, plan.seed.source
    name = check_name(plan.address.name or random_name())
    spec = AgentSpec(
        id=creation.spec.id or new_agent_id(),
        name=name,
        type=plan.agent_type.name,
        argv=asked.args,
        work_dir=os.path.normpath(plan.address.path) if plan.address.path else "",
        created_at=time.time(),
        labels=check_labels(asked.labels),
        project=asked.project or source.project or os.path.basename(source.path),
        branch=parse_branch_option(plan.branch, name).new if source.common_dir else "",
        base_commit=seed.base_commit or source.head,
        source=source.path,
        source_machine=os.uname().nodename,
        transfer=seed.transfer,
        owns_work_dir=seed.transfer != "none",
        owns_branch=seed.transfer == "worktree",
        prefix=manager.prefix,
        record=asked.record,
        isolate=asked.isolate,
        windows=asked.windows,
        creator=this_process(),
    )
    return msgspec.structs.replace(creation, plan=plan, spec=spec)


def check_policy(creation: Creation) -> Creation:
    """Refuses what must not go to that provider, agent or model, before anything does."""
    plan, manager = creation.plan, creation.manager
    files = [os.path.join(manager.cwd, pair.rpartition(":")[0]) for pair in plan.spec.upload]
    manager.check_policy("create", creation.spec, plan.address.provider, plan.address.host, files)
    return creation


def open_host(creation: Creation) -> Creation:
    """Opens the host or makes one; only on a host made from an image is known what a snapshot in that holds."""
    plan, manager = creation.plan, creation.manager
    host, is_new = open_or_make_host(plan, creation.spec, manager, creation.undo)
    creation = msgspec.structs.replace(creation, opened=host)
    if plan.seed.in_image:
        plan = plan_on_image(plan, host, creation.spec.name, manager)
        creation = draft(msgspec.structs.replace(creation, plan=plan))
    spec = creation.spec
    default_dir = f"{HostPaths(host.dir).work}/{spec.name}-{spec.id[6:12]}"
    owns_host = is_new or (host.provider, host.name) == plan.seed.home
    spec = msgspec.structs.replace(spec, work_dir=spec.work_dir or default_dir, owns_host=owns_host)
    return msgspec.structs.replace(creation, spec=spec)


def claim(creation: Creation) -> Creation:
    """Takes the agent's directory and name: beside `send` on a host of its own, and at the launch where that can be."""
    host, spec, manager = creation.host, creation.spec, creation.manager
    manager.hook("before_create", agent=spec)
    creation.undo.push(f"agent {spec.id}", lambda: claims.release(host, spec))
    if creation.claims_at_launch:
        return creation
    work = partial(claims.claim, host, spec, is_auto_named=not creation.plan.address.name)
    if creation.has_own_host:
        claiming = Future(work)
        return msgspec.structs.replace(creation, claiming=lambda: claiming.result()[1])
    spec, seconds = work()
    manager.note_clock(host, seconds)
    return msgspec.structs.replace(creation, spec=spec)


def send(creation: Creation) -> Creation:
    """Puts the work on the host; where the launch claims, it sends too if the transfer can."""
    plan, host, spec, undo = creation.plan, creation.host, creation.spec, creation.undo
    seed, source = plan.seed, plan.seed.source
    if seed.transfer == "worktree" and not shares_files(host):
        raise UsageError(
            f'a worktree cannot live on host "{host.name}": it shares no files with this machine',
            hint="use --transfer mirror, the default there",
        )
    transfer: Transfer = registry.load(registry.TRANSFERS, seed.transfer)()

    def discard_sent(sent: Sent) -> None:
        from mngr.transfer.discard import discard  # every create would pay for it

        discard(host, sent, source, seed.transfer)

    visit: Callable[[str], Completed] | None = None
    if seed.send_files:
        sent = seed.send_files(host, spec.work_dir)
        undo.push(f"work dir {sent.work_dir}", lambda: discard_sent(sent))
    elif creation.claims_at_launch and isinstance(transfer, SendsWithMore):
        sent, send_and_run = transfer.plan_send(source, host, spec.work_dir, spec.branch)

        def visit(lines: str) -> Completed:
            done = send_and_run(lines)
            undo.push(f"work dir {sent.work_dir}", lambda: discard_sent(sent))
            return done
    else:
        sent = transfer.send(source, host, spec.work_dir, spec.branch)
        undo.push(f"work dir {sent.work_dir}", lambda: discard_sent(sent))
    if creation.claiming:
        creation.manager.note_clock(host, creation.claiming())
    spec = msgspec.structs.replace(
        spec,
        work_dir=sent.work_dir,
        branch=sent.branch,
        base_commit=seed.base_commit or sent.base_commit,
        owns_work_dir=sent.owns_work_dir,
        owns_branch=sent.owns_branch,
    )
    return msgspec.structs.replace(creation, spec=spec, visit=visit, notes=sent.notes)


def record(creation: Creation) -> Creation:
    """Keeps on this machine what an agent on another one is created with, before its host can change what it says."""
    host, spec, manager = creation.host, creation.spec, creation.manager
    if not shares_files(host):
        from mngr.actions.creation_record import remove_records, write_record  # an agent here needs none

        creation.undo.push(f"record of {spec.id}", lambda: remove_records(manager, host, [spec.id]))
        write_record(manager, host, spec, creation.plan.env)
    return creation


def upload(creation: Creation) -> Creation:
    """Copies the files of `--upload` into the work dir."""
    host, manager = creation.host, creation.manager
    for pair in creation.plan.spec.upload:
        local, colon, remote = pair.rpartition(":")
        if not colon or not local or not remote:
            raise UsageError(
                f'--upload "{pair}" is not LOCAL:REMOTE', hint="REMOTE is relative to the agent's work dir"
            )
        path, target = os.path.join(manager.cwd, local), os.path.join(creation.spec.work_dir, remote)
        if os.path.isfile(path) and not remote.endswith("/"):
            host.write(target, manager.local.read(path), mode=os.stat(path).st_mode & 0o777)
        else:
            from mngr.transfer.files import push_files  # every create would pay for it

            push_files([path], host, target)
    return creation


def prepare(creation: Creation) -> Creation:
    """Puts the files of its type into the agent's directory, and decides what it runs with which environment."""
    plan, host, spec = creation.plan, creation.host, creation.spec
    agent_type, copy_conversation = plan.agent_type, plan.seed.copy_conversation
    has_conversation = copy_conversation is not None and copy_conversation(host, spec)
    agent_type.prepare(spec, host)
    if has_conversation and isinstance(agent_type, Resumable):
        command = agent_type.resume_command(spec, host)
    else:
        command = agent_type.command(spec, host)
    base = base_env(creation.manager.env) if shares_files(host) else {}
    env = {**base, **command.env, **plan.env, **identity_env(spec, host.dir)}
    run = RunFile(cwd=spec.work_dir, argv=claims.isolated(command.argv, spec.isolate), env=env)
    return msgspec.structs.replace(creation, run=run)


def set_up(creation: Creation) -> Creation:
    """Runs the commands of `--setup`, one after another, as the agent would."""
    host, spec, scripts = creation.host, creation.spec, creation.plan.spec.setup
    if not scripts:
        return creation
    paths = HostPaths(host.dir).agent(spec.id)
    host.write(paths.run, run_file_text(creation.run, paths).encode("utf-8", "surrogateescape"))
    for script in scripts:
        done = host.run(agent_shell_argv(host, spec.id, ("sh", "-c", script)), timeout_s=_SETUP_DEADLINE_S)
        if done.code != 0:
            raise MngrError(
                f'setup of "{spec.name}" failed with exit code {done.code}: {done.complaint[-2000:]}',
                hint=_setup_hint(script),
            )
    return creation


def launch(creation: Creation) -> Creation:
    """Starts the program in its session, in one visit to the host. From here on the agent is there to stay."""
    host, spec, manager = creation.host, creation.spec, creation.manager
    creation.undo.push(f"session {spec.session}", lambda: claims.end_session(host, spec))
    started_at = None if creation.claims_at_launch else manager.time_on(host)
    lines = launch_lines(host, spec, creation.run, started_at)
    done = creation.visit(lines) if creation.visit else run_there(host, lines)
    launched = check_launch(done, host, spec, creation.run, manager)
    if started_at is None:
        started_at = float(launched.printed)
        manager.note_clock(host, started_at)
    notes = (*creation.plan.seed.notes(), *creation.notes)
    creation.undo.keep()
    forget_creation(manager, HostRef(host.name, host.provider))
    return msgspec.structs.replace(creation, launched=launched, started_at=started_at, notes=notes)


def observe(creation: Creation) -> Creation:
    """Reads what the agent is now; one that ended with a failure already is an AgentDiedError."""
    host, spec, manager, launched = creation.host, creation.spec, creation.manager, creation.launched
    if (
        launched.has_settled and spec.type == "command"
    ):  # seen waiting for something: no second look is needed
        agent = just_launched(spec, launched.pid, creation.started_at, host, manager)
    else:
        rows = look_at(host, manager, agent_glob=spec.id)
        if not rows:
            raise UnreachableError(f"{spec.id} is not on {host.name} any more")
        agent = rows[0].agent
    remember_created(manager, agent)
    change = Change(agent, changed=True, notes=creation.notes)
    if launched.exit_json and (agent.exit_code or agent.signal):
        how, output = agent.signal or f"exit code {agent.exit_code}", last_lines(launched)
        raise AgentDiedError(
            change,
            f'"{agent.name}" ended right after its start with {how}' + (f":\n{output}" if output else ""),
            hint=f"it is kept as {agent.state}; mngr destroy {agent.name} removes it",
        )
    manager.hook("after_create", agent=agent)
    return msgspec.structs.replace(creation, change=change)


def first_message(creation: Creation) -> Creation:
    """Delivers the first message; the agent stays also when that is not possible."""
    text = creation.plan.spec.message
    if text:
        from mngr.actions.message import deliver  # every create would pay for it

        message = text.encode("utf-8", "surrogateescape")
        receipt = deliver(creation.host, creation.spec, message, creation.manager)
        if receipt.status in (Delivery.BLOCKED, Delivery.UNKNOWN):
            raise BlockedError(
                f'"{creation.spec.name}" runs, but its message is {receipt.status}: {receipt.why}',
                hint=f"look at it: mngr capture {creation.spec.name}",
            )
    return creation


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


STEPS: tuple[Callable[[Creation], Creation], ...] = (
    draft,
    check_policy,
    open_host,
    claim,
    send,
    record,
    upload,
    prepare,
    set_up,
    launch,
    observe,
    first_message,
)


def carry_out(plan: Plan, manager: Manager) -> Change:
    """Makes what a plan says, or leaves nothing behind; a note on an interrupt after the launch says that it runs."""
    undo = Undo()
    creation = Creation(plan, manager, undo)
    try:
        with undo:
            for step in STEPS:
                creation = step(creation)
    except (KeyboardInterrupt, SystemExit) as interrupt:
        if undo.is_kept:
            name = creation.spec.name
            interrupt.add_note(f'"{name}" was created and runs; to remove it: mngr destroy {name}')
        raise
    assert creation.change
    return creation.change
