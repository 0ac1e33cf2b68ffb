"""What a Python program that the tests start says of itself: from where it took the project's code.

Run by a line in a .pth file, before the program, with FACTS, ROOTS and NAMES set in lines above. It imports nothing
that is not there already, changes nothing that a program looks at, and never fails.
"""

import os
import sys

FACTS = globals().get("FACTS", "")
ROOTS = globals().get("ROOTS", ())
NAMES = frozenset(globals().get("NAMES", ()))


class Witness:
    """A finder that finds nothing: it notes where the others find the project's modules."""

    @staticmethod
    def find_spec(name: str, path: "list[str] | None" = None, _: object = None) -> None:
        if name not in NAMES:
            return
        try:
            others = [finder for finder in vars(sys)["meta_path"] if finder is not Witness]
            specs = (finder.find_spec(name, path) for finder in others if hasattr(finder, "find_spec"))
            spec = next((spec for spec in specs if spec is not None), None)
            if spec is not None:
                folders = iter(spec.submodule_search_locations or ())
                tell(name, (spec.origin if spec.has_location else next(folders, "")) or "")
        except Exception:
            pass


def tell(name: str, path: str) -> None:
    words = [name, path, (getattr(sys, "argv", None) or [""])[0]]
    words = [word.replace("\\", "\\\\").replace('"', '\\"') for word in words]
    line = '{{"kind": "child", "name": "{}", "path": "{}", "program": "{}"}}\n'.format(*words)
    fd = os.open(FACTS, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)


def begin() -> None:
    vars(sys)["meta_path"].insert(0, Witness)
    script = (getattr(sys, "argv", None) or [""])[0]
    script = os.path.realpath(script) if script not in ("", "-c", "-m", "-") else ""
    if script.startswith(tuple(root + os.sep for root in ROOTS if root)):
        tell("", script)


if FACTS:
    try:
        begin()
    except Exception:
        pass
