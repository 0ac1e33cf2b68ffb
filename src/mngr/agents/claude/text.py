"""What Claude Code's prompt makes of a text: what it refuses to be sent, and what it reads of the rest."""

import json
import re
import unicodedata

from mngr.agents.shared.cksum import cksum
from mngr.errors import RefusedError

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ENDS_IT = frozenset(("exit", "quit", ":q", ":q!", ":wq", ":wq!"))
_HINT = "put it into a file of its work dir and send the file's name"


def check_text(message: bytes) -> str:
    """The message as text, or an error for what the prompt would not take as it is; nothing was sent then."""
    text = decode_text(message)
    found = _CONTROL.search(text)
    if found:
        offset = len(text[: found.start()].encode())
        raise _refused(f"byte 0x{ord(found[0]):02x} at offset {offset} is a key to its prompt, not text")
    stripped = text.strip()
    if not stripped:
        raise _refused("there is nothing in it but blanks", hint="write a word")
    if text.startswith("!"):
        raise _refused('"!" at its start would run it in a shell', hint="put a space before it")
    if stripped in _ENDS_IT:
        raise _refused(f'"{stripped}" would end it', hint="mngr stop ends an agent")
    if text.endswith("\\"):
        raise _refused("a backslash at its end means that more will follow", hint="put a space behind it")
    return text


def decode_text(message: bytes) -> str:
    try:
        return message.decode()
    except UnicodeDecodeError as error:
        raise _refused(f"byte 0x{message[error.start]:02x} at offset {error.start} is not UTF-8") from None


def readings(text: str) -> tuple[str, ...]:
    """How the prompt may read it: tabs become four spaces; short texts are composed and lose blanks at their end."""
    spaced = text.replace("\t", "    ")
    composed = unicodedata.normalize("NFC", spaced)
    return tuple(dict.fromkeys((spaced, composed, spaced.rstrip(), composed.rstrip())))


def sum_of(text: str) -> str:
    """The checksum by which the prompt's hook names a text."""
    quoted = json.dumps(text, ensure_ascii=False)[1:-1]
    return cksum(quoted.encode("utf-8", "surrogatepass") + b"\n")


def _refused(why: str, hint: str = _HINT) -> RefusedError:
    return RefusedError(f"Claude Code cannot be sent this message: {why}", hint=hint)
