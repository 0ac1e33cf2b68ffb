"""What a message means as an answer to what OpenCode asks: a permission, or questions with options."""

from typing import Any

from mngr.agents.shared.answers import (
    answers_to,
    option_number,
    plain_words,
    questions_in,
    questions_text,
    yes_or_no,
)

# In the order in which its screen numbers them; and more words for them than yes and no.
_REPLIES = ("once", "always", "reject")
_WORDS = {"allow once": "once", "always": "always", "allow always": "always"}
_SHOWN = 2000


def answer_to(asked: dict[str, Any], text: str) -> dict[str, Any] | None:
    """The request to its plugin; None when the text is no answer to that."""
    if "questions" in asked:
        answers = answers_to(questions_in(asked), text)
        if answers is None:
            return None
        return {"op": "question", "id": asked["id"], "answers": [[answer] for answer in answers]}
    is_yes, number = yes_or_no(text), option_number(text, len(_REPLIES))
    if is_yes is not None:
        reply = "once" if is_yes else "reject"
    else:
        reply = _REPLIES[number - 1] if number else _WORDS.get(plain_words(text), "")
    return {"op": "permission", "id": asked["id"], "reply": reply} if reply else None


def what_it_asks(asked: dict[str, Any]) -> str:
    if "questions" in asked:
        return questions_text(questions_in(asked))[:_SHOWN]
    details = asked.get("metadata")
    command = details.get("command") if isinstance(details, dict) else None
    subject = command or ", ".join(map(str, asked.get("patterns") or ()))
    return f"it asks for permission; answer yes, always or no: {asked.get('permission')}: {subject}"[:_SHOWN]
