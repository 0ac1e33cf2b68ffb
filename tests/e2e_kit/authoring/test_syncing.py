"""`sync` with a real agent in a real terminal: the tests come in step, and no mistake reaches the user's files."""

import shlex

import pytest
from msgspec.structs import replace
from tests.e2e_kit.authoring.project import TUTORIAL, Project, Step
from tests.e2e_kit.tutorial.desk import citing

import mngr
from mngr_e2e.authoring.agent.workplace import AgentFailedError
from mngr_e2e.authoring.rules import (
    COVERED,
    EXACT,
    FAITHFUL,
    FILES,
    KEPT_TESTS,
    OTHERS,
    READABLE,
    RuleFinding,
)
from mngr_e2e.authoring.syncing.sync import SyncReport, plan_sync, sync
from mngr_e2e.tutorial.check import check

ADD = citing("add", '# write a note\nnotes add "buy milk"', "notes add milk")
OLD_LIST = citing("list", "# see them\nnotes list", "notes list")
LIST = citing("list", "# see them all\nnotes list", "notes list")
OTHER = "def test_other():\n    assert 1 + 1 == 2\n"
STALE = ADD + OLD_LIST + OTHER
TESTS = "tests/e2e/test_notes.py"


def write_tests(project: Project, source: str) -> None:
    folder = project.root / "tests" / "e2e"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_notes.py").write_text(source)


def run(project: Project, **author: object) -> SyncReport:
    return sync(
        str(project.tutorial),
        [str(project.root / "tests/e2e")],
        author=replace(project.author, **author),
        manager=project.world.manager(),
    )


def rules(findings: tuple[RuleFinding, ...]) -> list[tuple[str, str]]:
    return [(finding.rule, finding.where.partition(":")[0]) for finding in findings]


def edit(text: str, path: str = TESTS) -> Step:
    return {"edit": path, "text": text}


@pytest.mark.slow
@pytest.mark.accept("Y1", "Y9", "Y10", "Y12")
def test_stale_citations_come_first_then_missing_blocks_then_the_check_again(project: Project) -> None:
    write_tests(project, OLD_LIST + OTHER)
    project.writer([edit(LIST + OTHER)], [])
    seen: list[str] = []
    report = sync(
        str(project.tutorial),
        [str(project.root / "tests/e2e")],
        author=replace(project.author, rounds=1),
        manager=project.world.manager(),
        say=seen.append,
    )
    assert report.batches == ("1 stale citation", "1 block")
    assert not report.is_green
    assert rules(report.findings) == [(COVERED, "tutorial.sh")]
    assert (project.root / TESTS).read_text() == LIST + OTHER
    project.writer([edit(ADD, "tests/e2e/test_add.py")])
    report = run(project)
    assert report.is_green
    assert report.files == ("tests/e2e/test_add.py",)
    assert check(str(project.tutorial), [str(project.root / "tests/e2e")]).is_green
    assert project.world.left_behind() == []


@pytest.mark.slow
@pytest.mark.accept("Y1", "Y7", "Y10", "Y14")
def test_what_an_agent_does_wrong_is_caught_and_what_it_mends_is_taken(project: Project) -> None:
    write_tests(project, ADD + OTHER)
    project.commit()
    before = project.files()
    wrong = [
        edit(citing("list", "# see them\nnotes list", "notes list") + OTHER),
        edit(citing("show", "# see them all\nnotes list", "notes list --help"), "tests/e2e/test_show.py"),
        edit("import pytest\n", "tests/e2e/conftest.py"),
        {"edit": "tutorial.sh", "append": "# mine\n"},
        {"commit": "tests"},
    ]
    better = [
        {"run": "git checkout -q HEAD~1 -- tutorial.sh && git rm -q -f tests/e2e/conftest.py"},
        edit(ADD.replace("milk", "tea", 1) + OTHER),
        edit(citing("show", "# see them all\nnotes list") + "def test_x(:\n", "tests/e2e/test_show.py"),
    ]
    good = [edit(ADD + OTHER), edit(LIST, "tests/e2e/test_show.py")]
    project.writer(wrong, better, good)
    report = run(project)
    assert set(rules(report.findings)) == {
        (FILES, "tests/e2e/conftest.py"),
        (FILES, "tutorial.sh"),
        (KEPT_TESTS, TESTS),
        (EXACT, TESTS),
        (FAITHFUL, "tests/e2e/test_show.py"),
        (READABLE, "tests/e2e/test_show.py"),
        (OTHERS, TESTS),
        (COVERED, "tutorial.sh"),
    }
    assert report.is_green
    assert report.files == ("tests/e2e/test_show.py",)
    assert project.files() == {**before, "tests/e2e/test_show.py": LIST.encode()}
    assert project.world.left_behind() == []


