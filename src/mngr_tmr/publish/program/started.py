"""Which programs the tests start: an audit hook in pytest's process, and what can be read from a shell's command.

Standalone and for Python 3.8. The hook only looks: whatever goes wrong in it is dropped.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

SHELLS = frozenset("sh bash dash zsh ksh ash busybox".split())
INTERPRETER = re.compile(
    r"(python|pypy|node|nodejs|ruby|perl|php|deno|bun|lua|Rscript|java|tclsh|sh|bash|dash|zsh|ksh|fish)[\d.]*$"
)
# Programs that run the program in their own arguments; the value is how many plain words come before it.
WRAPPERS = dict.fromkeys("env nohup nice time setsid command exec sudo stdbuf ionice unbuffer".split(), 0)
WRAPPERS.update(timeout=1, chroot=1, faketime=1)
BUILTINS = frozenset(
    ": [ [[ alias bg bind break builtin cd complete continue declare dirs echo eval exit export false fg getopts "
    "hash help history jobs kill let local logout popd printf pushd pwd read readonly return set shift shopt test "
    "times trap true type typeset ulimit umask unalias unset wait for case select function in esac done fi".split()
)
BEFORE_A_COMMAND = frozenset("if then else elif do while until ! { } time".split())
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.S)
LONGEST, MOST, DEEPEST = 4000, 5000, 5
EVENTS = frozenset(
    ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn")
    + ("mngr_e2e.terminal",)
)
# The test kit's own errands: a repository for the test, its terminal.
OWN_ERRANDS = frozenset((("mngr_e2e.session.runner", "ask"),))


class StartedPrograms:
    """Tells `write` each program that is started while `node_id` names a test, once per test."""

    def __init__(self, write: Callable[..., None]) -> None:
        self.node_id = ""
        self._write, self._seen = write, set()  # type: Callable[..., None], set[tuple[str, ...]]

    def watch(self) -> None:
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in EVENTS or not self.node_id:
            return
        try:
            if event == "mngr_e2e.terminal" or not is_own_errand():
                self._note(*request_of(event, args))
        except Exception:
            pass

    def _note(self, words: list[str], cwd: str, env: dict[str, str]) -> None:
        for fields in programs(words, cwd, env, 0):
            key = (self.node_id, *(str(fields[name]) for name in sorted(fields)))
            if key not in self._seen and len(self._seen) < MOST:
                self._seen.add(key)
                self._write("started", node_id=self.node_id, **fields)


def is_own_errand() -> bool:
    frame = sys._getframe(2)
    for _ in range(12):
        if frame is None:
            return False
        if (frame.f_globals.get("__name__"), frame.f_code.co_name) in OWN_ERRANDS:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def request_of(event: str, args: tuple[Any, ...]) -> tuple[list[str], str, dict[str, str]]:
    """Words, folder and environment of what is to be started."""
    executable: Any = None
    cwd: Any = None
    env: Any = None
    if event == "os.system":
        argv: Any = ("sh", "-c", args[0])
    elif event == "pty.spawn":
        argv = args[0]
    elif event == "mngr_e2e.terminal":
        argv, cwd, env = args
    elif event == "subprocess.Popen":
        executable, argv, cwd, env = args
    else:
        executable, argv, env = args[-3:]
    argv = [argv] if isinstance(argv, (str, bytes, os.PathLike)) else list(argv)
    words = [os.fsdecode(word) for word in argv]
    if executable and words:  # argv[0] may be anything, such as the "-sh" of a login shell
        words[0] = os.fsdecode(executable)
    where = os.path.abspath(os.fsdecode(cwd)) if cwd else os.getcwd()
    names = os.environ if env is None else env
    return words, where, {os.fsdecode(name): os.fsdecode(value) for name, value in names.items()}


def programs(words: list[str], cwd: str, env: dict[str, str], depth: int) -> Iterator[dict[str, Any]]:
    """The programs behind one command: itself, or what a wrapper or a shell runs."""
    if not words or depth > DEEPEST:
        return
    name, rest = os.path.basename(words[0]), words[1:]
    if name in WRAPPERS and rest:
        inner, env = unwrapped(name, rest, env)
        if inner:
            yield from programs(inner, cwd, env, depth + 1)
            return
    text = shell_text(rest) if name in SHELLS else None
    if text is not None:
        yield from shell_programs(text[:LONGEST], cwd, env, depth)
        return
    path = find(words[0], cwd, env)
    if path:
        yield {"word": words[0][:200], "path": path, **details(name, rest, cwd, env)}


def unwrapped(name: str, rest: list[str], env: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    plain, at = WRAPPERS[name], 0
    while at < len(rest):
        word, assigned = rest[at], ASSIGNMENT.match(rest[at])
        if name == "env" and assigned:
            env = {**env, assigned.group(1): assigned.group(2)}
        elif word in ("-i", "-") and name == "env":
            env = {"PATH": env.get("PATH", os.defpath)}
        elif word in ("-u", "-C", "-S", "-n", "-c", "-k", "-s") and name != "time":
            at += 1
        elif not word.startswith("-"):
            if plain == 0:
                break
            plain -= 1
        at += 1
    return rest[at:], env


def shell_text(rest: list[str]) -> str | None:
    """What stands after -c; None when the shell reads a file or its input."""
    for at, word in enumerate(rest):
        if not word.startswith(("-", "+")):
            return None
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            return next((text for text in rest[at + 1 :] if not text.startswith("-")), None)
    return None


def shell_programs(text: str, cwd: str, env: dict[str, str], depth: int) -> Iterator[dict[str, Any]]:
    """The programs of a shell's command, as far as they can be read without running it."""
    env = dict(env)
    try:
        commands = list(simple_commands(text))
    except ValueError:
        yield {"word": "sh", "path": find("sh", cwd, env) or "/bin/sh"}
        return
    for words in commands:
        words = [expanded(word, env) for word in words]
        while words and (ASSIGNMENT.match(words[0]) or words[0] in BEFORE_A_COMMAND):
            assigned = ASSIGNMENT.match(words.pop(0))
            if assigned:
                env[assigned.group(1)] = assigned.group(2)
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "cd":
            cwd = os.path.join(cwd, os.path.expanduser(words[1])) if len(words) > 1 else cwd
        elif words[0] == "export":
            env.update(dict(part.split("=", 1) for part in words[1:] if "=" in part))
        elif words[0] in (".", "source"):
            words = ["sh", *words[1:]]
        if words[0] not in BUILTINS:
            yield from programs(words, cwd, env, depth + 1)


