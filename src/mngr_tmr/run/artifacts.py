"""Fetches what an agent leaves besides its commits: the outbox, the conversation, the recording."""

import os
from contextlib import suppress

import mngr
from mngr_tmr.model.usage import make_usage
from mngr_tmr.run_folder.attempt import OUTBOX
from mngr_tmr.run_folder.writer import RunWriter

_CONVERSATION, _RECORDING, _USAGE = "conversation.jsonl", "recording.cast", "usage.json"
_SCREEN = "screen.txt"
_MOST = 256 << 20
_MOST_NOTES = 20
_EMPTY = "its outbox is empty"


def pull_artifacts(
    agent: mngr.Row | str, attempt: str, writer: RunWriter, manager: mngr.Manager, pulled: str = ""
) -> tuple[str, ...]:
    """Everything but commits, into the folder of an attempt; what a reader must know about it.

    `pulled` is an outbox that was pulled before.
    """
    outbox = os.path.join(attempt, OUTBOX)
    if os.path.isdir(pulled) and not os.path.islink(pulled):
        notes = _shortened(writer.copy_in(pulled, outbox, _MOST))
    else:
        # Under a name of ours whatever the host calls its agent; a pull that broke off is begun anew.
        with writer.staging() as folder:
            now = mngr.pull_outbox(agent, folder, max_bytes=_MOST, manager=manager)
            left_out = writer.take_in(only_folder(folder), outbox)
        notes = _shortened((*(note for note in now.notes if note != _EMPTY), *left_out))
    # Screen, conversation, recording and cost, where the agent has them: none is worth losing a result for.
    with suppress(mngr.MngrError):
        writer.write(os.path.join(attempt, _SCREEN), mngr.capture(agent, manager=manager).encode())
    with suppress(mngr.MngrError):
        writer.write_json(os.path.join(attempt, _USAGE), make_usage(mngr.usage(agent, manager=manager).total))
    with suppress(mngr.MngrError):
        turns = mngr.transcript(agent, manager=manager)
        writer.write_lines(os.path.join(attempt, _CONVERSATION), turns)
    with suppress(mngr.MngrError):
        writer.write_cast(os.path.join(attempt, _RECORDING), mngr.cast(agent, manager=manager))
    return notes


def only_folder(staging: str) -> str:
    """The folder in which something was pulled, whatever it is called; the empty staging folder where nothing was."""
    inner = sorted(entry.path for entry in os.scandir(staging) if entry.is_dir(follow_symlinks=False))
    return inner[0] if inner else staging


def _shortened(notes: tuple[str, ...]) -> tuple[str, ...]:
    more = f"{len(notes) - _MOST_NOTES} more files were left out of its outbox"
    return (*notes[:_MOST_NOTES], *((more,) if len(notes) > _MOST_NOTES else ()))
