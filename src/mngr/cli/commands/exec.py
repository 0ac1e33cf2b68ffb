"""`mngr exec`."""

import sys
from collections.abc import Iterator

import click
from msgspec import Struct

from mngr.actions.exec import RunningCommands, exec_row
from mngr.actions.filter import Filter
from mngr.actions.rows import Row
from mngr.cli.call import Call
from mngr.cli.options import Chosen, all_option, jobs_option, timeout_option, with_filters
from mngr.cli.outcome import TargetOutcome, report
from mngr.cli.reader import while_read
from mngr.cli.render import put, put_bytes
from mngr.cli.stdin import Item
from mngr.cli.targets import do_each, find
from mngr.cli.verb import verb
from mngr.errors import MngrError, UsageError
from mngr.model.agent import Agent
from mngr_lib.safe_text import one_line


class ExecResult(Struct, frozen=True):
    """How a command ended in one agent's place."""

    agent: Agent
    code: int
    stdout: str = ""
    stderr: str = ""


@verb(
    "exec",
    takes_command=True,
    options_anywhere=False,
    examples="""
        mngr exec foo -- git status
        mngr exec foo bar -- make test
        mngr exec --all --timeout 5m -- 'git log --oneline | head -3'
        tar c data | mngr exec foo -i -- tar x
    """,
)
@click.argument("names", nargs=-1, metavar="[AGENT|-]... -- COMMAND...")
@with_filters
@all_option
@click.option(
    "-i", "--stdin", "pass_stdin", is_flag=True, help="Hand our stdin to the command (one agent only)."
)
@timeout_option("End the command (124) after this long.")
@jobs_option
def command(
    call: Call,
    *,
    names: tuple[str, ...],
    args: tuple[str, ...],
    filter: Filter,
    all: bool,
    pass_stdin: bool,
    timeout_s: float | None,
    jobs: int,
) -> int:
    """Run a command on the agent's host, in its work dir and with its environment.

    A single word with blanks in it, such as 'ls -la | head', is a line for sh.

    With one agent its output comes as it is made, and its exit code is ours. With several, each one's output
    comes when it has ended, with a heading on stderr. Output is passed on byte for byte; when it is not read any
    more, the command is ended.
    """
    if not args and not all and len(names) > 1:
        names, args = names[:1], names[1:]
        if args[0].startswith("-"):
            raise UsageError(
                f'"{args[0]}" stands where the command begins',
                hint=f"options come before the agent: mngr exec {args[0]} … {names[0]} -- PROGRAM ARGS",
            )
    if len(args) == 1 and len(args[0].split()) > 1:
        args = ("sh", "-c", args[0])
    if not args:
        raise UsageError("what should be run?", hint="mngr exec NAME -- PROGRAM ARGS")
    call.output.check(ExecResult)
    chosen = Chosen(names, filter, all).check()
    if pass_stdin and not (chosen.is_one and call.output.is_human):
        raise UsageError("--stdin goes with one agent", hint="name one")
    if chosen.is_one and call.output.is_human:
        with while_read():
            return _run_one(call, chosen, args, timeout_s, pass_stdin)
    running = RunningCommands()
    with while_read(running.end):
        work = _run_all(call, chosen, args, timeout_s, running, jobs)
        return report(call, chosen, work, lambda _: "")


def _run_all(
    call: Call,
    chosen: Chosen,
    args: tuple[str, ...],
    timeout_s: float | None,
    running: RunningCommands,
    jobs: int,
) -> Iterator[TargetOutcome]:
    def work(item: Item, row: Row) -> TargetOutcome:
        heard: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
        code = exec_row(
            row,
            args,
            timeout_s=timeout_s,
            stdin=None,
            on_output=lambda name, data: heard[name].append(data),
            running=running,
        )
        out, err = (b"".join(heard[name]).decode(errors="replace") for name in ("stdout", "stderr"))
        message = f"{args[0]} in {row.agent.name} ended with exit code {code}"
        return TargetOutcome(
            item, ExecResult(row.agent, code, out, err), MngrError(message) if code else None
        )

    for outcome in do_each(call, chosen, work, jobs):
        if call.output.is_human and outcome.result is not None and not chosen.from_stdin:
            ran = outcome.result
            put(f"==> {one_line(ran.agent.name)} (exit code {ran.code}) <==", sys.stderr)
            put_bytes(ran.stderr.encode(), sys.stderr)
            put_bytes(ran.stdout.encode())
        yield outcome


def _run_one(
    call: Call, chosen: Chosen, args: tuple[str, ...], timeout_s: float | None, pass_stdin: bool
) -> int:
    for meant, missing in find(call, chosen):
        for outcome in missing:
            assert outcome.error
            raise outcome.error
        for _, row in meant:
            return exec_row(
                row,
                args,
                timeout_s=timeout_s,
                stdin=sys.stdin.buffer if pass_stdin else None,
                # Byte for byte: it is the command's output, as `ssh` and `docker exec` have it.
                on_output=lambda name, data: put_bytes(data, sys.stdout if name == "stdout" else sys.stderr),
            )
    raise UsageError("which agent?")
