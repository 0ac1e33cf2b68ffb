"""An agent's pane: look at it, capture it, paste into it. Each is one round trip to its host."""

import os
import re

from msgspec import Struct

from mngr.errors import RefusedError, TimedOutError, UnreachableError, UsageError
from mngr.hosts.protocol import Host
from mngr.model.message import MESSAGE_LIMIT
from mngr.sh.quote import quote
from mngr.store.paths import AgentPaths, HostPaths
from mngr.store.untrusted import LAST_PID, read_number
from mngr.tmux.lock import lock_shell
from mngr.tmux.server import tmux_sh
from mngr.tmux.terminal import Refusal, TtyMode, encode_for_terminal, enter_key, parse_stty

COLUMNS, ROWS = 200, 50

# Compiled at the first use: most commands need none of it.
_STYLE = r"\x1b\[[0-9;:]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)|[\x0e\x0f]"
_FORMAT = (
    "#{pane_pid} #{pane_dead} #{pane_in_mode} #{pane_tty} #{version} [#{bracket_paste_flag}] #{pane_title}"
)
_LOOKS = 5
_SCREEN_LIMIT = 64 << 20
_BUSY_S = 60

_SAVED, _GONE = 80, 81
_DEAD, _CHANGED, _HELD = 82, 83, 84
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


class Pasted(Struct, frozen=True):
    """What became of a paste: has the terminal every byte (None: nobody knows), did the process live on."""

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


def capture(pane: AgentPane, *, full: bool = False, ansi: bool = False) -> str:
    """What the pane shows, `full` with its history; the saved screen once its session is gone, if any."""
    flags = ("-e " if ansi else "") + ("-S - " if full else "")
    script = (
        f"{tmux_sh(pane.paths)} capture-pane -p {flags}-t {quote(pane.target)} 2>/dev/null && exit 0\n"
        f"[ -f {quote(pane.agent.screen)} ] && tail -c {_SCREEN_LIMIT} {quote(pane.agent.screen)} && exit {_SAVED}\n"
        f"exit {_GONE}"
    )
    done = pane.host.run(("sh", "-c", script, "mngr-capture"))
    lines = done.text.rstrip("\n").split("\n")
    if done.code == _SAVED:
        lines = [line if ansi else re.sub(_STYLE, "", line) for line in (lines if full else lines[-ROWS:])]
    text = "\n".join(lines).rstrip()
    return text + "\n" if text and done.code in (0, _SAVED) else ""


def look(pane: AgentPane) -> PaneStatus:
    """Asks tmux and the terminal itself."""
    script = f"""\
out=$({tmux_sh(pane.paths)} display-message -p -t {quote(pane.target)} {quote(_FORMAT)} 2>/dev/null)
case $out in [1-9]*) ;; *) exit {_GONE} ;; esac
printf '%s\\n' "$out"
set -- $out
[ "$2" = 0 ] && stty -a <"$4" 2>/dev/null
exit 0
"""
    done = pane.host.run(("sh", "-c", script, "mngr-look"))
    if done.code != 0:
        return PaneStatus(exists=False)
    first, _, stty = done.text.partition("\n")
    return _read_look(first, stty)


def paste(pane: AgentPane, data: bytes, *, enter: bool, around: AroundPaste | None = None) -> Pasted:
    """Types `data` into the pane so that its program reads exactly these bytes, once, then Enter.

    Raises RefusedError, before anything is typed, when the terminal would act on a byte. Senders take turns.
    Copy mode swallows nothing: a canonical program's pane stays in it, any other leaves it.
    """
    check_size(data)
    for _ in range(_LOOKS):
        seen = look(pane)
        if not seen.alive:
            return Pasted(taken=False, why=_not_alive(seen))
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
    if done.code == _CHANGED:
        return None
    if done.code == _HELD:
        return Pasted(taken=False, alive=True, why="other senders hold its terminal")
    if done.code == _DEAD:
        return Pasted(taken=False, why="its process has ended")
    if done.code != 0:
        return Pasted(taken=False, alive=True, why=f"tmux could not paste: {done.complaint}")
    first, _, output = done.stdout.partition(b"\n")
    return Pasted(taken=True, alive=first == b"0", output=output)


def _paste_script(pane: AgentPane, seen: PaneStatus, typed: bytes, enter: bytes, around: AroundPaste) -> str:
    tmux, target = tmux_sh(pane.paths), quote(pane.target)
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
    paste_all = f"{tmux} " + " \\; ".join(parts) if parts else ":"
    return f"""\
{lock_shell(pane.agent.dir + "/send.lock")}
mngr_dead() {{ {tmux} display-message -p -t {target} '#{{pane_dead}}' 2>/dev/null </dev/null || echo 1; }}
mngr_take {_BUSY_S // 2} || exit {_HELD}
[ "$(mngr_dead)" = 0 ] || {{ mngr_drop; exit {_DEAD}; }}
[ "$(stty -a <{quote(seen.tty)} 2>/dev/null)" = {quote(seen.stty)} ] || {{ mngr_drop; exit {_CHANGED}; }}
{around.before}
{paste_all} 9>&-
rc=$?
if [ "$rc" -ne 0 ]; then {tmux} delete-buffer -b {buffer} 2>/dev/null; mngr_drop; exit 1; fi
kill -0 {seen.pid} 2>/dev/null && mngr_dead || echo 1
{around.after}
mngr_drop
exit 0
"""


def press(pane: AgentPane, key: str, *, only_if: str = "") -> str:
    """A shell command that hands over one key, a shell word, as if typed: with marks it would be text to a dialog."""
    command = f"paste-buffer -d -r -b mngr-key -t {quote(pane.target)}"
    if only_if:
        command = _guarded(command, pane, only_if, "delete-buffer -b mngr-key")
    return f"{tmux_sh(pane.paths)} set-buffer -b mngr-key {key} \\; {command} 9>&- </dev/null"


def _guarded(command: str, pane: AgentPane, only_if: str, otherwise: str) -> str:
    """A tmux command that runs if a format holds: tmux looks and acts at once, with nothing in between."""
    return f"if-shell -F -t {quote(pane.target)} {quote(only_if)} {quote(command)} {quote(otherwise)}"


def _read_look(line: str, stty: str) -> PaneStatus:
    pid, dead, in_mode, tty, version, bracketed, title = (line + "       ").split(" ", 6)
    return PaneStatus(
        exists=True,
        dead=dead != "0",
        in_copy_mode=in_mode != "0",
        pid=read_number(pid, LAST_PID) or 0,
        tty=tty,
        tmux=_version(version),
        bracketed={"[1]": True, "[0]": False}.get(bracketed),
        title=title.strip(),
        stty=stty.rstrip("\n"),
    )


def _version(text: str) -> tuple[int, int]:
    """`3.3a` → (3, 3), `next-3.7` → (3, 7)."""
    found = re.search(r"([0-9]{1,4})\.([0-9]{1,4})", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _not_alive(seen: PaneStatus) -> str:
    if not seen.exists:
        return "its tmux session is gone"
    return "its process has ended" if seen.dead else "its terminal cannot be read"
