"""Shell text made from data: the only quoting in the house."""

import time

from mngr.errors import UsageError
from mngr.model.event import Event, encode_event

# Reads the whole program first, so that nothing it starts can eat the rest of it, and nothing of it shows in `ps`.
READ_AND_RUN = ("sh", "-c", 'eval "$(cat)"', "mngr")


def quote(text: str) -> str:
    """One shell word that means exactly this text, in dash, busybox and bash alike."""
    if "\0" in text:
        raise UsageError("text for a command holds a NUL byte", hint="remove it: no program can be given one")
    return "'" + text.replace("'", "'\\''") + "'"


def words(*texts: str) -> str:
    return " ".join(quote(text) for text in texts)


def encode(script: str) -> bytes:
    """Bytes of a script; what came from the file system or the environment leaves as it came."""
    return script.encode("utf-8", "surrogateescape")


def put(path: str, text: str, *, mode: int = 0o600) -> str:
    """Shell lines that replace a file as a whole: written beside it, then renamed."""
    temporary = quote(f"{path}.new.") + "$$"
    return (
        f"(umask 077; printf %s {quote(text)} >{temporary}) && "
        + (f"chmod {mode:o} {temporary} && " if mode != 0o600 else "")
        + f"mv -f {temporary} {quote(path)}"
    )


def append(path: str, *events: Event) -> str:
    """A shell command that adds events to a log in one write."""
    lines = "\n".join(encode_event(event).decode() for event in events)
    return f"printf '%s\\n' {quote(lines)} >>{quote(path)}"


def append_at(path: str, seconds: str, kind: str) -> str:
    """The same for an event whose time is a shell word: by the clock of the host, whatever ours says."""
    return f"""printf '{{"at":%s,"kind":"{kind}"}}\\n' {seconds} >>{quote(path)}"""


def ring(bell: str) -> str:
    """Shell lines that change the bell, so that whoever waits looks again."""
    temporary = quote(f"{bell}.") + "$$"
    return f"echo $$ {time.time_ns()} >{temporary} && mv -f {temporary} {quote(bell)}"
