"""A login that is copied from a file which a variable names: the same for every coding agent."""

import os

from mngr.model.finding import ERROR, Finding, LaunchPlan
from mngr_lib.safe_text import PROBLEM_LIMIT, one_line


def login_file(name: str, variable: str, plan: LaunchPlan) -> Finding | None:
    """Whether the file is there, as far as it can be seen from here; None when the variable is not given."""
    path = plan.env.get(variable, "")
    if not path:
        return None
    if plan.is_here and not os.path.isfile(path):
        fix = f"name the file of a login on this machine: --env {variable}=PATH"
        return Finding(name, False, ERROR, f"{variable} is no file: {one_line(path, PROBLEM_LIMIT)}", fix)
    return Finding(name, True, ERROR, f"{variable} is given")
