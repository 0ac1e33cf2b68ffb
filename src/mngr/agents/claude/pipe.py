"""How a message reaches a headless Claude Code: one JSON line into its pipe, believed by its own word."""

import time

import msgspec

from mngr.agents.claude.text import decode_text, sum_of
from mngr.errors import TimedOutError, UnreachableError
from mngr.model.message import Delivery, Receipt
from mngr.sh.codes import Exit
from mngr.sh.program import argv
from mngr.tmux.pane import AgentPane, check_size, pane_values

_BUSY_S = 30
_EVIDENCE_S = 30.0
_TICK_S = 0.05


def send(pane: AgentPane, message: bytes) -> Receipt:
    """Hands over one message as it is, whatever characters it holds."""
    check_size(message)
    text = decode_text(message)
    line = msgspec.json.encode({"type": "user", "message": {"role": "user", "content": text}}) + b"\n"
    values = {**pane_values(pane), "log": pane.agent.events, "home_dir": f"{pane.agent.dir}/claude"}
    limits = {"patience": _BUSY_S, "tries": int(_EVIDENCE_S / _TICK_S)}
    command = argv("agents/claude/pipe", **values, **limits, sum=sum_of(text))
    try:
        done = pane.host.run(command, stdin=line, timeout_s=_EVIDENCE_S + _BUSY_S)
    except (UnreachableError, TimedOutError) as error:
        return Receipt(Delivery.UNKNOWN, f"no word from its host: {error.message}", time.time())
    now = time.time()
    if done.code == Exit.DEAD:
        return Receipt(
            Delivery.BLOCKED, "nothing was sent: its process has ended, or its session is gone", now
        )
    if done.code == Exit.HELD:
        return Receipt(Delivery.BLOCKED, "nothing was sent: other senders hold its pipe", now)
    submitted, taken, dead = (done.stdout.split() + [b"0", b"0", b"1"])[:3]
    if submitted != b"0":
        return Receipt(Delivery.DELIVERED, "its prompt hook named the message", now)
    if dead != b"0":
        return Receipt(Delivery.UNKNOWN, "its process ended as the message arrived", now)
    if taken != b"0":
        return Receipt(Delivery.QUEUED, "it is busy and has it in its queue", now)
    return Receipt(Delivery.UNKNOWN, f"it did not say within {_EVIDENCE_S:g} s that it took the message", now)
