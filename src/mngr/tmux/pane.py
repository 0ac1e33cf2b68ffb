"""An agent's pane: look at it, capture it, paste into it. Each is one round trip to its host."""

import os
import re

from msgspec import Struct

from mngr.errors import RefusedError, TimedOutError, UnreachableError, UsageError
from mngr.hosts.protocol import Host
from mngr.model.message import MESSAGE_LIMIT
from mngr.sh.codes import Exit
from mngr.sh.program import argv, program, quote, words
from mngr.store.paths import AgentPaths, HostPaths
from mngr.store.rules import LAST_PID
from mngr.store.untrusted import read_number
from mngr.tmux.server import tmux_sh, tmux_values
from mngr.tmux.terminal import Refusal, TtyMode, encode_for_terminal, enter_key, parse_stty

COLUMNS, ROWS = 200, 50

# Compiled at the first use: most commands need none of it.
_STYLE = r"\x1b\[[0-9;:]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)|[\x0e\x0f]"
_LOOKS = 5
_BUSY_S = 60

# The colon keeps it apart from the names of sessions, which tmux puts into its errors.
CHANGED = "screen:changed"
"""Why nothing was pasted where the pane no longer was as it had to be."""


class AgentPane(Struct, frozen=True):
    """Where an agent's terminal is."""

    host: Host
    agent_id: str
    session: str

    @property
    def paths(self) -> HostPaths:
        return HostPaths(self.host.dir)

    @property
    def agent(self) -> AgentPaths:
        return self.paths.agent(self.agent_id)

    @property
    def target(self) -> str:
        """`=` makes tmux match the whole name; without it `foo` also finds `foo-2`."""
        return f"={self.session}:0.0"


class PaneStatus(Struct, frozen=True):
    """What a pane is like at one moment. `exists` false: its session is gone and nothing else is known."""

    exists: bool
    dead: bool = False
    in_copy_mode: bool = False
    pid: int = 0
    tty: str = ""
    tmux: tuple[int, int] = (0, 0)
    bracketed: bool | None = None
    """Whether its program asked for bracketed paste; tmux before 3.7 does not tell."""
    title: str = ""
    stty: str = ""

    @property
    def mode(self) -> TtyMode:
        return parse_stty(self.stty)

    @property
    def alive(self) -> bool:
        return self.exists and not self.dead and bool(self.stty)

    @property
    def why_not_alive(self) -> str:
        if not self.exists:
            return "its tmux session is gone"
        return "its process has ended" if self.dead else "its terminal cannot be read"


class Pasted(Struct, frozen=True):
    """What became of a paste: has the terminal every byte (None: not known), did the process live on."""

    taken: bool | None
    alive: bool = False
    why: str = ""
    output: bytes = b""
    """What the caller's own shell lines printed after the paste."""


class AroundPaste(Struct, frozen=True):
    """Shell lines of an agent type, run before and after a paste under the same lock."""

    before: str = ""
    after: str = ""
    only_if: str = ""
    """A tmux format that must hold at the very moment of the paste; CHANGED is the reason where it did not."""
    timeout_s: float = 30


def pane_values(pane: AgentPane) -> dict[str, str]:
    """The parameters of shell programs that work on a pane; its senders take turns by the lock."""
    return {**tmux_values(pane.paths), "target": pane.target, "lock": f"{pane.agent.dir}/send.lock"}


def capture(pane: AgentPane, *, full: bool = False, ansi: bool = False) -> str:
    """What the pane shows, `full` with its history; the saved screen once its session is gone, if any."""
    flags = (*(["-e"] if ansi else ()), *(["-S", "-"] if full else ()))
    values = {**pane_values(pane), "screen": pane.agent.screen}
    done = pane.host.run(argv("sh/capture", *flags, **values))
    lines = done.text.rstrip("\n").split("\n")
    if done.code == Exit.SAVED_SCREEN:
        lines = [line if ansi else re.sub(_STYLE, "", line) for line in (lines if full else lines[-ROWS:])]
    text = "\n".join(lines).rstrip()
    return text + "\n" if text and done.code in (0, Exit.SAVED_SCREEN) else ""


def look(pane: AgentPane) -> PaneStatus:
    """Asks tmux and the terminal itself."""
    done = pane.host.run(argv("sh/pane", **pane_values(pane)))
    if done.code != 0:
        return PaneStatus(exists=False)
    first, _, stty = done.text.partition("\n")
    pid, dead, in_mode, tty, version, bracketed, title = (first + "       ").split(" ", 6)
    # `3.3a` is (3, 3), `next-3.7` is (3, 7).
    found = re.search(r"([0-9]{1,4})\.([0-9]{1,4})", version)
    return PaneStatus(
        exists=True,
        dead=dead != "0",
        in_copy_mode=in_mode != "0",
        pid=read_number(pid, LAST_PID) or 0,
        tty=tty,
        tmux=(int(found[1]), int(found[2])) if found else (0, 0),
        bracketed={"[1]": True, "[0]": False}.get(bracketed),
        title=title.strip(),
        stty=stty.rstrip("\n"),
    )


