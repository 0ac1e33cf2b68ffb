"""The way in: what answers at once, and what is loaded for it."""

import re
import signal
import sys
from pathlib import Path

import pytest
from tests.cli.command import Mngr

import mngr as package
from mngr import process
from mngr.process import OnlyEnv

_SEE_MODULES = """
import sys
sys.argv = ["mngr", *sys.argv[1:]]
from mngr.__main__ import main
code = main()
sys.stderr.write("modules:" + " ".join(sorted(sys.modules)))
sys.exit(code)
"""
_NEVER = (
    "importlib.metadata rich logging jinja2 asyncio tempfile shutil concurrent.futures json tomllib "
    "dataclasses pathlib difflib pluggy mngr.actions.create.create mngr.hookspecs"
).split()


def modules_of(mngr: Mngr, *words: str) -> set[str]:
    ran = process.run(
        [sys.executable, "-c", _SEE_MODULES, *words], env=OnlyEnv(mngr.env), cwd=str(mngr.world.repo)
    )
    assert ran.code == 0, ran
    return set(ran.stderr.decode().rpartition("modules:")[2].split())


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] in ("mngr", "mngr_lib")}


_INTERRUPTED = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"


@pytest.mark.accept("U3")
def test_ctrl_c_before_anything_has_begun_is_the_end_without_a_word(mngr: Mngr, tmp_path: Path) -> None:
    (tmp_path / "early").mkdir()
    (tmp_path / "early/msgspec.py").write_text(_INTERRUPTED)
    done = mngr("list", PYTHONPATH=str(tmp_path / "early"))
    assert (done.code, done.stdout, done.stderr) == (128 + signal.SIGINT, "", "")


@pytest.mark.accept("S1")
def test_version_loads_nothing_of_ours(mngr: Mngr) -> None:
    assert mngr.ok("--version").stdout == f"mngr {package.__version__}\n"
    assert ours(modules_of(mngr, "--version")) == {"mngr", "mngr.__main__"}


@pytest.mark.accept("S1")
@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",)])
def test_help_loads_a_fixed_set_of_modules(mngr: Mngr, words: tuple[str, ...]) -> None:
    modules = modules_of(mngr, *words)
    assert ours(modules) == {
        "mngr",
        "mngr.__main__",
        "mngr.cli",
        "mngr.cli.overview",
        "mngr.cli.shipped",
        "mngr.errors",
        "mngr.registry",
    }
    assert not modules & {*_NEVER, "click"}
    assert mngr.ok(*words).stdout == mngr.ok("--help").stdout


@pytest.mark.accept("S1")
def test_list_loads_a_fixed_set_of_modules(mngr: Mngr) -> None:
    mngr.ok("create", "foo", "--", "sleep", "1000")
    modules = modules_of(mngr, "list")
    assert not modules & set(_NEVER)
    assert ours(modules) == set(_LIST.split())


_LIST = """
mngr_lib mngr_lib.files mngr_lib.proc mngr_lib.safe_text mngr_lib.trace mngr mngr.__main__ mngr.errors
mngr.process mngr.process_signals mngr.registry
mngr.actions mngr.actions.filter mngr.actions.list mngr.actions.manager mngr.actions.rows
mngr.agents mngr.agents.protocol
mngr.cli mngr.cli.app mngr.cli.call mngr.model.duration mngr.cli.errors mngr.cli.commands
mngr.cli.commands.list mngr.cli.option_groups mngr.cli.options mngr.cli.overview mngr.cli.records mngr.cli.render
mngr.cli.shipped mngr.cli.terminal_text mngr.cli.table mngr.cli.verb
mngr.config mngr.config.files mngr.config.keys mngr.config.layers mngr.config.locate mngr.config.schema
mngr.config.toml mngr.config.trust
mngr.hosts mngr.hosts.local mngr.hosts.protocol
mngr.model mngr.model.address mngr.model.agent mngr.model.event mngr.model.host mngr.model.ids mngr.model.labels
mngr.model.message
mngr.store mngr.store.fold mngr.store.paths mngr.store.probe mngr.store.state
mngr.store.rules mngr.store.untrusted mngr.sh mngr.sh.codes mngr.sh.program
mngr.tmux mngr.tmux.server
"""


@pytest.mark.accept("S3")
def test_create_loads_nothing_that_only_some_creations_need(mngr: Mngr) -> None:
    modules = modules_of(mngr, "create", "foo", "--no-connect", "--", "sleep", "60")
    assert "mngr.transfer.worktree" in modules
    assert not modules & {*_NEVER, *_NOT_IN_CREATE.split()} - {"mngr.actions.create.create"}


