"""`preflight`: what agents of a type would lack, found before any is launched."""

import os
from collections.abc import Mapping, Sequence

from mngr.actions.doctor import TOOLS, which
from mngr.actions.environment import base_env
from mngr.actions.exec import exec_in
from mngr.actions.manager import Manager, default_manager
from mngr.agents.protocol import Preflighted
from mngr.model.agent import Agent
from mngr.model.finding import ERROR, Finding, LaunchPlan

_LOOK_S = 30.0


def preflight(
    type: str,
    *,
    args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    provider: str = "",
    on: Agent | None = None,
    manager: Manager | None = None,
) -> tuple[Finding, ...]:
    """Looks for the program of a type, its login and, where the type can ask, whether that is accepted.

    `env` is what agents would be given by name; their work would come from the manager's repository. On another
    provider the program is looked for with `on`, an agent on a host of that kind, and then nothing else is. A type
    that needs nothing has no findings.
    """
    manager = default_manager(manager)
    found = manager.agent_type(type)
    if not isinstance(found, Preflighted):
        return ()
    program = found.program()
    if on is not None:
        where = on.host.address
        argv = ("sh", "-c", 'command -v "$1" >/dev/null', "mngr-preflight", program)
        if exec_in(on, argv, timeout_s=_LOOK_S, on_output=lambda _stream, _data: None, manager=manager):
            fix = f"have it in the image or the snapshot, or in the setup: {_install(program)}"
            return (Finding(program, False, ERROR, f"not on the PATH of {where}", fix),)
        return (Finding(program, True, ERROR, f"on the PATH of {where}"),)
    is_here = provider in ("", "local")
    plan = LaunchPlan(
        tuple(args), dict(env or {}), manager.config.repo_root or "", is_here, tuple(manager.env)
    )
    if not is_here:
        return tuple(found.login_findings(plan))
    path = which(program, {"PATH": os.defpath, **base_env(manager.env), **plan.env})
    fix = "" if path else _install(program)
    here = Finding(program, bool(path), ERROR, path or "not on the PATH that agents get", fix)
    return (here, *found.login_findings(plan))


def _install(program: str) -> str:
    known = next((tool.install for tool in TOOLS if tool.name == program), "")
    return known or f"install {program}, or put its folder on the PATH"
