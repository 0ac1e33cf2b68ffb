"""Which code was tested: every way a project is installed, and what tests really start and import."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.needs import needs
from tests.tmr.publish.installs import BLACK_BOX, CODE, TEST, Checkouts, executable, make_template

from mngr_tmr.copies.facts import PytestFacts

pytestmark = [pytest.mark.slow, pytest.mark.accept("M17")]

PROGRAM = "#!python\nimport greeter\ngreeter.main()\n"
PROJECT = {"greeter/__init__.py": CODE, "bin/greet": PROGRAM, "README": "", "tests/data": ""}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_template(tmp_path_factory.mktemp("template") / "venv")


@pytest.fixture
def make(tmp_path: Path, template: Path) -> Callable[..., Checkouts]:
    def made(files: dict[str, str], argv: object = None, **programs: tuple[str, ...]) -> Checkouts:
        project = Checkouts(tmp_path, template)
        project.programs = programs.get("programs", ())
        test = {"tests/test_greet.py": BLACK_BOX.format(argv=argv)} if argv else {}
        project.write({**files, **test})
        return project

    return made


def runs(facts: PytestFacts, node_id: str = "") -> list[tuple[str, str]]:
    """What was seen to run or to be imported, by one test or at all, and where it lies."""
    return [(one.what, one.place) for one in facts.origins if one.used and node_id in ("", one.node_id)]


@pytest.mark.parametrize("how", ["hatch", "flit", "setuptools", "develop", "regular"])
def test_an_install_of_the_users_checkout_is_wrong_code_however_it_was_made(
    make: Callable[..., Checkouts], how: str, tmp_path: Path
) -> None:
    """`python -m pytest` imports the copy's modules, and the program on the PATH is another."""
    project = make(PROJECT, ["greet"])
    project.environment(tmp_path / "venv").install(how, project.checkout)
    project.make_copy()
    for file in ("bin/greet", "greeter/__init__.py"):
        (project.copy / file).write_text("raise RuntimeError('planted')\n")
    facts = project.judge()
    assert "greet comes from " in facts.wrong_code
    assert str(project.copy) not in facts.wrong_code
    if how == "setuptools":
        checked = project.helper("check")
        assert checked.code == 3, checked
        assert checked.text.count("wrong code under test") == checked.text.count("outside this working copy")
        assert "greet: " not in checked.text


@pytest.mark.parametrize("how", ["hatch", "setuptools", "develop", "regular"])
def test_an_environment_of_the_copys_own_is_the_right_code_though_the_users_is_on_the_path_too(
    make: Callable[..., Checkouts], how: str, tmp_path: Path
) -> None:
    project = make(PROJECT, ["sh", "-c", "env -i sh ./run-it"])
    project.environment(tmp_path / "venv").install("hatch", project.checkout)
    own = project.environment(project.state)
    project.write({"run-it": f"#!/bin/sh\n{own.bin}/greet\n"})
    project.make_copy()
    own.install(how, project.copy)
    facts = project.judge()
    assert (facts.wrong_code, facts.cannot_tell(TEST)) == ("", "")
    assert ("import greeter in greet", "inside") in runs(facts), "below a shell and without any variable"
    assert list(own.site.glob("mngr-result*")) == []
    if how == "setuptools":
        checked = project.helper("check")
        assert checked.code == 0, checked
        assert f"greet: {project.copy}/greeter/__init__.py, in this working copy" in checked.text
        head = f"#!/bin/sh\n'''exec' \"{own.bin}/python\" \"$0\" \"$@\"\n' '''\n"
        executable(own.bin / "greet", head + PROGRAM.partition("\n")[2])
        assert project.judge().wrong_code == ""
        (project.copy / "bin/greet").write_text("#!python\nraise RuntimeError('planted')\n")
        assert project.judge().wrong_code == f"greet comes from {own.bin}/greet", "it was installed before"
        (project.copy / "bin/greet").write_text(PROGRAM + "# changed\n")
        run_file = (
            f"__file__ = '{project.copy}/bin/greet'\nexec(compile(open(__file__).read(), __file__, 'exec'))\n"
        )
        executable(own.bin / "greet", head + run_file)
        assert project.judge().wrong_code == "", "it runs the file in the copy"


def test_an_install_that_is_no_link_is_the_copys_only_while_both_are_equal(
    make: Callable[..., Checkouts],
) -> None:
    project = make({**PROJECT, "greeter/more.py": "", "conftest.py": "import greeter\n"}, ["greet"])
    own = project.environment(project.state)
    project.pytest = (str(own.bin / "python"), "-P", "-m", "pytest", "--import-mode=importlib")
    project.make_copy()
    own.install("regular", project.copy)
    assert project.judge().wrong_code == ""
    (project.copy / "greeter/more.py").write_text("changed = True\n")
    assert f"{own.site}/greeter/__init__.py" in project.judge().wrong_code


