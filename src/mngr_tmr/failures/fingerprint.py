"""What two failures must share to have one cause: exception, place, and message without its accidents."""

import re

from msgspec import Struct

from mngr_lib.safe_text import plain
from mngr_tmr.agent_text import one_line

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")
_FRAMES = (
    re.compile(r"^(?P<path>[^\s:]+\.py):\d+:(?: in (?P<name>\w+)| \w+| ?$)", re.M),
    re.compile(r'^\s*File "(?P<path>[^"]+)", line \d+, in (?P<name>\S+)', re.M),
)
_NOT_OURS = ("site-packages", "dist-packages", "/lib/python", "<frozen", "<string>")
_EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w*\.)*([A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning|Expired|Failed))\b:?"
)
_CHAIN = re.compile(
    r"^(?:During handling of the above exception|The above exception was the direct cause).*$", re.M
)
_ACCIDENTS = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I), "ID"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.I), "ID"),
    (re.compile(r"(?:~|\.{1,2})?/(?:[^\s'\"`:;,)\]]+/)*([^\s'\"`:;,/)\]]*)"), r"PATH/\1"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b", re.I), "ID"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "N"),
)
# What a program ended with is no accident: 1 and 2 are two failures.
_EXIT_CODE = re.compile(
    r"(exit(?:ed)?(?: with)?[ _-]?(?:code|status)?[ :=]*-?\d+|return ?code[ :=]*-?\d+)", re.I
)
_ABOUT_ENDING = re.compile(r"the command to (?:succeed|fail)|exit code", re.I)
# How the test kit names the command and its end on the first line; both stand below it too.
_ORIGIN = re.compile(
    r"(ExpectationError: expected .*?)(?:, found (?:exit code )?-?\d+|, found a timeout)?: \$ .*$"
)
_WORD = re.compile(r"[A-Za-z]{3,}")
_EMPTY_WORDS = frozenset(("assert", "assertionerror", "path", "true", "false", "none", "error", "not"))
_TELLING = 2
_LONGEST = 300


class Fingerprint(Struct, frozen=True):
    """Equal for failures with one cause, as far as their texts tell."""

    stage: str
    exception: str
    frame: str
    message: str


def fingerprint(stage: str, text: str, test: str = "") -> Fingerprint:
    """Of a text that pytest, a step of ours or an agent wrote.

    A place in the test itself, a node id, counts only where the message says too little: tests that trip over the
    same thing differ in it.
    """
    text = without_escapes(text)
    line = telling_line(text)
    found = _EXCEPTION.search(line)
    exception = found[1] if found else ""
    message = normal(line)
    # The innermost place in the project, as `folder/file.py:function`; lines move and are left out.
    places, frame = _places(text), ""
    if places:
        path = max(places, key=lambda match: match.start())["path"]
        names = [match for match in places if match["path"] == path and match["name"]]
        inner = max(names, key=lambda match: match.start())["name"] if names else ""
        frame = f"{_tail(path)}:{inner}"
    file, _, name = test.partition("::")
    if file and frame.partition(":")[0] == _tail(file):
        words = {word.lower() for word in _WORD.findall(_EXCEPTION.sub("", message))} - _EMPTY_WORDS
        frame = "" if len(words) >= _TELLING else f"{_tail(file)}:{name.partition('[')[0]}"
    return Fingerprint(stage, exception, frame, message)


def telling_line(text: str) -> str:
    """The line that says most: pytest's first one marked with an E, else the last that names an exception.

    Of exceptions raised one after another the last counts; what a failed command complained of is added.
    """
    lines = [_ORIGIN.sub(r"\1", line.strip()) for line in _CHAIN.split(text)[-1].split("\n") if line.strip()]
    marked = [line[1:] for line in lines if line.startswith("E  ")]
    named = [line for line in lines if _EXCEPTION.match(line)]
    words = (marked or named[-1:] or lines or [""])[0].strip()
    # Below "stderr:" the test kit shows the standard error of the command.
    starts = [number for number, line in enumerate(marked, 1) if line.strip() == "stderr:"]
    stderr = [line.strip() for line in marked[starts[-1] :]] if starts else []
    complaint = next((line for line in reversed(stderr) if _EXCEPTION.match(line)), (stderr or [""])[0])
    # The exit code that the test kit shows beside what was expected, unless it is 0 and nothing was asked of it.
    ends = [line.strip() for line in marked if line.strip().startswith("exit code: ")]
    code = ends[-1].removeprefix("exit code: ") if ends else ""
    if code and (code != "0" or _ABOUT_ENDING.search(words)):
        words += f", got exit code {code}"
    line = _EXCEPTION.sub(r"\1:", words, count=1).rstrip(" :") if _EXCEPTION.match(words) else words
    return one_line(f"{line}: {complaint}" if complaint else line, _LONGEST)


def normal(line: str) -> str:
    """A message without numbers, paths, ids and times; exit codes stay."""
    parts = _EXIT_CODE.split(line)
    for accident, word in _ACCIDENTS:
        parts[::2] = [accident.sub(word, part) for part in parts[::2]]
    return " ".join("".join(parts).split())


def without_escapes(text: str) -> str:
    return plain(_ANSI.sub("", text))


def depth(text: str) -> int:
    """How many places of the project the failure went through."""
    return len(_places(text))


def _places(text: str) -> list[re.Match[str]]:
    places = [match for pattern in _FRAMES for match in pattern.finditer(text)]
    return [match for match in places if not any(part in match["path"] for part in _NOT_OURS)]


def _tail(path: str) -> str:
    """The last two names of a path: copies lie in folders of different names."""
    return "/".join(path.replace("\\", "/").split("/")[-2:])
