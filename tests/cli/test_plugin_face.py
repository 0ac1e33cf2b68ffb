"""`mngr.plugin` and `mngr.testing` are all that a plugin imports; other imports are answered clearly."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Mngr
from tests.cli.test_main import Plugin

import mngr.plugin
import mngr.testing
from mngr import registry
from mngr.cli.verb import Verb

ROOT = Path(__file__).parents[2]
_IMPORT = re.compile(r"^\s*(?:from|import) (mngr(?:\.\w+)+)|^\s*from (mngr) import", re.MULTILINE)
_ALLOWED = {"mngr.plugin", "mngr.testing"}
_GREETING = '''
from mngr.plugin import Call, verb
from msgspec import Struct


class Greeting(Struct, frozen=True):
    word: str


@verb("greet", examples="mngr greet")
def command(call: Call) -> None:
    """Greets."""
    call.output.check(Greeting)
    call.output.note(f"key {call.manager.config.section('greet')}")
    call.output.one(Greeting("hello"), lambda: "hello there")
'''


def deep_imports(text: str) -> list[str]:
    return [found for pair in _IMPORT.findall(text) if (found := pair[0] or pair[1]) not in _ALLOWED]


@pytest.mark.accept("H6")
def test_contributing_and_the_example_plugin_import_nothing_else() -> None:
    files = [ROOT / "CONTRIBUTING.md", *(ROOT / "examples/mngr-box").rglob("*.py")]
    files.append(ROOT / "examples/mngr-box/README.md")
    assert len(files) > 6
    assert {str(path): found for path in files if (found := deep_imports(path.read_text()))} == {}


@pytest.mark.parametrize(
    "line",
    ["from mngr.hosts.local import LocalHost", "   import mngr.cli.verb", "from mngr import process"],
)
def test_a_deep_import_is_seen(line: str) -> None:
    assert deep_imports(f"x\n{line}\n")


@pytest.mark.accept("H6")
@pytest.mark.parametrize("module", [mngr.plugin, mngr.testing])
def test_every_name_is_there_once_and_typed_as_it_is_loaded(module: Any) -> None:
    names = module.__all__
    file = module.__file__
    typed = re.findall(r"^    from ([\w.]+) import (\w+) as \2$", Path(file).read_text(), re.MULTILINE)
    assert sorted(name for _, name in typed) == names
    assert len(set(names)) == len(names)
    for home, name in typed:
        assert getattr(module, name) is getattr(sys.modules[home], name)
    assert set(names) <= set(dir(module))
    with pytest.raises(AttributeError, match="hovercraft"):
        getattr(module, "hovercraft")  # noqa: B009


def test_the_version_is_stated_and_importing_the_faces_loads_nothing() -> None:
    script = (
        "import sys, mngr.plugin, mngr.testing; print(mngr.plugin.API_VERSION, "
        "sorted(name for name in sys.modules if name.startswith('mngr.')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1 ['mngr.plugin', 'mngr.testing']"


@pytest.mark.accept("H6")
def test_a_command_made_with_verb_has_the_options_of_every_command(mngr: Mngr, tmp_path: Path) -> None:
    plugins = Plugin(tmp_path / "p").add("greet", _GREETING, "greets")
    env = {"PYTHONPATH": str(plugins.folder)}
    shown = mngr.ok("greet", "--help", **env).stdout
    own = mngr.ok("list", "--help").stdout
    for option in ("-S, --set", "--format", "--json", "-q, --quiet", "-v, --verbose"):
        assert option in own
        assert option in shown
    assert mngr.ok("greet", **env).stdout == "hello there\n"
    for words in (("--json",), ("--format", "json")):
        assert mngr.ok("greet", *words, **env).json == {"word": "hello"}
    assert mngr.ok("greet", "--format", "<{word}>", **env).stdout == "<hello>\n"
    assert "'loud': 'yes'" in mngr.ok("greet", "-S", "greet.loud=yes", **env).stderr
    assert mngr.ok("greet", "-q", "-S", "greet.loud=yes", **env).stderr == ""
    assert mngr.ok("greet", "-v", **env).code == 0


_DEEP = [
    ("mngr.hosts.docker", "DockerProvider", "mngr.plugin"),
    ("mngr.hosts.conformance", "HostConformance", "mngr.testing"),
    ("mngr.hosts.faulty", "FaultyProvider", "mngr.testing"),
    ("mngr.hosts.marked", "marked_program", "mngr.plugin"),
    ("mngr.hosts.keeper", "keeper_argv", "mngr.plugin"),
    ("mngr.agents.conformance", "AgentTypeConformance", "mngr.testing"),
    ("mngr.transfer.conformance", "TransferConformance", "mngr.testing"),
    ("mngr.cli.hosts", "anything", "mngr.plugin"),
]


@pytest.mark.parametrize(("module", "name", "face"), _DEEP)
def test_an_import_that_has_moved_is_answered_with_its_new_place(
    mngr: Mngr, tmp_path: Path, module: str, name: str, face: str
) -> None:
    plugins = Plugin(tmp_path / "p").add("greet", f"from {module} import {name}\n", "greets")
    done = mngr("greet", PYTHONPATH=str(plugins.folder))
    assert (done.code, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 2, done.stderr
    assert 'plugin "greet-dist" is written for another version of mngr: command "greet"' in done.stderr
    assert f"imports what is not in {module} any more" in done.stderr
    assert f"hint: import it from {face}," in done.stderr


def test_a_plugin_that_lacks_something_else_is_still_broken(mngr: Mngr, tmp_path: Path) -> None:
    plugins = Plugin(tmp_path / "p").add("greet", "import nothing_of_this_name\n", "greets")
    done = mngr("greet", PYTHONPATH=str(plugins.folder))
    assert 'plugin "greet-dist" is broken' in done.stderr


def test_the_example_command_is_a_verb() -> None:
    entry = registry.RegistryEntry(registry.COMMANDS, "boxes", "mngr_box.boxes:command", "mngr-box")
    assert isinstance(registry.load_entry(entry), Verb)