LAYOUTS = {
    "in_src": "src/in_src/__init__.py",
    "flat": "flat/__init__.py",
    "single": "single.py",
    "acme.named": "src/acme/named/__init__.py",
    "far": "lib/py/far/__init__.py",
}


@pytest.mark.parametrize("place", ["copy", "checkout"])
def test_imports_are_followed_in_every_layout(make: Callable[..., Checkouts], place: str) -> None:
    """Packages, modules and namespaces, in the usual folders and in one of their own; a conftest says where."""
    imports = "".join(f"import {name}\n" for name in LAYOUTS)
    # Below a package of the copy pytest imports that package itself, from the copy.
    tests = "flat/tests" if place == "copy" else "tests"
    project = make(
        {
            **dict.fromkeys(LAYOUTS.values(), CODE),
            f"{tests}/__init__.py": "",
            f"{tests}/test_greet.py": f"{imports}\ndef test_greets(): pass\n",
            "conftest.py": "import sys; sys.path[:0] = open('path').read().split()\n",
        }
    )
    project.pytest = (*project.pytest, "--import-mode=importlib")
    project.make_copy()
    top = getattr(project, place)
    (project.copy / "path").write_text(f"{top}/src {top} {top}/lib/py")
    facts = project.judge()
    for name, path in LAYOUTS.items():
        if place == "copy":
            assert (f"import {name}", "inside") in runs(facts)
        else:
            assert f"import {name} comes from {top}/{path}" in facts.wrong_code
    assert bool(facts.wrong_code) == (place == "checkout")


STARTS = {
    "by_path": "subprocess.run(['./{0}'], check=True)",
    "shell": "subprocess.run('cd . && FOO=bar {1} | cat', shell=True, check=True)",
    "interpreter": "subprocess.run(['sh', '{1}'], check=True)",
    "wrapper": "subprocess.run(['env', 'X=1', 'timeout', '60', '{1}'], check=True)",
    "its_own_path": "subprocess.run(['sh', '-c', 'PATH=\"{2}:$PATH\"; {0}'], check=True)",
    "system": "assert os.system('{1} >/dev/null') == 0",
    "posix_spawn": "os.waitpid(os.posix_spawn('{1}', ['{0}'], os.environ), 0)",
    "spawn": "assert os.spawnv(os.P_WAIT, '{1}', ['{0}']) == 0",
    "exec_after_fork": "pid = os.fork() or os.execv('{1}', ['{0}'])\n    os.waitpid(pid, 0)",
    "pty": "import pty; pty.spawn(['{1}'])",
}
NOTHING = {
    "nothing": "pass",
    "builtins": "subprocess.run('cd /; echo hello; test -d /', shell=True, check=True)",
}


def test_programs_are_seen_however_they_are_started(make: Callable[..., Checkouts], tmp_path: Path) -> None:
    """One in the copy, and one of no distribution: it may be the program under test, installed long ago."""
    inside, outside = ("tool", "./tool", "."), ("other", f"{tmp_path}/programs/other", f"{tmp_path}/programs")
    body = "import os, subprocess\n"
    for name, text in STARTS.items():
        body += f"def test_in_{name}():\n    {text.format(*inside)}\n"
        body += f"def test_out_{name}():\n    {text.format(*outside).replace('./other', 'other')}\n"
    body += "".join(f"def test_{name}():\n    {text}\n" for name, text in NOTHING.items())
    body += "def test_reads():\n    subprocess.run(['sh'], input=b'other', check=True)\n"
    project = make(
        {"tool": "#!/bin/sh\necho hello\n", "tests/test_greet.py": body + "test_greets = test_out_shell\n"}
    )
    executable(tmp_path / "programs/other", "#!/bin/sh\necho hello\n")
    project.path = f"{tmp_path}/programs:{project.path}"
    project.make_copy()
    facts = project.judge("-s")
    assert facts.wrong_code == ""
    for name in STARTS:
        own, other = (f"tests/test_greet.py::test_{where}_{name}" for where in ("in", "out"))
        assert any(place == "inside" for _, place in runs(facts, own)), name
        assert facts.cannot_tell(own) == ""
        assert f"({tmp_path}/programs/other)" in facts.cannot_tell(other)
        assert "state the program under test: --program NAME" in facts.cannot_tell(other)
    for name in NOTHING:
        assert facts.cannot_tell(f"tests/test_greet.py::test_{name}") == ""
    assert "started sh (" in facts.cannot_tell("tests/test_greet.py::test_reads")

    tried = project.helper("try")
    assert tried.code == 0, tried
    assert "cannot tell which code was tested: the test started " in tried.text
    checked = project.helper("check")
    assert checked.code == 0, checked
    assert "no code of this working copy is seen yet" in checked.text


