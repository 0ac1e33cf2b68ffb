"""Names made from texts: readable, valid as an agent, a branch and a folder, and no two alike."""

import hashlib
import re

_AGENT_MAX = 63
_SLUG_MAX = 40
_HASH_LENGTH = 6


def slug(text: str, limit: int = _SLUG_MAX) -> str:
    """The end of a text in letters, digits and dashes, whole words of it, with a hash of all of it."""
    words = re.sub(r"[^a-z0-9]+", "-", text.lower().replace(".py::", "-")).strip("-")
    room = limit - _HASH_LENGTH - 1
    if len(words) > room:
        words = words[-room:]
        words = words[words.find("-") + 1 :]
    return f"{words.strip('-')}-{_hash(text)}".lstrip("-")


def agent_name(*parts: str) -> str:
    """The parts joined; too long a name keeps its end and gets a hash of the whole."""
    name = "-".join(parts)
    if len(name) <= _AGENT_MAX:
        return name
    kept = name[-(_AGENT_MAX - _HASH_LENGTH - len(parts[0]) - 2) :].strip("-_")
    return f"{parts[0]}-{_hash(name)}-{kept}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_HASH_LENGTH]
