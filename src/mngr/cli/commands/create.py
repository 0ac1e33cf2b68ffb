"""`mngr create`."""

import os
import sys
from typing import Any

import click
from click.core import ParameterSource

from mngr.actions.create.create import create
from mngr.actions.create.plan import make_plan
from mngr.actions.create.request import CreateSpec
from mngr.actions.create.steps import AgentDiedError
from mngr.actions.environment import RECURSION_GUARD
from mngr.cli.call import Call
from mngr.cli.create_options import request_from_words, with_create_options
from mngr.cli.editor import message_text
from mngr.cli.option_groups import RequestOption
from mngr.cli.options import connect_command_option, dry_run_option, jobs_option
from mngr.cli.render import JSON, state_text, with_notes
from mngr.cli.verb import verb
from mngr.errors import ExitCode, UsageError
from mngr.model.agent import Change
from mngr_lib.safe_text import one_line

_HOW = ("connect", "foreground", "connect_command", "jobs", "max_running", "dry_run")


@verb(
    "create",
    takes_command=True,
    has_templates=True,
    examples="""
        mngr create foo -- bash
        mngr create docs scripted -m "write the docs" --label task=docs
        mngr create -- make test
        mngr create fix --branch main:fix/login --env CI=1 -- ./agent.sh
        mngr create - -j 8 --max-running 20 <tasks.jsonl
    """,
)
@click.argument("address", required=False, default="")
@click.argument("agent_type", required=False, default="", metavar="[TYPE] [-- ARGS...]")
@click.option("-m", "--message", cls=RequestOption, default=None, metavar="TEXT", help="Its first message.")
@click.option("--message-file", default=None, metavar="FILE", help="Its first message; - is stdin.")
@click.option("--edit-message", is_flag=True, help="Write the first message in $EDITOR.")
@click.option(
    "--connect/--no-connect",
    default=None,
    help="Attach afterwards. Default: only on a terminal, or with a connect command.",
)
@click.option(
    "--foreground",
    is_flag=True,
    help="Show its terminal's lines until it ends, and record it; its exit code is ours.",
)
@connect_command_option
@with_create_options
@jobs_option
@click.option(
    "--max-running",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="With -: make no more while N agents run; 0 is no limit.",
)
@dry_run_option
def command(call: Call, **options: Any) -> int:
    """Make a working copy, and a host if asked for, and start an agent in it.

    ADDRESS is [NAME][@[HOST][.PROVIDER]][:PATH] (mngr help address); without one a name is made up. TYPE is an agent
    type and ARGS are its arguments; without TYPE, ARGS are the program to run. When a step fails, all before it is
    undone.

    With - as ADDRESS every line on stdin makes an agent: an object with the long options as keys; other keys are
    carried along (mngr help pipes).
    """
    call.output.check(Change)
    how = {key: options.pop(key) for key in _HOW}
    is_many = options["address"] == "-"
    spec = _read_words(call, options)
    if is_many:
        from mngr.cli.create_lines import create_lines

        return create_lines(
            call, spec, jobs=how["jobs"], max_running=how["max_running"], dry_run=how["dry_run"]
        )
    if how["dry_run"]:
        return _show_plan(call, spec)
    if how["foreground"]:
        from mngr.cli.foreground import in_foreground

        return in_foreground(call, spec)
    has_command = bool(how["connect_command"]) and not os.environ.get(RECURSION_GUARD)
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty() and call.output.is_human
    connects = has_command or (on_terminal and not os.environ.get("TMUX"))
    if not (connects if how["connect"] is None else how["connect"]):
        change = _make(call, spec)
        if call.output.is_human:
            call.output.note(f"attach: mngr connect {change.agent.name}")
        return ExitCode.DONE
    from mngr.cli.commands import connect

    if not has_command:
        connect.check_terminal()
    return connect.attach(_make(call, spec).agent, how["connect_command"], call.manager)


def _read_words(call: Call, options: dict[str, Any]) -> CreateSpec:
    """Everything but how to go about it, as the action wants it."""
    context = click.get_current_context()
    is_many = options["address"] == "-"
    message, file, edit = (options.pop(key) for key in ("message", "message_file", "edit_message"))
    if is_many and file == "-":
        raise UsageError("stdin holds the lines already", hint='give each line its own "message"')
    text = (message_text(message, file, edit=edit, stdin_is_free=False) or b"").decode(
        "utf-8", "surrogateescape"
    )
    is_configured = context.get_parameter_source("message") == ParameterSource.DEFAULT_MAP
    agent_type, address = options.pop("agent_type"), options.pop("address")
    is_named_twice = context.get_parameter_source("type") == ParameterSource.COMMANDLINE
    if agent_type and is_named_twice and agent_type != options["type"]:
        raise UsageError(f'two types: "{agent_type}" and --type {options["type"]}', hint="give one")
    words = {
        "name": "" if is_many else address,
        "type": agent_type,
        "args": options.pop("args"),
        "message": "" if is_configured else text,
    }
    options["message"] = text if is_configured else ""
    return request_from_words(context, options, words, call.manager.config)


def _make(call: Call, spec: CreateSpec) -> Change:
    try:
        change = create(spec, manager=call.manager)
    except AgentDiedError as error:
        from mngr.cli import outcome, stdin  # most creations need none

        record = outcome.TargetOutcome(stdin.Item(), error.change, error).record()
        if call.output.format == JSON:
            call.output.document(record)
        elif not call.output.is_human:
            call.output.line(record)
        raise
    call.output.one(change, lambda: created_text(change))
    return change


def created_text(change: Change) -> str:
    agent = change.agent
    branch = f" on branch {one_line(agent.branch)}" if agent.branch else ""
    done = "Created" if change.changed else "Reused"
    return with_notes(
        f"{done} {one_line(agent.address)} ({one_line(state_text(agent))}){branch}", change.notes
    )


def _show_plan(call: Call, spec: CreateSpec) -> int:
    plan = make_plan(spec, call.manager)
    source, notes = plan.seed.source, plan.seed.notes()
    host = plan.address.host or ("local" if plan.address.provider == "local" else "(a new one)")
    record = {
        "name": plan.address.name or "(a name of its own)",
        "host": host,
        "provider": plan.address.provider,
        "type": plan.agent_type.name,
        "args": list(plan.spec.args),
        "transfer": plan.seed.transfer,
        "source": source.path,
        "branch": plan.branch if source.common_dir else "",
        "labels": plan.spec.labels,
        "changed": False,
        "notes": list(notes),
    }
    program = " ".join(plan.spec.args) or plan.agent_type.name
    line = f"Would create {record['name']} on {host}: {program} ({record['transfer']} of {record['source']})"
    call.output.one(record, lambda: with_notes(one_line(line), notes))
    return ExitCode.DONE
