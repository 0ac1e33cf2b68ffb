"""Writes the slash command that ships with the package: `python -m mngr_e2e.authoring.agent.slash_command`."""

import os

from mngr_e2e.authoring.agent.prompts import slash_command

NAME = "sync-tutorial-to-e2e-tests"
SHIPPED = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "claude", f"{NAME}.md")


def shipped_text() -> str:
    with open(SHIPPED, encoding="utf-8") as file:
        return file.read()


def main() -> None:
    with open(SHIPPED, "w", encoding="utf-8", newline="\n") as file:
        file.write(slash_command())


if __name__ == "__main__":
    main()
