"""What a message means as an answer to what OpenCode asks: a permission, or questions with options."""

from typing import Any

_REPLIES = {
    "once": ("1", "y", "yes", "ok", "allow", "approve", "allow once"),
    "always": ("2", "always", "allow always"),
    "reject": ("3", "n", "no", "deny", "reject"),
}
_SHOWN = 2000


def answer_to(asked: dict[str, Any], text: str) -> dict[str, Any] | None:
    """The request to its plugin; None when the text is no answer to that."""
    if "questions" in asked:
        # One answer for each question, a line each: the number of an option, or words.
        questions = _questions(asked)
        lines = [text.strip()] if len(questions) == 1 else text.strip().splitlines()
        if len(lines) != len(questions):
            return None
        answers = []
        for question, line in zip(questions, lines, strict=True):
            labels = [str(option.get("label")) for option in question.get("options") or ()]
            number = int(line) if line.isascii() and line.isdecimal() and len(line) < 3 else 0
            answers.append([labels[number - 1] if 0 < number <= len(labels) else line])
        return {"op": "question", "id": asked["id"], "answers": answers}
    word = text.strip().lower().rstrip(".!")
    reply = next((reply for reply, words in _REPLIES.items() if word in words), "")
    return {"op": "permission", "id": asked["id"], "reply": reply} if reply else None


def what_it_asks(asked: dict[str, Any]) -> str:
    if "questions" in asked:
        texts = [str(question.get("question")) for question in _questions(asked)]
        return f"it asks {len(texts)} questions; answer a line each: {'; '.join(texts)}"[:_SHOWN]
    details = asked.get("metadata")
    command = details.get("command") if isinstance(details, dict) else None
    subject = command or ", ".join(map(str, asked.get("patterns") or ()))
    return f"it asks for permission; answer yes, always or no: {asked.get('permission')}: {subject}"[:_SHOWN]


def _questions(asked: dict[str, Any]) -> list[dict[str, Any]]:
    return [question for question in asked.get("questions") or () if isinstance(question, dict)]
