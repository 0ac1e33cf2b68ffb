"""How a message reaches Claude Code: pasted once, Enter until the prompt is empty, believed only by its own word."""

import time

from msgspec import Struct

from mngr.agents.claude.answer import answer
from mngr.agents.claude.observe import KINDS, ClaudeObservation, settled
from mngr.agents.claude.screen import PROMPT, ScreenKind
from mngr.agents.claude.text import check_text, readings, sum_of
from mngr.agents.command import receipt_of
from mngr.model.event import NEEDS_INPUT, PROMPT_SUBMITTED, RESUMED, SCREEN_UNKNOWN, TURN_ENDED, Event
from mngr.model.message import Delivery, Receipt
from mngr.sh.lines import append, ring
from mngr.sh.program import READ_AND_RUN, encode, quote
from mngr.store.untrusted import decode
from mngr.tmux.pane import CHANGED, AgentPane, AroundPaste, check_size, paste, press
from mngr.tmux.server import tmux_sh

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
        event = append(pane.agent.events, Event(time.time(), SCREEN_UNKNOWN))
        pane.host.run(READ_AND_RUN, stdin=encode(f"{event}\n{ring(pane.paths.bell)}"))
        return _blocked(f"something is in the way on its screen: {seen.screen.last_lines()}")
    pasted = paste(pane, text.encode(), enter=False, around=_around(pane, seen, text))
    if pasted.taken:
        printed = [line.partition(b" ")[::2] for line in pasted.output.split(b"\n")]
        tags = {tag for tag, _ in printed}
        now = time.time()
        if b"said" in tags:
            return Receipt(Delivery.DELIVERED, "its prompt hook named the message", now)
        if any(_is_queued(line, text) for tag, line in printed if tag == b"queued"):
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
    """Looks for the prompt to show the text, presses Enter, and again while it still does, until it said so."""
    log, session = quote(pane.agent.events), quote(seen.session_file or "/dev/null")
    submitted = "|".join(f"""*'"cksum":"{sum_of(reading)}"'*""" for reading in readings(text))
    over = "|".join(f"""*'"kind":"{kind}"'*""" for kind in (RESUMED, PROMPT_SUBMITTED, TURN_ENDED))
    # A question that was asked long ago and is not on the screen any more is no reason to wait.
    asks = "true" if seen.says_it_asks else "! mngr_asks"
    is_command, ticks = text.startswith("/"), int(_EVIDENCE_S / _TICK_S)
    enough = int(_COMMAND_S / _TICK_S) if is_command else ticks
    again = int(_COMMAND_AGAIN_S / _TICK_S) if is_command else 0
    before = f"""\
{_functions(pane)}
mngr_asks() {{ tail -c 4096 {log} | grep -E '"kind":"({KINDS})"' | tail -n 1 | grep -q {NEEDS_INPUT}; }}
mngr_queued() {{ tail -c +$((read + 1)) {session} 2>/dev/null | grep '"operation":"enqueue"'; }}
mngr_hear() {{
  while IFS= read -r one <&7; do
    case $part$one in {submitted}) said=$part$one ;; esac
    case $part$one in *'"kind":"{NEEDS_INPUT}"'*) asked=yes ;; {over}) asked= ;; esac
    part=
  done
  part=$part$one
}}
mngr_taken() {{ mngr_hear; [ -n "$said" ] || {{ [ $((n % 4)) -eq 0 ] && mngr_queued >/dev/null; }}; }}
said= part= asked= read=$(wc -c 2>/dev/null <{session} || echo 0)
exec 7<{log}; cat <&7 >/dev/null
mngr_look; [ "$is" = empty ] && {asks} || {{ echo {CHANGED} >&2; mngr_drop; exit 1; }}
"""
    after = f"""\
n=0 pressed=0
until mngr_typed || [ "$n" -ge {int(2 / _TICK_S)} ]; do n=$((n + 1)); sleep {_TICK_S}; done
n=0
until mngr_taken; do
  if [ $((n % 10)) -eq 0 ]; then
    mngr_look
    [ "$n" -lt {enough} ] || {{ [ "$is" = typed ] && [ "$n" -lt {ticks} ]; }} || break
    [ "$(mngr_dead)" = 0 ] || break
    [ "$pressed" -eq 0 ] || [ "$n" -ge {again} ] || is=waits
    if [ "$pressed" -lt {_PRESSES} ] && [ -z "$asked" ] && [ "$is" = typed ]; then
      [ "$pressed" -gt 0 ] || printf '%s\\n' "$text" >{_shown(pane)}
      mngr_press '\r'; pressed=$((pressed + 1))
    fi
  fi
  n=$((n + 1)); sleep {_TICK_S}
done
n=0; mngr_taken && mngr_clear 6
echo "dead $(mngr_dead)"
mngr_typed && echo typed
[ -z "$said" ] || echo said
mngr_queued | sed 's/^/queued /'
"""
    return AroundPaste(before, after, only_if=_PROMPT_SHOWS, timeout_s=_EVIDENCE_S + 30)


