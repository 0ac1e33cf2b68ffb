"""Brings home what an agent leaves besides its commits: the outbox, the conversation, the recording."""

import os
import shutil

import msgspec

import mngr
from mngr_tmr.run.folder import write_file, write_json
from mngr_tmr.run.redact import Redactor

OUTBOX = "outbox"
_CONVERSATION, _RECORDING, _USAGE = "conversation.jsonl", "recording.cast", "usage.json"
_MOST = 256 << 20
_TOLD = 20
_EMPTY = "its outbox is empty"


def bring_files(
    agent: mngr.Row | str, attempt: str, redactor: Redactor, manager: mngr.Manager, pulled: str = ""
) -> tuple[str, ...]:
    """Everything but commits, into the folder of an attempt; what a reader must know about it.

    `pulled` is an outbox that someone brought already.
    """
    if os.path.isdir(pulled):
        shutil.copytree(pulled, os.path.join(attempt, OUTBOX), symlinks=True)
        notes: tuple[str, ...] = ()
    else:
        notes = _outbox(agent, attempt, manager)
    _records(agent, attempt, manager)
    for name in (OUTBOX, _CONVERSATION, _RECORDING):
        redactor.files(os.path.join(attempt, name))
    return notes


def _outbox(agent: mngr.Row | str, attempt: str, manager: mngr.Manager) -> tuple[str, ...]:
    """Takes the outbox into a folder beside, then moves it in: a pull that broke off is begun anew."""
    fresh = os.path.join(attempt, "outbox.new")
    shutil.rmtree(fresh, ignore_errors=True)
    os.makedirs(fresh)
    brought = mngr.pull_outbox(agent, fresh, max_bytes=_MOST, manager=manager)
    inner, outbox = os.path.join(fresh, brought.agent.name), os.path.join(attempt, OUTBOX)
    shutil.rmtree(outbox, ignore_errors=True)
    os.replace(inner if os.path.isdir(inner) else fresh, outbox)
    shutil.rmtree(fresh, ignore_errors=True)
    left_out = [note for note in brought.notes if note != _EMPTY]
    more = f"{len(left_out) - _TOLD} more files were left out of its outbox"
    return (*left_out[:_TOLD], *((more,) if len(left_out) > _TOLD else ()))


def _records(agent: mngr.Row | str, attempt: str, manager: mngr.Manager) -> None:
    """Conversation, recording and cost, where the agent has them: none is worth losing a result for."""
    try:
        spent = mngr.usage(agent, manager=manager).total
        write_json(os.path.join(attempt, _USAGE), spent)
    except mngr.MngrError:
        pass
    try:
        turns = mngr.transcript(agent, manager=manager)
        lines = b"".join(msgspec.json.encode(turn) + b"\n" for turn in turns)
        write_file(os.path.join(attempt, _CONVERSATION), lines)
    except mngr.MngrError:
        pass
    try:
        write_file(os.path.join(attempt, _RECORDING), mngr.cast(agent, manager=manager))
    except mngr.MngrError:
        pass
