"""What would keep a run from working, found before anything is launched. Each problem is a line with its fix."""

from collections.abc import Callable, Iterable, Mapping

import mngr
from mngr_lib.safe_text import one_line
from mngr_tmr.copies.copy import Copy
from mngr_tmr.git import run_git
from mngr_tmr.model.run import RunOptions

Say = Callable[[str], None]
_LINE_END = "\n"
_MARKS = {"error": "missing", "warning": "warning"}


def check_agents(
    repo: str, options: RunOptions, env: Mapping[str, str], manager: mngr.Manager
) -> tuple[mngr.Finding, ...]:
    """Program, login and git identity, as far as the agents' type needs them. Makes no working copy."""
    found = mngr.preflight(
        options.type, args=options.args, env=env, provider=options.provider, manager=manager
    )
    if not found:
        return ()
    # Every working copy gets the identity of the repository: without one its agent cannot commit.
    values = [run_git(repo, "config", "--get", key).text.strip() for key in ("user.name", "user.email")]
    if all(values):
        return (*found, mngr.Finding("git identity", True, "error", f"{values[0]} <{values[1]}>"))
    fix = 'git config user.name "Your Name" && git config user.email you@example.com'
    return (*found, mngr.Finding("git identity", False, "error", "agents could not commit", fix))


def check_policy(options: RunOptions, manager: mngr.Manager) -> None:
    """Refuses a run whose agents the policy forbids, before anything is sent."""
    manager.check_launch(options.type, options.args, options.provider)
    if options.integrator != "mechanical" and options.integrator_type:
        manager.check_launch(options.integrator_type, options.integrator_args, options.provider)


def check_host(options: RunOptions, copy: Copy, manager: mngr.Manager) -> tuple[mngr.Finding, ...]:
    """The agents' program on a host of the run's kind; nothing to look at where that is this machine."""
    return () if is_here(options) else mngr.preflight(options.type, on=copy.agent, manager=manager)


def is_here(options: RunOptions) -> bool:
    return options.provider in ("", "local")


def stop_for_problems(findings: Iterable[mngr.Finding], say: Say) -> None:
    """Says what is not as it should be; an error of it refuses the run."""
    problems = [finding for finding in findings if not finding.ok]
    for problem in problems:
        say(finding_line(problem))
    errors = sum(problem.severity == "error" for problem in problems)
    if errors:
        raise mngr.RefusedError(
            f"nothing was launched: {errors} problem{'s' * (errors > 1)} would keep every agent from working",
            hint="mngr tmr doctor looks again; --no-preflight launches all the same",
        )


def finding_line(finding: mngr.Finding) -> str:
    """One line; of what pytest said about a collection the first."""
    mark = "ok" if finding.ok else _MARKS.get(finding.severity, "note")
    fix = f"; fix: {one_line(finding.fix)}" if finding.fix and not finding.ok else ""
    return f"{mark:<8} {one_line(finding.name)}: {one_line(finding.found.partition(_LINE_END)[0])}{fix}"
