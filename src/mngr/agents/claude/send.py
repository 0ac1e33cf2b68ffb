"""How a message reaches Claude Code: pasted once, Enter until the prompt is empty, believed only by its own word."""

import time

from msgspec import Struct

from mngr.agents.claude.answer import answer
from mngr.agents.claude.observe import KINDS, ClaudeObservation, settled
from mngr.agents.claude.screen import PROMPT, ScreenKind
from mngr.agents.claude.text import check_text, readings, sum_of
from mngr.agents.command import receipt_of
from mngr.agents.shared.unknown_screen import tell_unknown
from mngr.model.message import Delivery, Receipt
from mngr.sh.program import assignments, load
from mngr.store.untrusted import decode
from mngr.tmux.pane import CHANGED, AgentPane, AroundPaste, check_size, paste, press

# A command of its own may leave no trace at all, so it is not worth a long wait once the prompt has taken it.
_EVIDENCE_S, _COMMAND_S = 8.0, 2.0
# A command may open a dialog, and an Enter that waits in the terminal while the program is slow would answer it.
_COMMAND_AGAIN_S = 5.0
_TICK_S = 0.05
_PRESSES = 4
_TRIES = 5
_KILL_TO_END, _KILL_TO_START = "\x0b", "\x15"
_CURSOR, _DIM = "\x01", "\x02"
# Asked by tmux itself at the moment of a key: what came over the prompt since the last look must not get it.
_PROMPT_SHOWS = f"#{{C:{PROMPT}}}"


class _Queued(Struct, frozen=True):
    """A line of the session file: what was typed while a turn went on."""

    operation: str = ""
    content: str = ""


def send(pane: AgentPane, message: bytes) -> Receipt:
    """Hands over one message, or the answer to what it asks. What is in the way is shown, never typed into."""
    check_size(message)
    text = check_text(message)
    for _ in range(_TRIES):
        receipt = _try(pane, text)
        if receipt is not None:
            return receipt
    return _blocked("its screen keeps changing")


def _try(pane: AgentPane, text: str) -> Receipt | None:
    """None when its screen changed before anything was typed."""
    seen = settled(pane)
    if not seen.alive:
        return _blocked("its process has ended, or its session is gone")
    if seen.asks:
        return answer(pane, seen, text)
    if seen.screen.kind is ScreenKind.PROMPT and seen.screen.draft:
        return (
            None
            if _clear(pane)
            else _blocked(f"its prompt holds a text that was typed and not sent: {seen.screen.draft[:200]}")
        )
    if not seen.screen.is_ready:
        tell_unknown(pane)
        return _blocked(f"its screen shows something unknown: {seen.screen.last_lines()}")
    pasted = paste(pane, text.encode(), enter=False, around=_around(pane, seen, text))
    if pasted.taken:
        printed = [line.partition(b" ")[::2] for line in pasted.output.split(b"\n")]
        tags = {tag for tag, _ in printed}
        now = time.time()
        if b"said" in tags:
            return Receipt(Delivery.DELIVERED, "its prompt hook named the message", now)
        queued = [decode(line, _Queued) for tag, line in printed if tag == b"queued"]
        if any(each and each.content in readings(text) for each in queued):
            return Receipt(Delivery.QUEUED, "it is busy and has it in its queue", now)
        if (b"dead", b"0") not in printed:
            return Receipt(Delivery.UNKNOWN, "its process ended as the message arrived", now)
        if b"typed" in tags:
            return Receipt(Delivery.UNKNOWN, "the message stands in its prompt; it does not take it", now)
        if text.startswith("/"):
            return Receipt(
                Delivery.DELIVERED, "its prompt took the command; commands leave no other trace", now
            )
        return Receipt(
            Delivery.UNKNOWN, f"it did not say within {_EVIDENCE_S:g} s that it took the message", now
        )
    return None if CHANGED in pasted.why else receipt_of(pasted)


def _around(pane: AgentPane, seen: ClaudeObservation, text: str) -> AroundPaste:
    """Looks for the prompt to show the text, presses Enter, and again while it still does, until the log names it."""
    sums = "|".join(f"""*'"cksum":"{sum_of(reading)}"'*""" for reading in readings(text))
    is_command, ticks = text.startswith("/"), int(_EVIDENCE_S / _TICK_S)
    values = assignments(
        events=pane.agent.events,
        session_file=seen.session_file or "/dev/null",
        kinds=KINDS,
        # A question that was asked long ago and is not on the screen any more is no reason to wait.
        says_it_asks="yes" if seen.says_it_asks else "",
        changed=CHANGED,
        show=int(2 / _TICK_S),
        most=ticks,
        enough=int(_COMMAND_S / _TICK_S) if is_command else ticks,
        again=int(_COMMAND_AGAIN_S / _TICK_S) if is_command else 0,
        presses=_PRESSES,
        enter="\r",
    )
    names_it = f"mngr_names_it() {{ case $1 in {sums}) ;; *) return 1 ;; esac; }}\n"
    before = f"{_functions(pane)}{values}{names_it}{load('agents/claude/before_paste')}"
    after = load("agents/claude/after_paste")
    return AroundPaste(before, after, only_if=_PROMPT_SHOWS, timeout_s=_EVIDENCE_S + 30)


def _functions(pane: AgentPane) -> str:
    """The shell functions of `prompt.sh`, which look at the prompt and press keys."""
    values = assignments(
        sign=PROMPT,
        escape="\x1b[",
        cursor=_CURSOR,
        dim=_DIM,
        kill=_KILL_TO_END + _KILL_TO_START,
        shown=f"{pane.agent.dir}/claude/shown",
        tick=str(_TICK_S),
    )
    pressed = press(pane, '"$1"', only_if=_PROMPT_SHOWS)
    return f"{values}mngr_press() {{ {pressed}; }}\n{load('agents/claude/prompt')}"


def _clear(pane: AgentPane) -> bool:
    """Whether what stood in the prompt was a message of ours that had been taken, and is gone now."""
    look = AroundPaste(before=_functions(pane), after='mngr_clear 0\n[ "$is" = empty ] && echo clear')
    return paste(pane, b"", enter=False, around=look).output.endswith(b"clear\n")


def _blocked(why: str) -> Receipt:
    return Receipt(Delivery.BLOCKED, f"nothing was sent: {why}", time.time())
