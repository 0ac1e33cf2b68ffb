"""How asciinema is called: found by its version, told what to record, kept out of the user's home."""

import os
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence

# Before 2.2 the size of the terminal could not be given.
OLDEST = (2, 2)
_VERSION_S = 10.0


def version_in(text: str) -> tuple[int, int] | None:
    """The version that `asciinema --version` printed; None for one that cannot record without a terminal."""
    found = re.search(r"asciinema v?(\d+)\.(\d+)", text)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    return version if version >= OLDEST else None


def find_version(env: Mapping[str, str]) -> tuple[int, int] | None:
    """Asks the asciinema on the PATH; None where there is none that works."""
    try:
        done = subprocess.run(
            ["asciinema", "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_S,
            env=dict(env),
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return version_in(done.stdout.decode(errors="replace"))


def record_argv(version: tuple[int, int], size: tuple[int, int], line: str, path: str) -> tuple[str, ...]:
    """What records the shell line into the file, without a terminal, for asciinema 2.2 and later or 3."""
    cols, rows = size
    if version >= (3, 0):
        flags: tuple[str, ...] = ("--quiet", "--headless", "--window-size", f"{cols}x{rows}")
    else:
        flags = ("-q", "--cols", str(cols), "--rows", str(rows))
    return ("asciinema", "rec", *flags, "-c", line, path)


def attach_line(attach: Sequence[str], home: str | None) -> str:
    """The attach command as one shell line, with the user's home back: ssh and docker look there."""
    back = ("-u", "HOME") if home is None else (f"HOME={home}",)
    return "exec " + shlex.join(("env", *back, *attach))


def own_env(env: Mapping[str, str], folder: str) -> dict[str, str]:
    """The environment of a recorder: asciinema's config, state and install id stay below `folder`."""
    home = os.path.join(folder, "home")
    kept = {name: value for name, value in env.items() if not name.startswith("ASCIINEMA_")}
    kept |= {
        f"ASCIINEMA_{kind}_HOME": os.path.join(home, kind.lower()) for kind in ("CONFIG", "STATE", "DATA")
    }
    return kept | {"HOME": home}