@pytest.mark.parametrize("language", ["sh", "node"])
def test_a_program_of_another_language_is_stated_and_checked_by_where_it_lies(
    make: Callable[..., Checkouts], language: str, tmp_path: Path
) -> None:
    if language == "node":
        needs("node", "node", "--version")
    text = "console.log('hello')\n" if language == "node" else "echo hello\n"
    project = make({"cli/greet": f"#!/usr/bin/env {language}\n{text}"}, ["greet"], programs=("greet",))
    link = tmp_path / "programs/greet"
    link.parent.mkdir()
    link.symlink_to(project.folder / "copy/cli/greet")
    project.path = f"{link.parent}:{project.path}"
    project.make_copy()
    facts = project.judge()
    assert (facts.wrong_code, facts.cannot_tell(TEST)) == ("", "")
    assert ("greet", "inside") in runs(facts)
    assert f"greet: {project.copy}/cli/greet, in this working copy" in project.helper("check").text
    if language == "sh":
        return
    link.unlink()
    executable(link, f"#!/usr/bin/env {language}\n{text}")
    assert project.judge().wrong_code == f"greet comes from {link}"


def test_a_program_of_the_copy_that_imports_the_users_checkout_is_wrong_code(
    make: Callable[..., Checkouts], tmp_path: Path
) -> None:
    """And one that arranges its own imports is taken at its word."""
    text = "#!/usr/bin/env python3\n{0}import greeter\ngreeter.main()\n"
    mended = text.format("import sys\nsys.path.insert(0, sys.argv[0].rpartition('/bin/')[0])\n")
    project = make({**PROJECT, "bin/greet": text.format(""), "bin/other": mended}, ["bin/greet"])
    project.environment(tmp_path / "venv").install("hatch", project.checkout)
    (project.folder / "venv/bin/greet").unlink()
    project.make_copy()
    assert f"bin/greet comes from {project.checkout}/greeter/__init__.py" in project.judge().wrong_code
    (project.copy / "tests/test_greet.py").write_text(
        "import subprocess\ndef test_greets(): subprocess.run(['./bin/other'], check=True)\n"
    )
    facts = project.judge()
    assert (facts.wrong_code, facts.cannot_tell(TEST)) == ("", "")


def test_another_project_with_a_package_of_the_same_name_is_no_wrong_code(
    make: Callable[..., Checkouts], tmp_path: Path
) -> None:
    """Lone modules, and distributions that share one name and have others."""
    body = "import subprocess, theirs, greeter\ndef test_greets(): subprocess.run(['their'], check=True)\n"
    project = make({**PROJECT, "app.py": "", "tests/test_greet.py": body})
    venv = project.environment(tmp_path / "venv")
    (venv.site / "their-1.dist-info").mkdir()
    (venv.site / "their-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: their\nVersion: 1\n")
    (venv.site / "their-1.dist-info/RECORD").write_text(
        "greeter/more.py,,\ntheirs.py,,\n../../../bin/their,,\n"
    )
    for name in ("theirs.py", "app.py"):
        (venv.site / name).write_text("")
    executable(venv.bin / "their", f"#!{venv.bin}/python\nimport app, theirs\n")
    project.make_copy()
    facts = project.judge()
    assert (facts.wrong_code, facts.cannot_tell(TEST)) == ("", "")


def test_python_m_and_a_program_that_starts_itself_again_are_followed(
    make: Callable[..., Checkouts], tmp_path: Path
) -> None:
    again = (
        "import os, sys\nif len(sys.argv) < 2: os.execv(sys.executable, [sys.executable, *sys.argv, 'x'])\n"
        "import greeter\ngreeter.main()\n"
    )
    project = make(
        {**PROJECT, "again.py": again, "greeter/__main__.py": "from greeter import main\nmain()\n"},
        ["python3", "again.py"],
    )
    project.environment(project.state)
    project.make_copy()
    seen = runs(project.judge())
    assert ("again.py", "inside") in seen
    assert ("import greeter in again.py", "inside") in seen
    (project.copy / "tests/test_greet.py").write_text(
        "import subprocess, sys\n"
        "def test_greets(tmp_path): subprocess.run([sys.executable, '-m', 'greeter'], check=True)\n"
    )
    facts = project.judge()
    assert any(what == "import greeter in -m" and place == "inside" for what, place in runs(facts)), (
        facts.origins
    )
    assert facts.cannot_tell(TEST) == ""


