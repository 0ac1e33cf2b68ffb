"""What Claude Code's screen shows: its prompt, a question it asks, or something else. Golden screens are its tests."""

import re
from enum import StrEnum

from msgspec import Struct

# The prompt's sign is followed by a no-break space; earlier prompts, shown again above, by a plain one.
PROMPT = "\u276f\u00a0"

_STYLE = re.compile(r"\x1b\[[0-9;:]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)|[\x0e\x0f]")
# A hint in an empty prompt: the cursor on its first letter, the rest dim.
_HINT = re.compile(r"\x1b\[7m(?:\x1b\[[0-9;]*m)*[^\x1b]?\x1b\[(?:0;)?2m")
_OPTION = re.compile(r"^[\s\u276f]*(\d)\. (.+?)\s*$")
_RULE = re.compile(r"^\s*[\u2500\u2501]{10,}\s*$")
_FREE_TEXT = "Type something"


class ScreenKind(StrEnum):
    PROMPT = "prompt"
    QUESTION = "question"
    """Numbered options, one of which is marked: a permission request, or a question of the agent."""
    UNKNOWN = "unknown"


class ClaudeScreen(Struct, frozen=True):
    """A screen as far as it is understood; `text` is all of it, without colours."""

    kind: ScreenKind
    text: str
    draft: str = ""
    """The text in the prompt that was not sent."""
    options: dict[int, str] = {}

    @property
    def is_ready(self) -> bool:
        return self.kind is ScreenKind.PROMPT and not self.draft

    @property
    def free_text(self) -> int:
        """The number of the option that takes an answer in words; 0 when there is none."""
        return next((number for number, text in self.options.items() if text.startswith(_FREE_TEXT)), 0)

    def last_lines(self, count: int = 12) -> str:
        """The end of the screen in one line, for a person who has to see what is in the way."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip() and not _RULE.match(line)]
        return " | ".join(lines[-count:])


def read_screen(ansi: str) -> ClaudeScreen:
    """Understands what `capture-pane -e` gave; anything that is not known for certain is UNKNOWN."""
    lines = ansi.split("\n")
    plain = [_STYLE.sub("", line) for line in lines]
    text = "\n".join(plain)
    prompts = [index for index, line in enumerate(plain) if line.startswith(PROMPT)]
    last = prompts[-1] if prompts else 0
    # A rule right above and another one below: that is the prompt, not a copy of its sign.
    if last and _RULE.match(plain[last - 1]) and any(map(_RULE.match, plain[last + 1 :])):
        return ClaudeScreen(ScreenKind.PROMPT, text, draft=_draft(lines[last:], plain[last:]))
    # Options are numbered from 1 at the end of the screen, and one of them is marked.
    found: dict[int, str] = {}
    is_marked = False
    for line in plain:
        option = _OPTION.match(line)
        if not option:
            continue
        number = int(option[1])
        if number == 1:
            found, is_marked = {}, False
        if number == len(found) + 1:
            found[number] = option[2]
            is_marked = is_marked or "\u276f" in line
    options = found if is_marked and len(found) > 1 else {}
    return ClaudeScreen(ScreenKind.QUESTION if options else ScreenKind.UNKNOWN, text, options=options)


def _draft(lines: list[str], plain: list[str]) -> str:
    if _HINT.search(lines[0]):
        return ""
    typed = [plain[0].removeprefix(PROMPT)]
    for line in plain[1:]:
        if _RULE.match(line):
            break
        typed.append(line)
    return "\n".join(typed).strip()
