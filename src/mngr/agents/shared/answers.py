"""What a message means as an answer to what a coding agent asks: the same words for all of them."""

from collections.abc import Mapping
from typing import Any

_YES = frozenset(("y", "yes", "ok", "allow", "approve"))
_NO = frozenset(("n", "no", "deny", "reject"))


def plain_words(text: str) -> str:
    """The text without what does not change its meaning: blanks around it, capitals, a full stop at its end."""
    return text.strip().lower().rstrip(".!")


def yes_or_no(text: str) -> bool | None:
    """Whether it allows or refuses; None when it does neither."""
    words = plain_words(text)
    return True if words in _YES else False if words in _NO else None


def option_number(text: str, most: int) -> int:
    """The number of one of so many options, counted from 1; 0 when it names none of them."""
    words = plain_words(text)
    is_number = words.isascii() and words.isdecimal() and len(words) < 3
    return int(words) if is_number and int(words) <= most else 0


def questions_in(asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    return _records(asked.get("questions"))


def answers_to(questions: list[dict[str, Any]], text: str) -> list[str] | None:
    """An answer to each question, a line each: the number of an option, or words. None when lines are missing."""
    lines = [text.strip()] if len(questions) == 1 else text.strip().splitlines()
    if len(lines) != len(questions):
        return None
    answers = []
    for question, line in zip(questions, lines, strict=True):
        labels = [str(option.get("label")) for option in _records(question.get("options"))]
        number = option_number(line, len(labels))
        answers.append(labels[number - 1] if number else line)
    return answers


def questions_text(questions: list[dict[str, Any]]) -> str:
    """What to tell the sender of something that is no answer to the questions."""
    texts = "; ".join(str(question.get("question")) for question in questions)
    return f"it asks {len(questions)} questions; answer a line each: {texts}"


def _records(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
