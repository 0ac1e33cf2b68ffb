"""Tests become tasks: through pytest itself, at the base commit."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.tmr.project import Project

import mngr
from mngr_tmr.collect.collect import Collected, collect
from mngr_tmr.copies.copies import Copies

pytestmark = pytest.mark.slow

SUITE = """
    import pytest

    def test_plain(): pass

    class TestGroup:
        def test_inside(self): pass

    @pytest.mark.parametrize("word", ["a b", "c::d[e]", "-x", "$(id)"])
    def test_words(word): pass
"""
PLAIN = "def test_one(): pass\n"


def ids(collected: Collected) -> list[str]:
    return [task.node_id for task in collected.tasks]


@pytest.mark.accept("C1")
def test_node_ids_are_pytests_own(project: Project) -> None:
    project.commit(tests__test_suite=SUITE)
    found = collect(project.run(), manager=project.manager)
    assert ids(found) == [
        "tests/test_suite.py::test_plain",
        "tests/test_suite.py::TestGroup::test_inside",
        *[f"tests/test_suite.py::test_words[{word}]" for word in ("a b", "c::d[e]", "-x", "$(id)")],
    ]
    assert [(task.file, task.line) for task in found.tasks[:2]] == [
        ("tests/test_suite.py", 4),
        ("tests/test_suite.py", 7),
    ]
    assert found.command == (*project.run().pytest, "--collect-only", "-q")
    assert found.wrong_code == ""


@pytest.mark.accept("C1", "Q7")
@pytest.mark.parametrize(
    ("args", "chosen"),
    [
        (("tests/test_suite.py::test_words[a b]",), ["test_words[a b]"]),
        (("tests", "-k", "plain or inside"), ["test_plain", "test_inside"]),
        (("-k", "words and not plain", "tests/test_suite.py"), ["a b", "c::d[e]", "-x", "$(id)"]),
        (("tests/test_suite.py::test_words[c::d[e]]", "-o", "xfail_strict=true"), ["c::d[e]"]),
    ],
)
def test_paths_and_flags_reach_pytest_as_they_are(
    project: Project, args: tuple[str, ...], chosen: list[str]
) -> None:
    project.commit(tests__test_suite=SUITE, tests__test_other=PLAIN)
    found = collect(project.run(*args), manager=project.manager)
    assert len(found.tasks) == len(chosen)
    assert all(word in node_id for word, node_id in zip(chosen, ids(found), strict=True))


@pytest.mark.accept("C1", "Z2")
def test_a_component_with_its_own_settings_is_collected_in_its_own_folder(project: Project) -> None:
    (project.repo / "part one").mkdir()
    (project.repo / "part one/pytest.ini").write_text("[pytest]\npython_functions = check_*\n")
    (project.repo / "part one/tests").mkdir()
    (project.repo / "part one/tests/test_a.py").write_text("def check_it(): pass\n")
    project.commit()
    found = collect(project.run("tests", folder="part one"), manager=project.manager)
    assert [(task.node_id, task.file) for task in found.tasks] == [
        ("tests/test_a.py::check_it", "part one/tests/test_a.py")
    ]


@pytest.mark.accept("C1")
def test_what_flags_deselect_is_known_and_no_task(project: Project) -> None:
    project.commit(tests__test_suite=SUITE)
    found = collect(project.run("-k", "plain"), manager=project.manager)
    assert ids(found) == ["tests/test_suite.py::test_plain"]
    assert len(found.deselected) == 5


@pytest.mark.accept("C1")
def test_a_suite_that_is_spread_over_workers_is_collected_all_the_same(project: Project) -> None:
    project.commit(tests__test_suite=SUITE)
    assert len(collect(project.run("-n", "2"), manager=project.manager).tasks) == 6


@pytest.mark.accept("C2")
@pytest.mark.parametrize(
    ("source", "args", "said"),
    [
        ("import no_such_module\ndef test_one(): pass\n", (), "no_such_module"),
        ("def test_one(:\n", (), "SyntaxError"),
        ("x = 1\n", (), "no tests"),
        (PLAIN, ("-k", "nothing"), "1 deselected"),
        (PLAIN, ("tests/test_gone.py",), "file or directory not found"),
        (PLAIN, ("--no-such-flag",), "unrecognized arguments"),
    ],
)
def test_a_broken_or_empty_selection_stops_with_pytests_words(
    project: Project, source: str, args: tuple[str, ...], said: str
) -> None:
    project.commit(tests__test_a=source)
    with pytest.raises(mngr.MngrError, match=said) as caught:
        collect(project.run(*args), manager=project.manager)
    assert f"{' '.join(project.run().pytest)} --collect-only" in caught.value.hint


@pytest.mark.accept("C2")
def test_one_broken_file_stops_the_others_too(project: Project) -> None:
    project.commit(tests__test_a=PLAIN, tests__test_b="import no_such_module\n")
    with pytest.raises(mngr.MngrError, match=r"tests/test_b\.py"):
        collect(project.run("--continue-on-collection-errors"), manager=project.manager)


@pytest.mark.accept("C2")
def test_a_pytest_that_is_not_there_is_said(project: Project) -> None:
    project.commit(tests__test_a=PLAIN)
    run = replace(project.run(), pytest=("no-such-pytest",))
    with pytest.raises(mngr.MngrError, match="cannot run no-such-pytest"):
        collect(run, manager=project.manager)


@pytest.mark.accept("C4")
def test_warnings_and_prints_that_look_like_ids_are_none(project: Project) -> None:
    project.commit(
        tests__test_a="""
            import warnings
            warnings.warn("tests/test_b.py::test_never is old")
            print("tests/test_a.py::test_printed")
            def test_one(): pass
        """
    )
    assert ids(collect(project.run("-s"), manager=project.manager)) == ["tests/test_a.py::test_one"]


@pytest.mark.accept("C5")
@pytest.mark.parametrize("where", ["untracked", "changed", "staged"])
def test_tests_that_are_not_committed_stop_with_the_command_that_commits_them(
    project: Project, where: str
) -> None:
    base = project.commit(tests__test_a=PLAIN)
    name = "test_a" if where == "changed" else "test_new's"
    (project.repo / f"tests/{name}.py").write_text("def test_two(): pass\n")
    if where == "staged":
        project.world.git("add", "-A")
    with pytest.raises(mngr.RefusedError, match=name) as caught:
        collect(project.run("tests"), manager=project.manager)
    command = caught.value.hint.partition(": ")[2]
    mngr.run_program(["sh", "-ec", command], cwd=str(project.repo)).check("the hint")
    assert project.head() != base
    collect(project.run("tests"), manager=project.manager)


@pytest.mark.accept("C5")
def test_the_base_commit_is_collected_and_not_the_users_tree(project: Project) -> None:
    base = project.commit(tests__test_a=PLAIN, tests__test_b=PLAIN)
    (project.repo / "tests/test_b.py").unlink()
    project.write(other__test_c=PLAIN, app="x = 1\n")
    found = collect(project.run("tests", base=base), manager=project.manager)
    assert ids(found) == ["tests/test_a.py::test_one", "tests/test_b.py::test_one"]
    assert not (project.repo / "tests/test_b.py").exists()


@pytest.mark.accept("C1")
def test_cited_blocks_come_with_the_test(project: Project) -> None:
    (project.repo / "tutorial.sh").write_text("# say hello\nhello\n\nhello --loud\n")
    project.commit(
        tests__test_a='''
            import pytest

            @pytest.mark.parametrize("n", [1, 2])
            def test_one(e2e, n):
                e2e.write_tutorial_block("""
                    # say hello
                    hello
                """)

            def test_none(): pass
        '''
    )
    found = collect(project.run(tutorial="tutorial.sh"), manager=project.manager)
    assert [task.blocks for task in found.tasks] == [("# say hello\nhello",)] * 2 + [()]


def test_a_copy_that_is_open_already_is_used_and_kept(project: Project, tmp_path: Path) -> None:
    project.commit(tests__test_a=PLAIN)
    run = project.run()
    with Copies(run, manager=project.manager) as copies:
        before = copies.at(run.base)
        collect(run, copies)
        assert copies.at(run.base) is before
        assert len(mngr.list_agents(manager=project.manager).agents) == 1
