"""The example plugin is installed as a stranger would install it, found without being imported, and used."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from mngr_box.provider import BoxProvider
from tests.support.needs import needs

from mngr import process
from mngr.process import CommandFailedError, Completed

pytestmark = [pytest.mark.accept("K12"), pytest.mark.slow]

_PLUGIN = Path(__file__).parents[2] / "examples/mngr-box"

_FIND = """
import sys
from mngr import registry
for entry in registry.plugin_entries():
    if entry.distribution == "mngr-box":
        print(entry.group, entry.name, entry.distribution)
print(registry.plugin_commands()["boxes"])
print("mngr_box" in sys.modules)
"""
_USE = """
from mngr.actions.create.create import create
from mngr.actions.destroy import destroy
from mngr.actions.list import list_agents
from mngr.actions.manager import Manager
from mngr.actions.message import message
from mngr.process import wait_until

manager = Manager()
agent = create("tally@.box", type="counter", args=("2",), transfer="none", manager=manager).agent
print(agent.type, agent.state, agent.host.provider)
print(message(agent, "one", manager=manager).receipt.status)
message(agent, "two", manager=manager)  # it ends on reading this, perhaps before its receipt
ended = lambda: [agent.exit_code for agent in list_agents(manager=manager).agents if agent.state == "DONE"]
print(wait_until(ended, 90))
destroy("tally", manager=manager)
print(len(list_agents(manager=manager).agents), manager.warnings)
"""
_BROKEN = """
from mngr import registry
for name in ("cracked", "box"):
    try:
        print(name, registry.load(registry.PROVIDERS, name).__name__)
    except registry.PluginError as error:
        print(error.message)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A directory with the built and installed plugin."""
    site = tmp_path_factory.mktemp("site")
    source = shutil.copytree(_PLUGIN, tmp_path_factory.mktemp("source") / "mngr-box")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    argv = [*pip, "--no-build-isolation", "--no-index", "--target", str(site), str(source)]
    process.run(argv, timeout_s=120).check("install the plugin")
    return str(site)


@pytest.fixture
def host_dir(tmp_path: Path) -> Iterator[str]:
    yield str(tmp_path / "host")
    provider = BoxProvider(str(tmp_path / "host"))
    for ref in provider.hosts():
        provider.destroy(ref.name)


def test_what_it_adds_is_found_without_importing_it(installed: str, host_dir: str) -> None:
    *entries, help_line, was_imported = _python(installed, host_dir, "-c", _FIND).text.splitlines()
    assert sorted(entries) == [
        "mngr.agent_types counter mngr-box",
        "mngr.commands boxes mngr-box",
        "mngr.hooks journal mngr-box",
        "mngr.providers box mngr-box",
    ]
    assert help_line == "the boxes on this machine, running and stopped"
    assert was_imported == "False"


def test_its_agent_type_runs_on_its_provider_and_its_hook_is_told(installed: str, host_dir: str) -> None:
    needs("mount and process namespaces", "unshare", *_user(), "-m", "-p", "-f", "--mount-proc", "true")
    journal = f"{host_dir}.journal"
    done = _python(installed, host_dir, "-c", _USE, MNGR_BOX_JOURNAL=journal)
    assert done.text.splitlines() == ["counter RUNNING box", "delivered", "[0]", "0 []"]
    address, agent_type = Path(journal).read_text().split()
    assert address.startswith("tally@tally-")
    assert (address.rpartition(".")[2], agent_type) == ("box", "counter")
    assert BoxProvider(host_dir).hosts() == []


def test_its_command_is_a_command_of_mngr(installed: str, host_dir: str) -> None:
    os.makedirs(f"{host_dir}/providers/box/asleep")
    done = _python(installed, host_dir, "-m", "mngr", "boxes", "--json")
    (shown,) = msgspec.json.decode(done.stdout)
    assert (shown["name"], shown["provider"], shown["state"]) == ("asleep", "box", "STOPPED")
    assert _python(installed, host_dir, "-m", "mngr", "boxes").text == "asleep\tSTOPPED\n"


def test_a_broken_plugin_is_named_and_the_rest_goes_on(installed: str, host_dir: str, tmp_path: Path) -> None:
    site = shutil.copytree(installed, tmp_path / "site")
    [entry_points] = site.glob("mngr_box-*.dist-info/entry_points.txt")
    cracked = "[mngr.providers]\ncracked = mngr_box.nothing:Nothing"
    entry_points.write_text(entry_points.read_text().replace("[mngr.providers]", cracked))
    first, second = _python(str(site), host_dir, "-c", _BROKEN).text.splitlines()
    assert first.startswith('plugin "mngr-box" is broken: provider "cracked" (mngr_box.nothing:Nothing)')
    assert second == "box BoxProvider"


def _python(site: str, host_dir: str, *words: str, **env: str) -> Completed:
    """A fresh interpreter beside an installed plugin, with a home of its own."""
    home = f"{host_dir}.home"
    os.makedirs(home, exist_ok=True)
    around = {"PYTHONPATH": site, "MNGR_HOST_DIR": host_dir, "HOME": home, **env}
    done = process.run([sys.executable, *words], env=around, cwd=home, timeout_s=120)
    if done.code != 0:
        raise CommandFailedError("python beside the plugin", done)
    return done


def _user() -> tuple[str, ...]:
    return () if os.geteuid() == 0 else ("-U", "--map-root-user")
