"""Opens the live page in the user's browser.

The address holds the token, and every user of a machine can read the arguments of every program. So the browser is
given a file that only its user can read, which leads on to the address.
"""

import html
import os
import shutil
import stat
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>mngr</title>
<a href="{url}">The page</a>
"""


def has_browser() -> bool:
    """Whether there is a browser with a window; one that would take over this terminal is none."""
    if sys.platform == "darwin":
        return True
    has_window = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return has_window or bool(os.environ.get("BROWSER"))


def open_file(path: str) -> None:
    """Starts the browser and does not wait for it: some run until their window is closed."""
    threading.Thread(target=webbrowser.open, args=(Path(path).as_uri(),), daemon=True).start()


@contextmanager
def redirect_file(url: str) -> Iterator[str]:
    """The path of a file that leads a browser to the address; it is gone afterwards."""
    folder = tempfile.mkdtemp(prefix="mngr-page-", dir=_private_folder())
    try:
        path = os.path.join(folder, "page.html")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(_PAGE.format(url=html.escape(url)))
        yield path
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _private_folder() -> str | None:
    """The folder that the system made for what this user runs; None where there is none."""
    folder = os.environ.get("XDG_RUNTIME_DIR", "")
    try:
        found = os.lstat(folder)
    except OSError:
        return None
    is_private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return folder if is_private else None
