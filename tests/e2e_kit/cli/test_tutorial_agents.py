"""`mngr tutorial draft|sync|signals|install-command`, run for real."""

import json
import signal
from pathlib import Path

import pytest
from tests.cli.command import Mngr
from tests.e2e_kit.authoring.project import FIND, TAG, TUTORIAL, Project, instead, under
from tests.e2e_kit.tutorial.desk import citing

import mngr as api
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

ADD = citing("add", '# write a note\nnotes add "buy milk"', "notes add milk")
LIST = citing("list", "# see them all\nnotes list", "notes list")


@pytest.fixture
def project(mngr: Mngr) -> Project:
    bin_dir = mngr.world.folder / "bin"
    mngr.env["PATH"] = f"{bin_dir}:{mngr.env['PATH']}"
    return Project(mngr.world, bin_dir)


@pytest.mark.slow
@pytest.mark.accept("A2", "A3", "A5", "A7", "A8")
def test_draft_sends_inventions_back_and_marks_what_it_takes(mngr: Mngr, project: Project) -> None:
    (project.root / "docs" / "man").mkdir(parents=True)
    (project.root / "docs" / "man" / "notes.1").write_text(".TH NOTES 1\n")
    project.writer(
        [
            {"run": "grep -q NOTES docs/man/notes.1"},
            under(FIND, "notes list --search milk"),
            under(TAG, "notes add x --tag milk"),
        ],
        [instead("--search", "--tag")],
    )
    done = mngr("tutorial", "draft", "--type", "writer")
    assert done.code == 0, done
    assert "round 1: tutorial.sh:8: notes list has no option --search; see: notes list --help" in done.stderr
    assert "drafted  tutorial.sh:8" in done.stdout
    assert done.stdout.endswith("2 drafts to review: mngr tutorial review\n")
    assert mngr.ok("tutorial", "gaps").stdout.count("(draft, unreviewed)") == 2
    assert mngr("tutorial", "gaps", "--fail").code == 1
    assert "2 unreviewed drafts" in mngr("tutorial", "check", "tutorial.sh", ".").stdout
    (group,) = mngr.ok("tutorial", "signals", "--json").json["signals"]
    assert (group["kind"], group["command"], group["what"]) == ("unknown option", "notes list", "--search")
    assert "today  unknown option   notes list: --search" in mngr.ok("tutorial", "signals").stdout
    assert mngr.world.left_behind() == []


@pytest.mark.slow
@pytest.mark.accept("A8")
def test_draft_says_what_is_left_and_exits_with_it(mngr: Mngr, project: Project) -> None:
    project.writer([under(TAG, "notes list --tag x"), under(FIND, "notes find x")])
    done = mngr("tutorial", "draft", "--type", "writer", "--rounds", "1", "--json", "-q")
    assert (done.code, done.stderr) == (3, "")
    assert [left["gap"]["comment"] for left in done.json["left"]] == ["Finding notes again"]
    gap = done.json["left"][0]["gap"]["id"]
    project.writer([], [])
    done = mngr("tutorial", "draft", gap, "--type", "writer", "--rounds", "1")
    assert done.code == 1
    assert (
        f"left     tutorial.sh:8 ({gap}): Finding notes again\n    tutorial.sh:8: this gap has" in done.stdout
    )


@pytest.mark.slow
@pytest.mark.accept("A9", "A6", "A2")
def test_fifty_examples_and_gaps_are_a_place_to_start(mngr: Mngr, project: Project) -> None:
    examples = [f"# example {number}\nnotes add {number}" for number in range(50)]
    text = "\n\n".join(["#!/bin/sh", *examples[:25], FIND, *examples[25:], TAG]) + "\n"
    project.tutorial.write_text(text)
    fill = "grep -q '    {0}' .git/prompt && sed -i 's/^{0}$/&\\nnotes list/' tutorial.sh"
    project.writer(
        [
            {"edit": ".git/prompt", "text": "{message}"},
            *({"run": fill.replace("{0}", gap), "allow_fail": True} for gap in (FIND, TAG)),
        ]
    )
    done = mngr("tutorial", "draft", "--type", "writer", "--batch", "1")
    assert (done.code, done.stderr.count("agent tutorial-draft-")) == (0, 2), done
    after = project.tutorial.read_text()
    assert after == text.replace(f"{FIND}\n", f"{FIND}\n# draft: unreviewed\nnotes list\n").replace(
        f"{TAG}\n", f"{TAG}\n# draft: unreviewed\nnotes list\n"
    )
    assert mngr.ok("tutorial", "review", "--reject", "all", "--reason", "no").stdout.endswith(" 0 left\n")
    assert project.tutorial.read_text() == text