def test_without_an_environment_of_its_own_children_that_inherit_their_variables_are_seen_too(
    make: Callable[..., Checkouts],
) -> None:
    """And a `sitecustomize` that was there does its work, with the variables and paths that it would have had."""
    body = """
        import json, os, subprocess, sys
        CODE = "import greeter, json, os, sys, sitecustomize as s; "
        CODE += "print(json.dumps([sys.path, {**os.environ}, s.there]))"
        def test_greets():
            assert "PYTHONPATH" not in os.environ or os.environ["PYTHONPATH"].endswith("/site")
            done = subprocess.run(["sh", "run-it", sys.executable, CODE], stdout=-1, check=True)
            paths, env, there = json.loads(done.stdout)
            assert there is True
            assert env["PYTHONPATH"] == os.getcwd() + "/site"
            assert not [path for path in paths if "mngr-result" in path]
            for words in (["-I"], ["-E"], ["-X", "dev", "-W", "error"]):
                done = subprocess.run([sys.executable, *words, "-c", "print(1)"], capture_output=True)
                assert (done.returncode, done.stdout, done.stderr) == (0, b"1\\n", b"")
    """
    files = {"site/sitecustomize.py": "there = True\n", "run-it": '#!/bin/sh\n"$1" -c "$2"\n'}
    project = make({**PROJECT, **files, "tests/test_greet.py": body})
    project.env["PYTHONPATH"] = f"{project.copy}/site"
    project.make_copy()
    facts = project.judge()
    assert ("import greeter in -c", "inside") in runs(facts)
    assert facts.cannot_tell(TEST) == ""


def test_what_is_seen_of_children_changes_nothing_in_them(make: Callable[..., Checkouts]) -> None:
    """Nothing on its streams, in its variables or on its paths; a facts file that is gone is silence."""
    body = """
        import json, os, subprocess, sys
        CODE = "import json, os, sys, warnings; print(json.dumps([sys.path, dict(os.environ), sys.flags.dev_mode]))"
        def test_greets():
            for words in (["-X", "dev", "-W", "error"], ["-I"], ["-S"], ["-E"]):
                done = subprocess.run([sys.executable, *words, "-c", CODE], capture_output=True, env={})
                assert (done.returncode, done.stderr) == (0, b"")
                paths, env, _ = json.loads(done.stdout)
                assert not [path for path in paths if "mngr-result" in path]
                assert not set(env) - {"LC_CTYPE"}
            assert not [name for name in os.environ if "TMR" in name or name == "PYTHONPATH"]
            sites = [path for path in sys.path if path.endswith("site-packages")]
            assert [name for site in sites for name in os.listdir(site) if name.startswith("mngr-result")]
    """
    project = make({**PROJECT, "tests/test_greet.py": body})
    project.environment(project.state)
    project.make_copy()
    project.judge()
    (site,) = project.state.glob("lib/python*/site-packages")
    (site / "mngr-result-old.pth").write_text(
        "import os, _frozen_importlib_external as e; p = '/nowhere'; "
        "os.path.isfile(p) and exec(e.FileLoader('', p).get_data(p), {})\n"
    )
    assert project.sh(f"{project.state}/bin/python -c 'print(1)'", project.copy).text == "1\n"


@pytest.mark.accept("Q5")
def test_what_tests_write_into_the_notes_is_data(make: Callable[..., Checkouts]) -> None:
    body = """
        import glob, os
        def test_greets():
            (path,) = glob.glob(os.environ["MNGR_AGENT_STATE_DIR"] + "/mngr-result-*/facts.jsonl")
            with open(path, "ab") as file:
                file.write(b'{"kind": "origin", "what": "x", "path": "/x", "place": "outside"}\\n')
                for kind in ("module", "child", "started", "installed", "python"):
                    for rest in ('"path": 3', '"names": 7, "wrapped": [1], "copied": null', '"word": [], "path": {}'):
                        file.write(('{"kind": "%s", "name": [], %s}\\n' % (kind, rest)).encode())
    """
    project = make({**PROJECT, "tests/test_greet.py": body})
    project.make_copy()
    facts = project.judge()
    assert facts.wrong_code == ""
    assert facts.unreadable == 0
