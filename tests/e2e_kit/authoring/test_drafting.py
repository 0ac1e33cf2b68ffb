"""`draft` with a real agent in a real terminal: what it does wrong is caught, what it does right arrives, marked."""

import shlex

import pytest
from msgspec.structs import replace
from tests.e2e_kit.authoring.project import FIND, TAG, TUTORIAL, Project, instead, under

import mngr
from mngr_e2e.authoring.agent.workplace import AgentFailedError
from mngr_e2e.authoring.drafting.draft import draft, plan_draft
from mngr_e2e.authoring.rules import FILES, FILLED, HUMAN, KNOWN_COMMAND, KNOWN_OPTION, UNDER_GAP
from mngr_e2e.authoring.signals import load, rank, signals_path
from mngr_e2e.tutorial.blocks import load_blocks

GOOD = [
    under(FIND, "notes list --tag milk"),
    under(TAG, "notes add x --tag milk\n\n# and look\nnotes list -n 3"),
]
FILLED_IN = TUTORIAL.replace(FIND, f"{FIND}\n# draft: unreviewed\nnotes list --tag milk").replace(
    TAG,
    f"{TAG}\n# draft: unreviewed\nnotes add x --tag milk\n\n# draft: unreviewed\n# and look\nnotes list -n 3",
)


@pytest.mark.slow
@pytest.mark.accept("A2", "A5", "A6")
def test_examples_come_under_their_gaps_marked_as_unreviewed(project: Project) -> None:
    project.writer([*GOOD, {"commit": "examples"}])
    said: list[str] = []
    report = draft(
        str(project.tutorial), author=project.author, manager=project.world.manager(), say=said.append
    )
    assert project.tutorial.read_text() == FILLED_IN
    assert [block.commands[0] for block in report.drafted] == [
        "notes list --tag milk",
        "notes add x --tag milk",
        "notes list -n 3",
    ]
    assert (report.left, report.findings) == ((), ())
    assert project.world.left_behind() == []
    assert "2 gaps" in said[0]


@pytest.mark.slow
@pytest.mark.accept("A6", "A7", "A8")
def test_what_an_agent_does_wrong_is_caught_and_what_it_mends_is_taken(project: Project) -> None:
    project.commit()
    before = project.files()
    wrong = [
        under(FIND, "notes list --search milk"),
        under(TAG, "notes tag 1 milk"),
        instead("buy milk", "buy oat milk"),
        {"edit": "file.txt", "append": "mine\n"},
        {"edit": "new.txt", "text": "mine\n"},
        {"commit": "a good try"},
    ]
    partly = [
        instead("buy oat milk", "buy milk"),
        {"run": "git rm -q new.txt && git checkout -q HEAD~1 -- file.txt"},
        instead("notes tag 1 milk", "notes add x --tag milk"),
    ]
    project.writer(wrong, partly, [instead("--search milk", "--tag milk")])
    report = draft(str(project.tutorial), author=project.author, manager=project.world.manager())
    found = [(finding.rule, finding.where) for finding in report.findings]
    assert found == [
        (FILES, "file.txt"),
        (FILES, "new.txt"),
        (HUMAN, "tutorial.sh:5"),
        (KNOWN_OPTION, "tutorial.sh:8"),
    ]
    after = project.files()
    signals = after.pop(".mngr/tutorial/signals.jsonl")
    assert after.pop(".mngr/tutorial/.gitattributes") == b"signals.jsonl merge=union\n"
    drafted = after.pop("tutorial.sh").decode()
    assert "# draft: unreviewed\nnotes list --tag milk\n" in drafted
    assert (
        drafted.replace("\n# draft: unreviewed\nnotes list --tag milk", "").replace(
            "\n# draft: unreviewed\nnotes add x --tag milk", ""
        )
        == before.pop("tutorial.sh").decode()
    )
    assert after == before
    assert b'"--search"' in signals
    assert project.world.left_behind() == []


