"""The example with many more tests: every test again and again, under numbered names, each with a playbook."""

import os
import re

from mngr_tmr.example.make import Example, commit_all


def multiply(example: Example, copies: int, plays: str) -> Example:
    """Commits `copies` of every test in all, and writes their playbooks into the folder `plays`."""
    os.makedirs(plays)
    tests = os.path.join(example.repo, "tests")
    files = [name for name in sorted(os.listdir(tests)) if name.startswith("test_")]
    for number in range(1, copies + 1):
        end = "" if number == 1 else f"_{number}"
        for name in files:
            if end:
                text = _read(os.path.join(tests, name))
                numbered = re.sub(r"^def (test_\w+)\(", rf"def \1{end}(", text, flags=re.MULTILINE)
                _write(os.path.join(tests, name.replace(".py", f"{end}.py")), numbered)
        for name in os.listdir(example.plays):
            steps = re.sub(
                r"tests/(test_\w+)\.py", rf"tests/\1{end}.py", _read(os.path.join(example.plays, name))
            )
            _write(os.path.join(plays, name.replace(".json", f"{end}.json")), steps)
    commit_all(example.repo, f"Every test {copies} times")
    return Example(example.repo, plays)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
