"""Did you mean …? What a reader most likely meant by a word that is not known."""

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], cutoff: float = 0.7) -> str | None:
    """The known word that is most like this one, or None when none is."""
    from difflib import get_close_matches  # 10 ms that only an error costs

    found = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str], *, else_hint: str = "", form: str = '"{}"') -> str:
    """A hint with the nearest known word, or `else_hint`, or all known words; `form` is how that word is written."""
    words = sorted(known)
    close = nearest(word, words)
    if close:
        return f"did you mean {form.format(close)}?"
    return else_hint or (f"known: {', '.join(words)}" if words else "")
