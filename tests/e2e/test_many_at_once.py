"""Many at once: lines of JSON in, lines of JSON out, and commands that hand agents on."""

import json

import pytest
from tests.e2e.scene import agents, given

from mngr_e2e import E2eSession, expect

pytestmark = [pytest.mark.slow, pytest.mark.e2e(record=False)]


def test_a_line_makes_an_agent(e2e: E2eSession) -> None:
    e2e.write_tutorial_block(r"""
        # a line of JSON for each agent
        printf '{"name": "n%s", "args": ["sleep", "600"]}\n' 1 2 3 | mngr create -
    """)
    result = e2e.run("""printf '{"name": "n%s", "args": ["sleep", "600"]}\\n' 1 2 3 | mngr create -""")
    expect(result).to_succeed()
    made = [json.loads(line) for line in result.stdout.splitlines()]
    assert sorted(record["name"] for record in made) == ["n1", "n2", "n3"]
    assert {record["state"] for record in agents(e2e).values()} == {"RUNNING"}


def test_a_line_that_fails_does_not_stop_the_others(e2e: E2eSession) -> None:
    e2e.write_tutorial_block(r"""
        # a line of JSON for each agent
        printf '{"name": "n%s", "args": ["sleep", "600"]}\n' 1 2 3 | mngr create -
    """)
    result = e2e.run(
        """printf '{"name": "%s", "args": ["sleep", "600"]}\\n' n1 'bad name' n3 | mngr create -"""
    )
    expect(result).to_have_exit_code(3)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    (wrong,) = (line for line in lines if "error" in line)
    assert wrong["error"]["exit_code"] == 2
    assert sorted(agents(e2e)) == ["n1", "n3"]


def test_no_more_than_so_many_run(e2e: E2eSession) -> None:
    e2e.write_tutorial_block(r"""
        # flags are defaults for all lines, and no more than two run at a time
        printf '{"name": "n%s"}\n' 1 2 3 | mngr create - --max-running 2 --label batch=7 -- true
    """)
    command = """printf '{"name": "n%s"}\\n' 1 2 3 | mngr create - --max-running 2 --label batch=7 -- true"""
    expect(e2e.run(command)).to_succeed()
    found = agents(e2e)
    assert sorted(found) == ["n1", "n2", "n3"]
    assert all(record["labels"] == {"batch": "7"} for record in found.values())
    ends = sorted(record["ended_at"] for record in found.values() if record["ended_at"])
    assert max(record["created_at"] for record in found.values()) >= ends[0]


def test_what_a_list_finds_is_handed_on(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # commands hand agents on: all of a batch
        mngr list --label batch=7 --format jsonl | mngr stop -
    """)
    given(e2e, *(f"mngr create b{number} --label batch=7 -- sleep 600" for number in (1, 2)))
    given(e2e, "mngr create other -- sleep 600")
    expect(e2e.run("mngr list --label batch=7 --format jsonl | mngr stop -")).to_succeed()
    assert {name: record["state"] for name, record in agents(e2e).items()} == {
        "b1": "STOPPED",
        "b2": "STOPPED",
        "other": "RUNNING",
    }


def test_nobody_to_hand_on_is_no_failure(e2e: E2eSession) -> None:
    e2e.write_tutorial_block("""
        # commands hand agents on: all of a batch
        mngr list --label batch=7 --format jsonl | mngr stop -
    """)
    given(e2e, "mngr create other -- sleep 600")
    expect(e2e.run("mngr list --label batch=7 --format jsonl | mngr stop -")).to_succeed()
    assert agents(e2e)["other"]["state"] == "RUNNING"


@pytest.mark.accept("K2")
def test_a_loop_in_one_line(e2e: E2eSession) -> None:
    e2e.write_tutorial_block(r"""
        # a loop in one line: make, wait, collect, remove
        printf '{"name": "n%s"}\n' 1 2 3 |
            mngr create - -- sh -c 'echo "$MNGR_AGENT_NAME" > "$MNGR_OUTBOX/name"' |
            mngr wait - | mngr pull - --outbox --to results | mngr destroy - --yes
    """)
    result = e2e.run(
        r"""printf '{"name": "n%s"}\n' 1 2 3 | """
        """mngr create - -- sh -c 'echo "$MNGR_AGENT_NAME" > "$MNGR_OUTBOX/name"' | """
        """mngr wait - | mngr pull - --outbox --to results | mngr destroy - --yes"""
    )
    expect(result).to_succeed()
    for number in (1, 2, 3):
        expect(e2e.cwd / "results" / f"n{number}" / "name").to_contain(f"n{number}\n")
    assert agents(e2e) == {}


def test_what_is_carried_along_comes_out(e2e: E2eSession) -> None:
    e2e.write_tutorial_block(r"""
        # what you carry along comes out at the other end
        printf '{"name": "n%s", "ticket": "T-%s"}\n' 1 100 2 200 | mngr create - -- true | mngr wait -
    """)
    pipe = (
        r"""printf '{"name": "n%s", "ticket": "T-%s"}\n' 1 100 2 200 | mngr create - -- true | mngr wait -"""
    )
    result = e2e.run(pipe)
    expect(result).to_succeed()
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert sorted(f"{line['ticket']} {line['exit_code']}" for line in lines) == ["T-100 0", "T-200 0"]