def paste(pane: AgentPane, data: bytes, *, enter: bool, around: AroundPaste | None = None) -> Pasted:
    """Types `data` into the pane so that its program reads exactly these bytes, once, then Enter.

    Raises RefusedError, before anything is typed, when the terminal would act on a byte. Senders take turns.
    Copy mode swallows nothing: a canonical program's pane stays in it, any other leaves it.
    """
    check_size(data)
    for _ in range(_LOOKS):
        seen = look(pane)
        if not seen.alive:
            return Pasted(taken=False, why=seen.why_not_alive)
        typed = encode_for_terminal(data, seen.mode, bracketed=seen.bracketed)
        if isinstance(typed, Refusal):
            raise RefusedError(
                f'"{pane.session}" cannot be sent this message: {typed}',
                hint="remove that byte, or put the text into a file and send its path",
            )
        pasted = _type(pane, seen, typed, enter_key(seen.mode) if enter else b"", around or AroundPaste())
        if pasted is not None:
            return pasted
    return Pasted(taken=False, alive=True, why="its terminal keeps changing its settings")


def check_size(message: bytes) -> None:
    if len(message) > MESSAGE_LIMIT:
        raise UsageError(
            f"the message has {len(message):,} bytes; at most {MESSAGE_LIMIT:,} can be typed",
            hint="put the text into a file in the work dir and send its path",
        )


def _type(
    pane: AgentPane, seen: PaneStatus, typed: bytes, enter: bytes, around: AroundPaste
) -> Pasted | None:
    """Pastes unless the terminal is no longer as it was seen: then None, and nothing was typed."""
    script = _paste_script(pane, seen, typed, enter, around)
    try:
        done = pane.host.run(
            ("sh", "-c", script, "mngr-paste"), stdin=typed, timeout_s=around.timeout_s + _BUSY_S
        )
    except (UnreachableError, TimedOutError) as error:
        return Pasted(taken=None, why=f"the host was lost while the message was typed: {error.message}")
    if done.code == Exit.CHANGED:
        return None
    if done.code == Exit.HELD:
        return Pasted(taken=False, alive=True, why="other senders hold its terminal")
    if done.code == Exit.DEAD:
        return Pasted(taken=False, why="its process has ended")
    if done.code != 0:
        return Pasted(taken=False, alive=True, why=f"tmux could not paste: {done.complaint}")
    first, _, output = done.stdout.partition(b"\n")
    return Pasted(taken=True, alive=first == b"0", output=output)


def _paste_script(pane: AgentPane, seen: PaneStatus, typed: bytes, enter: bytes, around: AroundPaste) -> str:
    target = quote(pane.target)
    buffer = f"mngr-{pane.agent_id[-8:]}-{os.urandom(6).hex()}"
    # A canonical program would read the markers of a bracketed paste as text.
    flags = ("" if seen.mode.canonical else "-p ") + ("-S " if seen.tmux >= (3, 7) else "")
    parts = [f"load-buffer -b {buffer} -"] if typed else []
    if not seen.mode.canonical:
        # In copy mode tmux looks for the wish for marks on the wrong screen, and pastes without them.
        parts.append(f"copy-mode -q -t {target}")
    if typed:
        into = f"paste-buffer -d -r {flags}-b {buffer} -t {target}"
        # There is no such buffer: the error is what tells that nothing was pasted.
        refused = f"delete-buffer -b {CHANGED}"
        parts.append(_guarded(into, pane, around.only_if, refused) if around.only_if else into)
    if enter:
        plain = flags.replace("-p ", "")
        parts += [f"set-buffer -b {buffer}-e {quote(enter.decode())}"]
        parts += [f"paste-buffer -d -r {plain}-b {buffer}-e -t {target}"]
    paste_all = " \\; ".join(parts)
    values = {**pane_values(pane), "buffer": buffer, "pid": str(seen.pid)}
    steps = (
        f"mngr_take_pane {_BUSY_S // 2}",
        f"mngr_check_terminal {words(seen.tty, seen.stty)}",
        around.before,
        f"mngr_paste {paste_all}",
        around.after,
        "mngr_drop; exit 0\n",
    )
    return program("sh/lib/paste", **values) + "\n".join(filter(None, steps))


def press(pane: AgentPane, key: str, *, only_if: str = "") -> str:
    """A shell command that hands over one key, a shell word, as if typed: with marks it would be text to a dialog."""
    command = f"paste-buffer -d -r -b mngr-key -t {quote(pane.target)}"
    if only_if:
        command = _guarded(command, pane, only_if, "delete-buffer -b mngr-key")
    return f"{tmux_sh(pane.paths)} set-buffer -b mngr-key {key} \\; {command} 9>&- </dev/null"


def _guarded(command: str, pane: AgentPane, only_if: str, otherwise: str) -> str:
    """A tmux command that runs if a format holds: tmux looks and acts at once, with nothing in between."""
    return f"if-shell -F -t {quote(pane.target)} {quote(only_if)} {quote(command)} {quote(otherwise)}"