@pytest.mark.accept("A2", "A3", "Y13")
def test_a_dry_run_shows_the_prompt_and_starts_nothing(mngr: Mngr, project: Project) -> None:
    said = mngr.ok("tutorial", "draft", "--dry-run").stdout
    assert said.startswith("would draft:\n  tutorial.sh:8 (b")
    assert "$ notes --help" in said
    (project.root / "docs" / "man").mkdir(parents=True)
    (project.root / "manual.txt").write_text("notes list\n")
    assert "Read `docs/man` first" in mngr.ok("tutorial", "draft", "--dry-run").stdout
    assert (
        "Read `manual.txt` first"
        in mngr.ok("tutorial", "draft", "--dry-run", "--reference", "manual.txt").stdout
    )
    said = mngr.ok("tutorial", "sync", "--dry-run").stdout
    assert said.startswith("would start, one after the other:\n  agent 1: 2 blocks\n")
    assert "- Arrange: " in said
    assert mngr.world.left_behind() == []


def test_a_project_extends_the_prompt(mngr: Mngr, project: Project) -> None:
    prompts = project.root / ".mngr" / "prompts"
    prompts.mkdir(parents=True)
    (prompts / "draft.md").write_text(
        '{% extends "mngr/draft.md" %}{% block notes %}Our users speak Welsh.{% endblock %}'
    )
    setting = ("-S", "tutorial.prompts=.mngr/prompts")
    said = mngr.ok(*setting, "tutorial", "draft", "--dry-run").stdout
    assert "Our users speak Welsh." in said
    assert "Fill the gaps of a tutorial" in said
    (prompts / "draft.md").write_text("{{ ''.__class__.__mro__ }}")
    done = mngr(*setting, "tutorial", "draft", "--dry-run")
    assert (done.code, "cannot be made" in done.stderr) == (2, True), done


@pytest.mark.slow
@pytest.mark.accept("Y1", "Y9", "Y10", "Y12")
def test_sync_writes_the_tests_and_the_check_is_green(mngr: Mngr, project: Project) -> None:
    tests = project.root / "tests" / "e2e"
    tests.mkdir(parents=True)
    (tests / "test_a.py").write_text(ADD.replace("buy milk", "buy tea"))
    project.writer([{"edit": "tests/e2e/test_a.py", "text": ADD + LIST}])
    done = mngr("tutorial", "sync", "--type", "writer")
    assert done.code == 0, done
    assert done.stdout == "wrote tests/e2e/test_a.py\nok: 2 of 2 command blocks cited by 2 tests, 2 gaps\n"
    assert mngr.ok("tutorial", "check").code == 0
    again = mngr.ok("tutorial", "sync", "--type", "nobody")
    assert again.stdout.startswith("nothing to do: ")
    assert mngr.ok("tutorial", "sync", "--json").json["was_green"] is True


@pytest.mark.slow
@pytest.mark.accept("Y10")
def test_sync_is_red_when_something_is_left(mngr: Mngr, project: Project) -> None:
    project.writer([{"edit": "tests/e2e/test_a.py", "text": ADD}])
    done = mngr("tutorial", "sync", "--type", "writer", "--rounds", "1")
    assert done.code == 1
    assert "wrote tests/e2e/test_a.py\ntutorial.sh:10: no test cites this block" in done.stdout
    assert "FAILED: 1 of 2 command blocks cited" in done.stdout


@pytest.mark.slow
def test_an_interrupt_leaves_the_files_as_they_were_and_no_agent(mngr: Mngr, project: Project) -> None:
    before = project.files()
    project.writer([{"edit": "tests/e2e/test_a.py", "text": ADD}, {"say": "now hanging"}], then="hang")
    child = mngr.start("tutorial", "sync", "--type", "writer")
    manager = mngr.world.manager()

    def hangs() -> bool:
        agents = api.list_agents(manager=manager).agents
        return any("now hanging" in api.capture(agent.id, manager=manager) for agent in agents)

    assert wait_until(hangs, PATIENCE_S)
    child.send_signal(signal.SIGINT)
    stdout, stderr = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 130, (stdout, stderr)
    assert project.files() == before
    assert mngr.world.left_behind() == []


@pytest.mark.slow
def test_a_failed_agent_is_an_error_with_its_last_words(mngr: Mngr, project: Project) -> None:
    project.writer([{"say": "I give up"}], then="exit")
    done = mngr("tutorial", "draft", "--type", "writer", "-q")
    assert (done.code, done.stdout) == (1, "")
    assert 'error: agent "tutorial-draft-' in done.stderr
    assert "I give up" in done.stderr
    assert "hint: it was removed and nothing was changed" in done.stderr
    assert project.tutorial.read_text() == TUTORIAL


