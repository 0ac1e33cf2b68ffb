"""Prompts from templates; what comes from the repository under test is put in as data, fenced and quoted."""

import os
import re
import shlex
from importlib.resources import files
from typing import Any

import mngr
from mngr_lib.safe_text import one_line, safe_lines
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import Task
from mngr_tmr.publish.schema import schema_text

TEMPLATES = str(files("mngr_tmr.prompts").joinpath("templates"))
OWN_FOLDER = os.path.join(".mngr", "prompts")
_TESTING, _NUDGE, _FINISH, _GO_ON = "testing.md.j2", "nudge.md.j2", "finish.md.j2", "go_on.md.j2"


def render_prompt(run: RunSpec, task: Task) -> str:
    """The first prompt of the agent of this task.

    The run's `prompt` file, else the repository's `.mngr/prompts/testing.md.j2`, may say it otherwise: it extends
    "mngr/testing.md.j2" and replaces blocks, or stands alone.
    """
    place = os.path.relpath(task.file, run.folder) if run.folder else task.file
    selector = place + "".join(task.node_id.partition("::")[1:])
    own = os.path.join(run.repo, run.options.prompt or os.path.join(OWN_FOLDER, _TESTING))
    return render(
        _TESTING,
        own if run.options.prompt or os.path.isfile(own) else "",
        test=task.node_id,
        selector=selector,
        file=task.file,
        line=task.line,
        blocks=task.blocks,
        tutorial=run.tutorial,
        base=run.base,
        folder=run.folder,
        command=one_line(shlex.join((*run.pytest_in_copy, selector))),
        setup=run.options.setup,
        schema=schema_text(),
    )


def nudge_text() -> str:
    """The one message to an agent that stopped without a result."""
    return render(_NUDGE).strip()


def finish_text(reason: str, seconds: float) -> str:
    """The one message to an agent whose budget is used up."""
    return render(_FINISH, reason=reason[:1].upper() + reason[1:], seconds=f"{seconds:g}").strip()


def go_on_text() -> str:
    """The message to an agent whose turn a limit of the model's provider has ended."""
    return render(_GO_ON).strip()


def render(name: str, own: str = "", **values: Any) -> str:
    """A template of ours, or the project's file `own` in its place. Jinja is loaded here and nowhere else."""
    from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader, StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    ours = FileSystemLoader(TEMPLATES)
    folder, file = os.path.split(own)
    theirs = [FileSystemLoader(folder or ".")] if own else []
    environment = SandboxedEnvironment(
        loader=ChoiceLoader([PrefixLoader({"mngr": ours}), *theirs, ours]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(code=code, fenced=fenced, sh=shlex.quote)
    try:
        return environment.get_template(file or name).render(**values)
    except (TemplateError, OSError, UnicodeDecodeError) as error:
        raise mngr.UsageError(
            f"the prompt {own or name} cannot be made: {error}",
            hint='a template of your own begins with {% extends "mngr/'
            + name
            + '" %} and replaces its blocks',
        ) from error


def code(text: str) -> str:
    """Any text as code within a line of markdown: one line, and no end before its end."""
    text = one_line(text)
    ticks = "`" * (_longest_ticks(text) + 1)
    space = " " if "`" in text else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def fenced(text: str) -> str:
    """Any text as a block of code, with a fence that the text cannot close."""
    fence = "`" * max(3, _longest_ticks(text) + 1)
    return f"{fence}text\n{safe_lines(text)}\n{fence}"


def _longest_ticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