@pytest.mark.slow
@pytest.mark.accept("Y10")
@pytest.mark.parametrize(
    ("deed", "rule"),
    [
        (edit(LIST + OTHER), KEPT_TESTS),
        ({"delete": TESTS}, KEPT_TESTS),
        (edit(STALE.replace("1 + 1", "1 * 2")), OTHERS),
        ({"run": f"ln -sf /etc/passwd {TESTS}"}, FILES),
        (edit(ADD + citing("list", "# see them al\nnotes list", "notes list") + OTHER), EXACT),
    ],
)
def test_an_agent_that_never_mends_it_changes_nothing(project: Project, deed: Step, rule: str) -> None:
    write_tests(project, STALE)
    before = project.files()
    project.writer([deed], [])
    report = run(project, rounds=2)
    assert rule in [finding.rule for finding in report.findings]
    assert not report.is_green
    assert report.files == ()
    assert project.files() == before
    assert project.world.left_behind() == []


@pytest.mark.slow
def test_work_of_earlier_agents_can_still_be_had_when_a_later_one_fails(project: Project) -> None:
    write_tests(project, OLD_LIST)
    project.writer([{"run": "grep -q 'them all' tests/e2e/test_notes.py && exit 9; true"}, edit(LIST)])
    before = project.files()
    with pytest.raises(AgentFailedError) as failed:
        run(project)
    assert project.files() == before
    command = failed.value.hint.partition("some weeks: ")[2]
    assert command.startswith("git restore --source ")
    project.world.git(*shlex.split(command)[1:])
    assert (project.root / TESTS).read_text() == LIST


@pytest.mark.slow
def test_a_file_that_a_person_edits_meanwhile_is_not_overwritten(project: Project) -> None:
    write_tests(project, STALE)
    project.writer(
        [edit(ADD + LIST + OTHER), {"run": shlex.join(["touch", str(project.world.folder / "x")])}]
    )
    mine = shlex.join(["sh", "-c", 'echo "# mine" >> "$0"', str(project.root / TESTS)])
    project.writer([{"run": mine}, edit(ADD + LIST + OTHER)])
    with pytest.raises(mngr.RefusedError, match=f"nothing was written: {TESTS}"):
        run(project)
    assert (project.root / TESTS).read_text() == STALE + "# mine\n"


@pytest.mark.accept("Y10")
def test_what_is_in_step_already_needs_no_agent(project: Project) -> None:
    write_tests(project, ADD + LIST)
    report = run(project)
    assert (report.is_green, report.batches, report.files) == (True, (), ())
    assert project.world.left_behind() == []


@pytest.mark.accept("Y10", "Y13")
def test_the_prompt_tells_the_nearest_block_the_difference_and_the_tensions(project: Project) -> None:
    write_tests(project, OLD_LIST)
    plan = plan_sync(str(project.tutorial), [str(project.root / "tests/e2e")])
    assert plan.batches == ("1 stale citation", "2 blocks")
    assert "tests/e2e/test_notes.py:2 test_list" in plan.prompt
    assert "    tutorial  # see them all\n    citation  # see them\n" in plan.prompt
    for stage in ("- Arrange: ", "- Act: ", "- Assert: "):
        assert stage in plan.prompt
    assert "- `tests/e2e`\n" in plan.prompt


@pytest.mark.accept("Y1", "A9")
def test_a_big_tutorial_is_done_in_batches(project: Project) -> None:
    blocks = [f"# example {number}\nnotes add {number}" for number in range(345)]
    project.tutorial.write_text("\n\n".join(blocks) + "\n")
    plan = plan_sync(str(project.tutorial), [str(project.root / "tests/e2e")], author=project.author)
    assert plan.batches == ("20 blocks",) * 17 + ("5 blocks",)
    assert len(plan.prompt.encode()) < 64 * 1024


def test_a_tutorial_that_is_not_valid_shell_is_refused(project: Project) -> None:
    project.tutorial.write_text(TUTORIAL + '\necho "\n')
    with pytest.raises(mngr.UsageError, match="is not valid shell"):
        run(project)
