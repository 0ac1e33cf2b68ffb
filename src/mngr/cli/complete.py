"""`mngr __complete WORDS…`: candidates for the last word, without click and without starting a process."""

import os

from mngr.cli.shipped import read_shipped

# Words that take the name of an agent; anything else after an option is the user's own.
_AGENT_OPTIONS = ("--from",)


def completed(words: list[str]) -> str:
    """One candidate a line, for the shell to filter and show."""
    try:
        return "".join(f"{word}\n" for word in candidates(words, os.environ))
    except (OSError, ValueError):
        return ""  # a shell in the middle of completing must see nothing


def candidates(words: list[str], env: "os._Environ[str] | dict[str, str]") -> list[str]:
    """What may stand where the last word is: it starts with that word."""
    before, last = (words[:-1], words[-1]) if words else ([], "")
    # A line of it: a command, what its words are, its options with their values, separated by blanks.
    table: dict[str, tuple[str, list[str]]] = {}
    for line in read_shipped("completion.txt").splitlines():
        names, kind, *options = line.split()
        for name in names.split(","):
            table[name.replace("/", " ")] = (kind, options)
    if "--" in before:
        return []
    plain = [word for word in before if not word.startswith("-")]
    verb, rest = "", list[str]()
    for length in (1, 2):  # two words name a command of a group
        name = " ".join(plain[:length])
        if len(plain) >= length and name in table:
            verb, rest = name, before[before.index(plain[length - 1]) + 1 :]
    if verb:
        found = _after(verb, rest, last, table, env)
    else:
        from mngr.registry import plugin_commands  # costs as much as all the rest: only for the first word

        found = [*(name for name in table if " " not in name), *plugin_commands()]
    return sorted(word for word in dict.fromkeys(found) if word.startswith(last) and word.isprintable())


def _after(
    verb: str,
    rest: list[str],
    last: str,
    table: dict[str, tuple[str, list[str]]],
    env: "os._Environ[str] | dict[str, str]",
) -> list[str]:
    kind, options = table[verb]
    values = {word.partition("=")[0]: word.partition("=")[2] for word in options if "=" in word}
    previous = rest[-1] if rest else ""
    if previous in values:
        return (
            values[previous].split("|")
            if values[previous]
            else _agents(env)
            if previous in _AGENT_OPTIONS
            else []
        )
    if last.startswith("-"):
        return [word.partition("=")[0] for word in options]
    if kind == "agents":
        return _agents(env)
    if kind == "agent":
        return [] if any(not word.startswith("-") for word in rest) else _agents(env)
    return kind.split("|") if kind != "-" else []


def _agents(env: "os._Environ[str] | dict[str, str]") -> list[str]:
    folder = env.get("MNGR_HOST_DIR") or os.path.join(env.get("HOME", ""), ".mngr")
    try:
        return os.listdir(os.path.join(os.path.expanduser(folder), "names"))
    except OSError:
        return []
