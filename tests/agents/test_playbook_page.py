"""The steps of playbooks in docs/agents.md are those that the program reads."""

import json
from pathlib import Path

from mngr.agents.scripted.program.playbook import KINDS, VERBS, compile_steps

PAGE = (Path(__file__).parents[2] / "docs/agents.md").read_text()
WORDS = {str: "text", int: "number", float: "number", bool: "true", dict: "object", list: "list"}


def test_every_step_and_field_of_a_playbook_has_its_line() -> None:
    _, _, table = PAGE.partition("| step | value | fields | what it does |\n| --- | --- | --- | --- |\n")
    lines = table.partition("\n\n")[0].split("\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    found = {name.strip("`"): (value, fields.replace("`", "")) for name, value, fields, _ in rows}
    wanted = {
        name: (" or ".join(dict.fromkeys(WORDS[one] for one in types)), ", ".join(beside))
        for name, (types, beside) in VERBS.items()
    }
    assert found == wanted
    assert all(does for *_, does in rows)
    assert all(f"`{kind}`" in PAGE for kind in KINDS)


def test_the_playbook_of_the_page_is_one() -> None:
    playbook = json.loads(PAGE.split("```json\n")[1].split("```")[0])
    assert len(compile_steps(playbook)) == len(playbook)
