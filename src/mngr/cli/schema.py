"""`mngr list --schema`: every field of an agent's record and what it holds."""

from mngr.actions.list import Listing
from mngr.cli.call import Call
from mngr.cli.render import say
from mngr.cli.table import align
from mngr.cli.terminal_text import columns
from mngr.errors import ExitCode

FIELDS = {
    "schema": "version of this record; readers ignore fields they do not know",
    "id": "never changes: agent-<32 hex digits>",
    "name": "unique on its host; mngr rename changes it",
    "address": "NAME, or NAME@HOST.PROVIDER: names the agent from anywhere",
    "type": "command, scripted, or a type of a plugin or the config",
    "state": "CREATING, RUNNING, WAITING, DONE, STOPPED or UNKNOWN (mngr help states)",
    "waiting_reason": "end_of_turn, permission or input, while WAITING",
    "why": "the evidence for the state, in a few words",
    "exit_code": "of a program that ended by itself",
    "signal": "that ended the program: SIGKILL …",
    "labels": "KEY: VALUE; in conditions and templates labels.KEY",
    "project": "the name of the source, or --project",
    "branch": "the branch it works on",
    "base_commit": "the commit it started from",
    "work_dir": "its directory, on its host",
    "source": "where its work came from",
    "transfer": "worktree, mirror, copy or none",
    "host": "an object",
    "host.name": "local, or the host's name",
    "host.provider": "local, or who provides the host",
    "host.state": "RUNNING, STOPPED, UNREACHABLE or DESTROYED",
    "host.why": "why it stopped, where it did so by itself",
    "session": "its tmux session, on mngr's own server",
    "attach": "argv that attaches a terminal from here",
    "result": "whether it has written outbox/result.json",
    "model_error": "kind and message of the model's error that its last turn ended with, or null",
    "created_at": "UTC, ISO 8601",
    "started_at": "UTC, ISO 8601; the last start",
    "ended_at": "UTC, ISO 8601, or null",
}


def print_schema(call: Call) -> int:
    """The catalogue for people; for machines the JSON schema of `list --json`."""
    if call.output.is_human:
        say(align([["FIELD", "HOLDS"], *([name, text] for name, text in FIELDS.items())], columns()))
    else:
        from msgspec.json import schema

        call.output.document(schema(Listing))
    return ExitCode.DONE