def test_an_unknown_type_starts_nothing(mngr: Mngr, project: Project) -> None:
    done = mngr("tutorial", "draft", "--type", "writter")
    assert (done.code, 'no agent type "writter"' in done.stderr) == (2, True), done
    assert mngr.world.left_behind() == []


@pytest.mark.accept("A7")
def test_signals_are_filtered_and_resolved(mngr: Mngr, project: Project) -> None:
    folder = project.root / ".mngr" / "tutorial"
    folder.mkdir(parents=True)
    entries = [
        {"entry": "signal", "at": at, "kind": "unknown option", "command": "notes\x1b[31m list", "what": what}
        for at, what in ((1_000_000_000.0, "--old"), (4_000_000_000.0, "--new"))
    ]
    (folder / "signals.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    assert "\x1b" not in mngr.ok("tutorial", "signals").stdout
    recent = mngr.ok("tutorial", "signals", "--since", "7d", "--json").json["signals"]
    assert [group["what"] for group in recent] == ["--new"]
    assert mngr.ok("tutorial", "signals", "--since", "2020-01-31").stdout.count("\n") == 1
    old = next(g for g in mngr.ok("tutorial", "signals", "--json").json["signals"] if g["what"] == "--old")
    mngr.ok("tutorial", "signals", "--resolve", old["id"], "--note", "it exists now")
    assert "--old" not in mngr.ok("tutorial", "signals").stdout
    assert "--old  (resolved: it exists now)" in mngr.ok("tutorial", "signals", "--all").stdout
    assert mngr("tutorial", "signals", "--resolve", "s00000000").code == 2
    assert mngr("tutorial", "signals", "--since", "soon").code == 2


@pytest.mark.accept("Y9")
def test_the_slash_command_is_written_and_not_over_someone_elses(mngr: Mngr, project: Project) -> None:
    path = project.root / ".claude/commands/sync-tutorial-to-e2e-tests.md"
    assert (
        "written; in Claude Code: /sync-tutorial-to-e2e-tests"
        in mngr.ok("tutorial", "install-command").stdout
    )
    assert "mngr tutorial check" in path.read_text()
    assert mngr.ok("tutorial", "install-command", "--json").json["changed"] is False
    path.write_text("mine\n")
    assert mngr("tutorial", "install-command").code == 6
    assert path.read_text() == "mine\n"
    mngr.ok("tutorial", "install-command", "--force")
    assert path.read_text() != "mine\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("revew",), 'did you mean "review"?'),
        (("draft", "b0000000000"), 'no gap "b0000000000"'),
        (("draft", "nope.sh"), "cannot read the tutorial"),
        (("draft", "--reference", "nope"), "no reference nope in the repository"),
        (("draft", "--reference", "../home"), "no reference ../home in the repository"),
        (("draft", "--timeout", "soon"), "is not a duration"),
        (("sync", "--rounds", "0"), "0 is not in the range"),
    ],
)
def test_a_wrong_word_is_a_usage_error(
    mngr: Mngr, project: Project, words: tuple[str, ...], said: str
) -> None:
    done = mngr("tutorial", *words)
    assert (done.code, said in done.stderr) == (2, True), done


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("rounds = 0", "tutorial.rounds must be"),
        ("type = 1", "tutorial.type must be a text"),
        ("rond = 1", "rounds"),
    ],
)
def test_a_wrong_setting_is_named(mngr: Mngr, project: Project, config: str, said: str) -> None:
    mngr.world.host_dir.mkdir(exist_ok=True)
    (mngr.world.host_dir / "config.toml").write_text(f"[tutorial]\n{config}\n")
    done = mngr("tutorial", "draft", "--dry-run")
    assert (done.code, said in done.stderr) == (2, True), done


def test_settings_come_from_the_config(mngr: Mngr, project: Project, tmp_path: Path) -> None:
    mngr.world.host_dir.mkdir(exist_ok=True)
    config = (
        '[tutorial]\nbatch = 1\nprogram = "echo"\nreference = "file.txt"\ntype = "nobody"\ntimeout = "5m"\n'
    )
    (mngr.world.host_dir / "config.toml").write_text(config)
    assert "  agent 2: 1 block\n" in mngr.ok("tutorial", "sync", "--dry-run").stdout
    assert "Read `file.txt` first" in mngr.ok("tutorial", "draft", "--dry-run").stdout
    assert 'no agent type "nobody"' in mngr("tutorial", "draft").stderr