@pytest.mark.slow
@pytest.mark.accept("A7", "A8")
def test_every_invention_becomes_a_signal(project: Project) -> None:
    project.writer(
        [under(FIND, "notes list --search milk"), under(TAG, "notes tag 1 milk")],
        [instead("--search milk", "--find milk"), instead("tag 1 milk", "list")],
        [instead("--find milk", "--tag milk")],
    )
    report = draft(str(project.tutorial), author=project.author, manager=project.world.manager())
    assert [(finding.rule, finding.command, finding.what) for finding in report.findings] == [
        (KNOWN_OPTION, "notes list", "--search"),
        (KNOWN_COMMAND, "notes", "tag"),
        (KNOWN_OPTION, "notes list", "--find"),
    ]
    groups = rank(load(signals_path(str(project.root))))
    assert {(group.kind, group.command, group.what) for group in groups} == {
        ("unknown option", "notes list", "--search"),
        ("unknown option", "notes list", "--find"),
        ("unknown command", "notes", "tag"),
    }


@pytest.mark.slow
@pytest.mark.accept("A6", "A8")
def test_an_agent_that_never_mends_it_changes_nothing(project: Project) -> None:
    project.writer([*GOOD, instead("buy milk", "buy tea")], [], [])
    report = draft(str(project.tutorial), author=project.author, manager=project.world.manager())
    assert report.drafted == ()
    assert [left.gap.title for left in report.left] == ["Finding notes again", "Tagging"]
    assert report.left[0].findings[0].rule == HUMAN
    assert project.tutorial.read_text() == TUTORIAL
    assert project.world.left_behind() == []


@pytest.mark.slow
@pytest.mark.accept("A8")
def test_gaps_that_are_filled_well_are_taken_and_the_others_stay_gaps(project: Project) -> None:
    project.writer([under(FIND, "notes list --search milk"), under(TAG, "\nnotes list")], [])
    author = project.author
    report = draft(str(project.tutorial), author=replace(author, rounds=2), manager=project.world.manager())
    assert [left.findings[0].rule for left in report.left] == [KNOWN_OPTION, UNDER_GAP]
    project.writer([under(TAG, "notes list --tag x")], [])
    report = draft(str(project.tutorial), author=replace(author, rounds=2), manager=project.world.manager())
    assert [left.findings[0].rule for left in report.left] == [FILLED]
    assert project.tutorial.read_text() == TUTORIAL.replace(
        TAG, f"{TAG}\n# draft: unreviewed\nnotes list --tag x"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("then", "said"), [("exit", "it is DONE (exit code 3)"), ("hang", "it is RUNNING after 2 s")]
)
def test_an_agent_that_crashes_or_hangs_is_an_error_and_is_removed(
    project: Project, then: str, said: str
) -> None:
    project.writer([*GOOD, {"say": "my last words"}], then=then)
    with pytest.raises(AgentFailedError) as failed:
        draft(
            str(project.tutorial),
            author=replace(project.author, timeout_s=2.0 if then == "hang" else 60.0),
            manager=project.world.manager(),
        )
    assert said in failed.value.message
    assert "my last words" in failed.value.message
    assert "it was removed and nothing was changed" in failed.value.hint
    assert project.tutorial.read_text() == TUTORIAL
    assert project.world.left_behind() == []


@pytest.mark.slow
def test_an_agent_that_asks_a_person_is_not_waited_for(project: Project) -> None:
    project.writer([{"permission": "May I delete everything?"}])
    with pytest.raises(AgentFailedError, match=r"it is WAITING \(permission\) and gets no answer"):
        draft(str(project.tutorial), author=project.author, manager=project.world.manager())
    assert project.world.left_behind() == []


