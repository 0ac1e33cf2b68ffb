"""Shell lines that many programs need: a file is replaced, an event added, the bell rung, a tree removed."""

import time

from mngr.model.event import Event, encode_event
from mngr.sh.program import quote


def put(path: str, text: str, *, mode: int = 0o600) -> str:
    """Shell lines that replace a file as a whole: written beside it, then renamed."""
    temporary = quote(f"{path}.new.") + "$$"
    return (
        f"(umask 077; printf %s {quote(text)} >{temporary}) && "
        + (f"chmod {mode:o} {temporary} && " if mode != 0o600 else "")
        + f"mv -f {temporary} {quote(path)}"
    )


def append(path: str, event: Event, *, is_last_whole: bool = False) -> str:
    """A shell command that adds an event to a log in one write, or fails and adds nothing of it.

    It begins on a line of its own, also after an event that a full disk cut short, unless the last one is known whole.
    """
    log = quote(path)
    fresh = "" if is_last_whole else f'[ -z "$(tail -c 1 {log} 2>/dev/null)" ] || echo >>{log}; '
    written = f"printf '%s\\n' {quote(encode_event(event).decode())} >>{log}"
    # What follows the last line's end is the piece that was written; `dd` without input only cuts.
    size = f"$(($(wc -c <{log}) - $(tail -n 1 {log} | wc -c)))"
    truncate = f'[ -z "$(tail -c 1 {log})" ] || dd if=/dev/null of={log} bs=1 seek={size} count=0 2>/dev/null'
    return f"{{ {_is_log(path)} && {{ {fresh}{written} || {{ {truncate}; false; }}; }}; }}"


def append_at(path: str, seconds: str, kind: str) -> str:
    """The same for an event whose time is a shell word: by the clock of the host, whatever ours says."""
    return f"""{_is_log(path)} && printf '{{"at":%s,"kind":"{kind}"}}\\n' {seconds} >>{quote(path)}"""


def _is_log(path: str) -> str:
    """A shell command that fails where something else is in a log's place: writing to a FIFO would never end."""
    file = quote(path)
    return f"{{ [ ! -L {file} ] && {{ [ -f {file} ] || [ ! -e {file} ]; }}; }}"


def ring(bell: str) -> str:
    """Shell lines that change the bell: every waiting process looks again. They never fail: a full disk has no bell."""
    temporary = quote(f"{bell}.") + "$$"
    return (
        f"{{ echo $$ {time.time_ns()} >{temporary} && mv -f {temporary} {quote(bell)}; }} 2>/dev/null || "
        f"rm -f {temporary}"
    )


def remove_tree(path: str) -> str:
    """A shell command that removes directories, given as shell words; it prints what resists, and never fails."""
    # Read-only folders (module caches) keep their own files from being removed.
    return f"rm -rf -- {path} 2>/dev/null || {{ chmod -R u+rwx -- {path} 2>/dev/null; rm -rf -- {path} 2>&1 || :; }}"
