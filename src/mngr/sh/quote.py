"""The only quoting for shells that mngr has."""

from mngr.errors import UsageError


def quote(text: str) -> str:
    """One shell word that means exactly this text, in dash, busybox and bash alike."""
    if "\0" in text:
        raise UsageError("text for a command holds a NUL byte", hint="remove it: no program can be given one")
    return "'" + text.replace("'", "'\\''") + "'"


def words(*texts: str) -> str:
    """Texts as shell words, joined by blanks."""
    return " ".join(quote(text) for text in texts)