def simple_commands(text: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&\n")
    lexer.commenters, lexer.whitespace, lexer.whitespace_split = "", " \t\r", True
    words: list[str] = []
    is_target = False
    for token in lexer:
        if not token.strip("();<>|&\n"):
            is_target = "<" in token or ">" in token
            if not is_target:
                yield words
                words = []
        elif is_target:
            is_target = False
        elif token != "$":
            words.append(token)
    yield words


def expanded(word: str, env: dict[str, str]) -> str:
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda match: env.get(match.group(1) or match.group(2), ""), word)


def find(word: str, cwd: str, env: dict[str, str]) -> str:
    """The file that this word starts; empty when there is none."""
    if os.sep in word:
        path = os.path.join(cwd, os.path.expanduser(word))
        return path if os.path.isfile(path) else ""
    return shutil.which(word, path=env.get("PATH", os.defpath)) or ""


def details(name: str, rest: list[str], cwd: str, env: dict[str, str]) -> dict[str, Any]:
    """For an interpreter: its script, or the module or the text that it is given."""
    if not INTERPRETER.match(name):
        return {}
    found: dict[str, Any] = {"cwd": cwd, "search": env.get("PYTHONPATH", "")}
    for at, word in enumerate(rest):
        if word in ("-m", "-c", "-e") and at + 1 < len(rest):
            found["module" if word == "-m" else "code"] = rest[at + 1][:LONGEST]
            break
        path = os.path.join(cwd, word)
        if not word.startswith("-") and os.path.isfile(path):
            found["script"] = os.path.abspath(path)
            break
    return found
