"""A run before its tests are known, from the settings of a command."""

import os
import secrets
import time
from typing import Any

from msgspec.structs import replace

import mngr
from mngr_tmr.cli.places import Place
from mngr_tmr.cli.pytest_command import PytestPlace, find_pytest_command
from mngr_tmr.cli.settings import environment, new_options
from mngr_tmr.git import run_git
from mngr_tmr.model.run import RunSpec, Secrets
from mngr_tmr.run_folder.redact import make_redactor
from mngr_tmr.stages import Pipeline, PipelineRequest, collect, walk


def draft_spec(place: Place, paths: tuple[str, ...], settings: dict[str, Any]) -> tuple[RunSpec, str]:
    """The run without its tests, and a text that says where its number of slots comes from."""
    options, why = new_options(settings, place.manager)
    ref = str(settings.get("base", "HEAD"))
    done = run_git(place.repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if done.code:
        hint = "commit something first" if ref == "HEAD" else "see: git log --oneline"
        raise mngr.UsageError(f'"{ref}" is no commit of {place.repo}', hint=hint)
    # pytest runs in every copy where we are in the repository, so that paths mean what they mean here.
    here = os.path.relpath(os.path.realpath(place.manager.cwd), os.path.realpath(place.repo))
    base, folder = done.text.strip(), "" if here == "." else here
    where = PytestPlace(place.repo, base, folder, is_local=options.provider in ("", "local"))
    pytest = find_pytest_command(where, settings, place.manager.env)
    # The tutorial whose blocks the tests cite, relative to the repository; empty when there is none.
    section = place.manager.config.section("tutorial")
    path = str(settings.get("tutorial") or section.get("tutorial") or "tutorial.sh")
    tutorial = path if os.path.isfile(os.path.join(place.repo, path)) else ""
    chosen = settings.get("paths", ())
    spec = RunSpec(
        id=_name(settings),
        repo=place.repo,
        base=base,
        created_at=time.time(),
        tasks=(),
        pytest=pytest.pytest,
        pytest_args=paths or ((chosen,) if isinstance(chosen, str) else tuple(chosen)),
        tutorial=tutorial,
        options=replace(options, own_venv=pytest.own_venv),
        folder=folder,
    )
    return spec, why


def collect_spec(place: Place, paths: tuple[str, ...], settings: dict[str, Any]) -> tuple[RunSpec, str]:
    """What a run would do, with the tests that pytest collects at its base commit; the first stage alone."""
    draft, why = draft_spec(place, paths, settings)
    env = environment(settings, "env", draft.options.env_names)
    request = PipelineRequest(
        manager=place.manager,
        runs=place.runs,
        secrets=Secrets(env),
        redactor=make_redactor(env, draft.repo, draft.base),
        runs_all=bool(settings.get("runs_all")),
    )
    return walk(Pipeline(request, draft), last=collect).spec, why


def _name(settings: dict[str, Any]) -> str:
    name = str(settings.get("name") or f"{time.strftime('%m%d-%H%M%S')}-{secrets.token_hex(1)}")
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii() or len(name) > 30:
        raise mngr.UsageError(
            f"a run cannot be called {name!r}",
            hint="letters, digits, - and _, at most 30: it is in branch names",
        )
    return name
