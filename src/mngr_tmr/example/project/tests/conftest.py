import os
from pathlib import Path

import pytest


@pytest.fixture
def pantry(e2e):
    """A session in which `pantry` is the one of this checkout."""
    program = Path(__file__).parent.parent / "bin"
    e2e.env["PATH"] = f"{program}{os.pathsep}{e2e.env['PATH']}"
    return e2e
