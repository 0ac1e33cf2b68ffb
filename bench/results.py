"""What a run of the benchmark found: plain records, so that tables and verdicts can be made without timing anything."""

from statistics import median

from msgspec import Struct

BARE, OURS, FLOOR, PEER = "bare", "ours", "floor", "peer"

START = "interpreter start"
HELP = "--help"
CREATE = "create"
EXEC = "exec"
MESSAGE = "message"
STOP = "stop"
DESTROY = "destroy"
CONTAINER = "create in a container"


SHELLS = (("bash", "--norc", "-i"), ("sh", "-i"))
"""What people run who want a terminal: interactive shells, which ignore TERM."""
CODING_AGENTS = ("claude", "codex", "opencode")


def stop_row(program: str) -> str:
    """The row's name for `stop` of an agent that runs this program."""
    return f"stop of {program}"


def stop_many_row(agents: int) -> str:
    """The row's name for `stop` of so many agents at once."""
    return f"stop {agents} at once"


def destroy_many_row(agents: int) -> str:
    """The row's name for `destroy` of so many running agents at once."""
    return f"destroy {agents} at once"


def create_row(agents: int) -> str:
    """The row's name for so many creations at once."""
    return f"{agents} x create"


def list_row(agents: int) -> str:
    """The row's name for `list` with so many agents."""
    return f"list, {agents:,} agent" + ("s" if agents != 1 else "")


class Timing(Struct, frozen=True):
    """Repetitions of one thing, in seconds."""

    samples: tuple[float, ...]

    @property
    def median_s(self) -> float:
        return median(self.samples)

    @property
    def best_s(self) -> float:
        return min(self.samples)


class Memory(Struct, frozen=True):
    """What idle agents cost, in KiB. Their own programs are not counted."""

    processes_per_agent: float
    """Of ours, beside the one tmux server."""
    server_per_agent: float
    """Growth of the tmux server, proportional set size."""
    recorder_rss: float = 0
    """Resident, of all processes that record one agent."""
    recorder_pss: float = 0
    index_rss: float = 0
    """Resident, of the one index process group of a host."""


class Page(Struct, frozen=True):
    """The page of so many tests: built by the command that users run, opened in Chromium."""

    tests: int
    raw_bytes: int
    file_bytes: int
    build_s: float
    peak_kb: int
    paint_ms: float
    rows_ms: float
    requests: int

    @property
    def ratio(self) -> float:
        return self.file_bytes / self.raw_bytes


class Indexed(Struct, frozen=True):
    """The index of past runs, and the longest answer to a question, the look for new runs included."""

    tests: int
    runs: int
    file_bytes: int
    built_s: float
    added_s: float
    answer_s: float


class Integrated(Struct, frozen=True):
    """So many branches made into one, without any test being run."""

    branches: int
    seconds: float
    processes: int
    """Started by us, all of them git."""
    fixes: int = 0
    conflicts: int = 0


class Makespan(Struct, frozen=True):
    """Agents that work for times known beforehand, so many at once; noticed: from a result's writing to our knowing."""

    tasks: int
    slots: int
    ideal_s: float
    seconds: float
    noticed_median_s: float
    noticed_most_s: float
    lost: int = 0


class Simulated(Struct, frozen=True):
    """The scheduler in virtual time."""

    tasks: int
    slots: int
    use: float
    seconds: float
    memory_mb: float


class Idle(Struct, frozen=True):
    """The orchestrator while its agents work: its share of one core, children included."""

    agents: int
    core_share: float


class Remote(Struct, frozen=True):
    """Machines by ssh, in seconds; late: with so much added to every round trip."""

    hosts: int
    agents: int
    """On each."""
    latency_s: float
    bare_ssh_s: float
    """A command over a connection that is there, by `ssh` itself."""
    second_command_s: float
    list_one_s: float
    list_all_s: float
    late_list_one_s: float
    late_list_all_s: float
    noticed_s: float
    """From an agent's end to our knowing of it, at the most."""


class Sandboxes(Struct, frozen=True):
    """`list` over so many sandboxes at a loopback Modal, each call so late."""

    hosts: int
    latency_s: float
    seen: int
    """How many of them `list` showed as they are."""
    calls: int
    seconds: float
    cpu_s: float
    loading_s: float
    """Of the seconds, loading the SDK alone."""
    loading_cpu_s: float
    descriptors: int
    """Open at once, at the most."""
    exec_calls: int
    """Of `exec` by a bare name."""


class Claudes(Struct, frozen=True):
    """Real Claude Codes, in seconds; the last two are the longest of several messages to an idle one."""

    agents: int
    list_commands_s: float
    """`list` with as many plain commands."""
    list_s: float
    confirmed_s: float
    """From its prompt hook to our receipt."""
    ended_s: float
    """From its end of turn to our knowing of it."""


class Machine(Struct, frozen=True):
    """Where it ran; nothing that names the place."""

    date: str
    cores: int
    memory_gb: float
    versions: tuple[str, ...]


class Results(Struct, frozen=True):
    """Everything one run measured; what is missing was not measured."""

    machine: Machine
    times: dict[str, dict[str, Timing]]
    processes: dict[int, int] = {}
    """How many processes `list` starts, by number of agents."""
    memory: Memory | None = None
    pages: tuple[Page, ...] = ()
    integrated: tuple[Integrated, ...] = ()
    indexed: Indexed | None = None
    makespans: tuple[Makespan, ...] = ()
    simulated: Simulated | None = None
    idle: Idle | None = None
    execs: int | None = None
    """How many times a creation in a container enters it."""
    remote: Remote | None = None
    sandboxes: tuple[Sandboxes, ...] = ()
    claudes: Claudes | None = None
    redaction: float | None = None
    """Megabytes a second that are searched for secrets."""
    notices: tuple[str, ...] = ()

    def seconds(self, row: str, contender: str) -> float | None:
        """The median, or None where it was not measured."""
        timing = self.times.get(row, {}).get(contender)
        return timing.median_s if timing else None

    def ratio(self, over: tuple[str, str], under: tuple[str, str]) -> float | None:
        """How many times slower `over` (row, contender) is than `under`."""
        slow, fast = self.seconds(*over), self.seconds(*under)
        return slow / fast if slow is not None and fast else None
