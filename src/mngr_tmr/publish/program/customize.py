"""`sitecustomize` of Python programs that tests start where the copy has no environment of its own.

It runs `child.py` beside its folder, takes itself off `sys.path` and out of what the program sees of its variables, and
lets the `sitecustomize` that it stands before do its work. The variable itself stays for the program's own children.
"""

import os
import sys


def begin():  # type: () -> None
    here = os.path.dirname(__file__)
    sys.path[:] = [path for path in sys.path if path != here]
    rest = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != here]
    seen = vars(os.environ)["_data"]  # os.environ itself would change the variable
    if rest:
        seen[b"PYTHONPATH"] = os.fsencode(os.pathsep.join(rest))
    else:
        seen.pop(b"PYTHONPATH", None)
    child = os.path.join(os.path.dirname(here), "child.py")
    if sys.version_info >= (3, 8) and os.path.isfile(child):
        with open(child, "rb") as file:
            exec(file.read(), {})


def go_on():  # type: () -> None
    own = sys.modules.pop(__name__)
    try:
        __import__(__name__)
    except ImportError:
        pass
    finally:
        # An import ends with taking its module from here.
        sys.modules.setdefault(__name__, own)


if __name__ == "sitecustomize":
    try:
        begin()
    except Exception:
        pass
    go_on()