_NOT_IN_CREATE = """
hashlib mngr.actions.policy mngr.actions.audit
mngr.actions.list mngr.actions.message mngr.actions.targets mngr.actions.destroy mngr.cli.outcome mngr.cli.stdin
mngr.hosts.labels mngr.tmux.tree mngr.transfer.safe_paths mngr.transfer.discard mngr.transfer.fetch mngr.transfer.pack
mngr.transfer.refs mngr.transfer.view mngr.transfer.work_dir
"""


@pytest.mark.accept("U3")
def test_completion_loads_neither_click_nor_msgspec(mngr: Mngr) -> None:
    modules = modules_of(mngr, "__complete", "stop", "")
    assert ours(modules) == {"mngr", "mngr.__main__", "mngr.cli", "mngr.cli.complete", "mngr.cli.shipped"}
    assert not modules & {*_NEVER, "click", "msgspec", "subprocess"}


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("lits", '"list"'),
        ("creat", '"create"'),
        ("status", "mngr list"),
        ("delete", "mngr destroy"),
        ("send", "mngr message"),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_one(mngr: Mngr, word: str, hint: str) -> None:
    done = mngr(word)
    assert (done.code, done.stdout) == (2, "")
    assert f'error: no command "{word}"' in done.stderr
    assert hint in done.stderr


@pytest.mark.accept("K1")
@pytest.mark.parametrize(
    ("alias", "verb"), [("ls", "list"), ("ps", "list"), ("rm", "destroy"), ("logs", "capture")]
)
def test_an_alias_is_its_command(mngr: Mngr, alias: str, verb: str) -> None:
    assert mngr.ok(alias, "--help").stdout == mngr.ok(verb, "--help").stdout


def test_a_wrong_option_names_the_nearest(mngr: Mngr) -> None:
    done = mngr("list", "--wher", "x=y")
    assert done.code == 2
    assert done.stderr == 'error: no option "--wher"\nhint: did you mean "--where"?\n'


def test_an_option_before_the_command_is_told_its_place(mngr: Mngr) -> None:
    done = mngr("--json", "list")
    assert done.code == 2
    assert "hint: options come after the command" in done.stderr


class Plugin:
    """A distribution on the path, made of plain files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, source: str, help_line: str = "") -> "Plugin":
        package_dir = self.folder / f"{name}_plugin"
        package_dir.mkdir(parents=True)
        (package_dir / "__init__.py").write_text(source)
        if help_line:
            (package_dir / "mngr-plugin.txt").write_text(f"{name}: {help_line}\n")
        info = self.folder / f"{name}_dist-1.0.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_text(f"[mngr.commands]\n{name} = {name}_plugin:command\n")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-dist\nVersion: 1.0\n")
        return self


@pytest.mark.accept("K12")
def test_help_tells_of_a_plugin_without_importing_it(mngr: Mngr, tmp_path: Path) -> None:
    plugins = Plugin(tmp_path / "p").add("greet", "raise SystemExit('imported')", "says \x1b[31mhello")
    done = mngr.ok("--help", PYTHONPATH=str(plugins.folder))
    assert re.search(r"From plugins:\n(?:  .*\n)*  greet +says \\x1b\[31mhello", done.stdout)


@pytest.mark.accept("K12")
def test_a_plugin_command_runs_and_its_code_is_ours(mngr: Mngr, tmp_path: Path) -> None:
    source = "import click\n@click.command()\ndef command():\n    click.echo('hello')\n    return 8\n"
    plugins = Plugin(tmp_path / "p").add("greet", source, "says hello")
    done = mngr("greet", PYTHONPATH=str(plugins.folder))
    assert (done.code, done.stdout) == (8, "hello\n")


@pytest.mark.accept("K12")
@pytest.mark.parametrize("source", ["import nothing_of_this_name", "command = 3", "1 / 0"])
def test_a_broken_plugin_is_named_and_the_rest_works(mngr: Mngr, tmp_path: Path, source: str) -> None:
    plugins = Plugin(tmp_path / "p").add("greet", source)
    done = mngr("greet", PYTHONPATH=str(plugins.folder))
    assert done.code == 1
    assert 'plugin "greet-dist" is broken' in done.stderr
    assert "Traceback" not in done.stderr
    assert mngr("list", PYTHONPATH=str(plugins.folder)).code == 0
    listed = mngr("plugin", "list", "--json", PYTHONPATH=str(plugins.folder))
    if source != "command = 3":
        assert listed.code == 1
        assert "is broken" in listed.json[0]["problem"]
