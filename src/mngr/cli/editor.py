"""The user's own editor, and where the text of a message comes from."""

import os
import sys

from mngr.cli.terminal_text import is_interactive
from mngr.errors import MngrError, UsageError
from mngr.process import run_in_terminal


def edit_file(path: str) -> None:
    """Opens `$VISUAL`, `$EDITOR` or vi on a file and waits for its end."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    # The variable may hold arguments ("code --wait"), so a shell splits it; the path stays one word.
    code = run_in_terminal(["sh", "-c", f'{editor} "$1"', "mngr", path])
    if code != 0:
        raise MngrError(
            f"the editor ({editor}) ended with exit code {code}", hint="set EDITOR to one that works here"
        )


def edit_text(start: str = "") -> str:
    """What the user leaves in the editor, without the newlines at its end; empty text is refused."""
    from tempfile import TemporaryDirectory  # 5 ms, and few messages are written in an editor

    with TemporaryDirectory(prefix="mngr-edit-") as folder:
        path = os.path.join(folder, "message.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(start)
        edit_file(path)
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read().rstrip("\n")
    if not text.strip():
        raise UsageError("the message is empty: nothing was sent")
    return text


def message_text(message: str | None, file: str | None, *, edit: bool, stdin_is_free: bool) -> bytes | None:
    """The bytes of a message from wherever it was given; None when it was given nowhere."""
    if sum((message is not None, file is not None, edit)) > 1:
        raise UsageError(
            "a message comes from one place", hint="use one of -m, --message-file and --edit-message"
        )
    if message is not None:
        return message.encode("utf-8", "surrogateescape")
    if file == "-":
        return sys.stdin.buffer.read()
    if file is not None:
        try:
            with open(file, "rb") as opened:
                return opened.read()
        except OSError as error:
            raise UsageError(
                f"cannot read --message-file {file}: {error.strerror}", hint="- reads stdin"
            ) from None
    if edit:
        return edit_text().encode("utf-8", "surrogateescape")
    if stdin_is_free and not sys.stdin.isatty():
        return sys.stdin.buffer.read().removesuffix(b"\n")
    return None


def message_or_editor(message: str | None, file: str | None, *, edit: bool, stdin_is_free: bool) -> bytes:
    """The same; with nothing given, the editor opens on a terminal."""
    text = message_text(message, file, edit=edit, stdin_is_free=stdin_is_free)
    if text is not None:
        return text
    if not is_interactive():
        raise UsageError("no message", hint="give it with -m, --message-file or on standard input")
    return edit_text().encode("utf-8", "surrogateescape")