@pytest.mark.slow
@pytest.mark.accept("A6")
def test_bytes_that_are_not_text_are_refused_or_taken_as_they_are(project: Project) -> None:
    project.writer(
        [
            {"run": "printf 'notes list --s\\377\\n' > .git/x && sed -i '/^# Tagging/r .git/x' tutorial.sh"},
            {"run": "sed -i '/^# Finding/a notes list' tutorial.sh && touch \"$(printf 'a\\377b')\""},
        ],
        [{"run": "rm a*"}],
        [],
    )
    report = draft(str(project.tutorial), author=project.author, manager=project.world.manager())
    assert report.findings[0].where == "a\\xffb"
    assert [left.gap.title for left in report.left] == ["Tagging"]
    assert project.tutorial.read_text() == TUTORIAL.replace(FIND, f"{FIND}\n# draft: unreviewed\nnotes list")
    assert rank(load(signals_path(str(project.root))))[0].command == "notes list"


@pytest.mark.slow
def test_a_kept_agent_is_left_to_be_looked_at(project: Project) -> None:
    project.writer(GOOD, then="exit")
    manager = project.world.manager()
    with pytest.raises(AgentFailedError) as failed:
        draft(str(project.tutorial), author=replace(project.author, keep=True), manager=manager)
    (agent,) = mngr.list_agents(manager=manager).agents
    assert f"mngr connect {agent.name}" in failed.value.hint
    assert failed.value.message.startswith(f'agent "{agent.name}": ')


@pytest.mark.slow
@pytest.mark.accept("A6")
def test_what_a_person_writes_meanwhile_is_kept(project: Project) -> None:
    mine = project.world.folder / "mine.sh"
    mine.write_text(TUTORIAL.replace("buy milk", "buy bread"))
    project.writer([{"run": shlex.join(["cp", str(mine), str(project.tutorial)])}, *GOOD])
    report = draft(str(project.tutorial), author=project.author, manager=project.world.manager())
    assert report.left == ()
    assert project.tutorial.read_text() == FILLED_IN.replace("buy milk", "buy bread")


@pytest.mark.accept("A2", "A3")
def test_the_prompt_names_gaps_files_rules_and_reference(project: Project) -> None:
    plan = plan_draft(str(project.tutorial))
    assert [left.gap.title for left in plan.left] == ["Finding notes again", "Tagging"]
    assert "tutorial.sh:8" in plan.prompt
    assert "    # Finding notes again\n" in plan.prompt
    assert "- `tutorial.sh`\n" in plan.prompt
    assert "$ notes list --help\nusage: notes list [-h] [--tag TAG]" in plan.prompt


@pytest.mark.accept("A1")
def test_gaps_can_be_chosen_and_a_wrong_id_is_named(project: Project) -> None:
    gaps = [block for block in load_blocks(str(project.tutorial)) if block.kind == "gap"]
    plan = plan_draft(str(project.tutorial), [gaps[1].id])
    assert [left.gap for left in plan.left] == [gaps[1]]
    with pytest.raises(mngr.UsageError) as wrong:
        plan_draft(str(project.tutorial), [gaps[1].id[:-1] + "x"])
    assert gaps[1].id in wrong.value.hint


def test_without_gaps_no_agent_is_started(project: Project) -> None:
    project.tutorial.write_text("notes list\n")
    report = draft(str(project.tutorial), manager=project.world.manager())
    assert (report.drafted, report.left) == ((), ())
    assert project.world.left_behind() == []


def test_a_tutorial_that_is_not_valid_shell_or_in_no_repository_is_refused(project: Project) -> None:
    project.tutorial.write_text('# gap\n\necho "\n')
    with pytest.raises(mngr.UsageError, match="is not valid shell: line 3"):
        draft(str(project.tutorial), manager=project.world.manager())
    lonely = project.world.folder / "lonely.sh"
    lonely.write_text(TUTORIAL)
    with pytest.raises(mngr.UsageError, match="is not in a git repository"):
        draft(str(lonely), manager=project.world.manager())
