"""A project whose program is not ours, and agents that follow a playbook in it."""

import json
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

from tests.support.world import World

from mngr_e2e.authoring.agent.workplace import Author

NOTES = f"""#!{sys.executable}
import argparse
top = argparse.ArgumentParser(prog="notes")
below = top.add_subparsers(dest="command", required=True)
add = below.add_parser("add", help="write a note")
add.add_argument("text")
add.add_argument("--tag", help="a word to find it by")
show = below.add_parser("list", help="show notes")
show.add_argument("--tag")
show.add_argument("-n", "--number", type=int)
top.parse_args()
"""
TUTORIAL = """#!/usr/bin/env bash

## Basics

# write a note
notes add "buy milk"

# Finding notes again

# see them all
notes list

# Tagging
"""
FIND, TAG = "# Finding notes again", "# Tagging"

Step = dict[str, Any]


class Project:
    """A repository with a tutorial, a tool called `notes` on the PATH, and a type of agent called `writer`."""

    def __init__(self, world: World, bin_dir: Path) -> None:
        self.world, self.root = world, world.repo
        self.tutorial = self.root / "tutorial.sh"
        self.tutorial.write_text(TUTORIAL)
        bin_dir.mkdir()
        (bin_dir / "notes").write_text(NOTES)
        (bin_dir / "notes").chmod(0o755)
        self.author = Author(type="writer", timeout_s=60)

    def writer(self, *turns: list[Step], then: str = "end_turn") -> None:
        """What the agent does after its prompt and after each message; then it waits, or what `then` says."""
        steps: list[Step] = [{"wait_message": True}]
        for turn in turns:
            steps += [*turn, {"end_turn": True}]
        if then != "end_turn":
            steps[-1:] = [{then: 3 if then == "exit" else True}]
        playbook = self.world.folder / "playbook.json"
        playbook.write_text(json.dumps(steps))
        self.world.host_dir.mkdir(exist_ok=True)
        config = f'[agent_types.writer]\nparent = "scripted"\nargs = ["{playbook}"]\n'
        (self.world.host_dir / "config.toml").write_text(config)

    def files(self) -> dict[str, bytes]:
        """Everything in the work tree but git's own."""
        found = (path for path in self.root.rglob("*") if path.is_file() and ".git" not in path.parts)
        return {str(path.relative_to(self.root)): path.read_bytes() for path in found}

    def commit(self) -> None:
        self.world.git("add", ".")
        self.world.git("commit", "-q", "-m", "project")


def under(comment: str, text: str) -> Step:
    """Adds lines under a comment of the tutorial."""
    return {"edit": "tutorial.sh", "replace": [comment + "\n", f"{comment}\n{dedent(text)}\n"]}


def instead(old: str, new: str, path: str = "tutorial.sh") -> Step:
    return {"edit": path, "replace": [old, new]}
