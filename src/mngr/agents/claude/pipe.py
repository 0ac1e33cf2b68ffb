"""How a message reaches a headless Claude Code: one JSON line into its pipe, believed by its own word."""

import time

import msgspec

from mngr.agents.claude.text import decode_text, sum_of
from mngr.errors import TimedOutError, UnreachableError
from mngr.model.message import Delivery, Receipt
from mngr.sh.quote import quote
from mngr.tmux.lock import lock_shell
from mngr.tmux.pane import AgentPane, check_size
from mngr.tmux.server import tmux_sh

_GONE, _HELD = 81, 84
_BUSY_S = 30
_EVIDENCE_S = 30.0
_TICK_S = 0.05


def send(pane: AgentPane, message: bytes) -> Receipt:
    """Hands over one message as it is, whatever characters it holds."""
    check_size(message)
    text = decode_text(message)
    line = msgspec.json.encode({"type": "user", "message": {"role": "user", "content": text}}) + b"\n"
    try:
        done = pane.host.run(
            ("sh", "-c", _script(pane, text), "mngr-say"), stdin=line, timeout_s=_EVIDENCE_S + _BUSY_S
        )
    except (UnreachableError, TimedOutError) as error:
        return Receipt(Delivery.UNKNOWN, f"no word from its host: {error.message}", time.time())
    return _judge(done.code, done.stdout)


def _script(pane: AgentPane, text: str) -> str:
    home, log = f"{pane.agent.dir}/claude", quote(pane.agent.events)
    dead = f"{tmux_sh(pane.paths)} display-message -p -t {quote(pane.target)} '#{{pane_dead}}'"
    return f"""\
{lock_shell(pane.agent.dir + "/send.lock")}
mngr_dead() {{ {dead} 2>/dev/null </dev/null || echo 1; }}
mngr_said() {{ tail -c +$((from + 1)) {log} | grep -c '"cksum":"{sum_of(text)}"'; }}
mngr_taken() {{ tail -c +$((read + 1)) "$file" 2>/dev/null | grep -c '"operation":"enqueue"'; }}
mngr_take {_BUSY_S} || exit {_HELD}
[ "$(mngr_dead)" = 0 ] || {{ mngr_drop; exit {_GONE}; }}
file=; {{ read -r file <{quote(f"{home}/session")}; }} 2>/dev/null
turn=idle; {{ read -r turn rest <{quote(f"{home}/turn")}; }} 2>/dev/null
from=$(wc -c <{log}) read=$(wc -c 2>/dev/null <"$file" || echo 0)
cat >{quote(f"{home}/in")} 9>&-
n=0
until [ "$(mngr_said)" -gt 0 ] || [ "$(mngr_dead)" != 0 ] || [ "$n" -ge {int(_EVIDENCE_S / _TICK_S)} ]; do
  [ "$turn" = idle ] || [ "$(mngr_taken)" -eq 0 ] || break
  n=$((n + 1)); sleep {_TICK_S}
done
echo "$(mngr_said) $(mngr_taken) $(mngr_dead)"
mngr_drop
"""


def _judge(code: int, output: bytes) -> Receipt:
    now = time.time()
    if code == _GONE:
        return Receipt(
            Delivery.BLOCKED, "nothing was sent: its process has ended, or its session is gone", now
        )
    if code == _HELD:
        return Receipt(Delivery.BLOCKED, "nothing was sent: other senders hold its pipe", now)
    said, taken, dead = (output.split() + [b"0", b"0", b"1"])[:3]
    if said != b"0":
        return Receipt(Delivery.DELIVERED, "its prompt hook named the message", now)
    if dead != b"0":
        return Receipt(Delivery.UNKNOWN, "its process ended as the message arrived", now)
    if taken != b"0":
        return Receipt(Delivery.QUEUED, "it is busy and has it in its queue", now)
    return Receipt(Delivery.UNKNOWN, f"it did not say within {_EVIDENCE_S:g} s that it took the message", now)