def _functions(pane: AgentPane) -> str:
    """Shell functions that look at the prompt and press keys. A look starts one process: there are many.

    `mngr_look` says whether the prompt `is` there, and empty, typed into, or back with a text that was taken.
    Now and then a text that was taken comes back into the prompt, with the cursor before it: Enter would send it
    once more. `mngr_clear` removes it, and nothing that someone typed by hand.
    """
    tmux, target, sign = tmux_sh(pane.paths), quote(pane.target), quote(PROMPT)
    escape, cursor, dim = quote("\x1b["), quote(_CURSOR), quote(_DIM)
    return f"""\
LC_ALL=C; export LC_ALL
mngr_look() {{
  is=none last= line= text= IFS='
'; set -f
  for one in $({tmux} capture-pane -p -e -t {target} 2>/dev/null </dev/null); do
    case $one in *{sign}*) last=$one ;; esac
  done
  unset IFS; set +f
  [ -n "$last" ] || return 0
  rest=${{last##*{sign}}} text={sign}
  while :; do
    case $rest in *{escape}*) ;; *) line=$line$rest text=$text$rest; break ;; esac
    line=$line${{rest%%{escape}*}} text=$text${{rest%%{escape}*}} rest=${{rest#*{escape}}}
    case ${{rest%%m*}} in 7) line=$line{cursor} ;; 2|02|';2'|'0;2') line=$line{dim} ;; esac
    rest=${{rest#*m}}
  done
  while :; do case $text in *' ') text=${{text% }} ;; *) break ;; esac; done
  case $line in
    {cursor}|{cursor}' '*|{cursor}?{dim}*) is=empty ;;
    {cursor}*) is=back ;;
    *) is=typed ;;
  esac
}}
mngr_typed() {{ mngr_look; [ "$is" = typed ]; }}
mngr_press() {{ {press(pane, '"$1"', only_if=_PROMPT_SHOWS)}; }}
mngr_clear() {{
  shown= n=0
  {{ read -r shown <{_shown(pane)}; }} 2>/dev/null
  while mngr_look; [ "$is" != empty ] && [ "$text" = "${{shown:-none}}" ] && [ "$n" -lt 60 ]; do
    n=$((n + 1)); [ "$n" -lt "$1" ] || mngr_press '{_KILL_TO_END}{_KILL_TO_START}'
    sleep {_TICK_S}
  done
}}
"""


def _clear(pane: AgentPane) -> bool:
    """Whether what stood in the prompt was a message of ours that had been taken, and is gone now."""
    look = AroundPaste(before=_functions(pane), after='mngr_clear 0\n[ "$is" = empty ] && echo clear')
    return paste(pane, b"", enter=False, around=look).output.endswith(b"clear\n")


def _shown(pane: AgentPane) -> str:
    return quote(f"{pane.agent.dir}/claude/shown")


def _is_queued(line: bytes, text: str) -> bool:
    queued = decode(line, _Queued)
    return queued is not None and queued.content in readings(text)


def _blocked(why: str) -> Receipt:
    return Receipt(Delivery.BLOCKED, f"nothing was sent: {why}", time.time())
