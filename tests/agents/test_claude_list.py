"""A list with many Claude Codes costs what one with as many plain commands costs."""

import sys
from collections.abc import Mapping, Sequence

import pytest
from tests.support.world import World

import mngr
from mngr import process
from mngr.hosts.local import LocalHost, LocalProvider
from mngr.process import Completed, OnlyEnv

pytestmark = pytest.mark.accept("K14", "S4")

COUNT = 20
SEE_MODULES = """
import sys
sys.argv = ["mngr", "list"]
from mngr.__main__ import main
main()
sys.stderr.write("modules:" + " ".join(sorted(sys.modules)))
"""


class CountingHost(LocalHost):
    """This machine, and how often it was asked to do something."""

    ran: list[str]

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Completed:
        self.ran.append(argv[-1])
        return super().run(argv, stdin=stdin, timeout_s=timeout_s, env=env, cwd=cwd)

    def read(self, path: str) -> bytes:
        self.ran.append(path)
        return super().read(path)


class CountingProvider(LocalProvider):
    def __init__(self, host_dir: str) -> None:
        super().__init__(host_dir)
        self._host = CountingHost(host_dir)
        self._host.ran = []
        self.host = self._host


def make(world: World, type: str, args: tuple[str, ...]) -> None:
    programs = world.folder / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "claude").write_text("#!/bin/sh\nexec sleep 1000\n")
    (programs / "claude").chmod(0o755)
    world.env["PATH"] = f"{programs}:{world.env['PATH']}"
    manager = world.manager()
    wanted = [
        (number, mngr.CreateSpec(name=f"a{number}", type=type, args=args, transfer="none"))
        for number in range(COUNT)
    ]
    made = dict(mngr.create_many(wanted, jobs=4, manager=manager))
    assert all(isinstance(change, mngr.Change) for change in made.values())


def loaded(world: World) -> set[str]:
    """The modules that `mngr list` loads."""
    done = process.run([sys.executable, "-c", SEE_MODULES], env=OnlyEnv(world.env), cwd=str(world.repo))
    return set(done.stderr.decode().rpartition("modules:")[2].split())


CLAUDE = {f"mngr.agents.{name}" for name in ("claude", "claude.phase", "shared", "shared.question_end")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("type", "args", "own"),
    [
        ("command", ("sleep", "1000"), {"mngr.agents.protocol"}),
        ("claude", (), {"mngr.agents.protocol", *CLAUDE}),
    ],
)
def test_one_process_looks_at_all_of_them_and_one_small_module_is_loaded(
    world: World, type: str, args: tuple[str, ...], own: set[str]
) -> None:
    make(world, type, args)
    provider = CountingProvider(str(world.host_dir))
    agents = mngr.list_agents(manager=world.manager(local=provider)).agents
    assert len(agents) == COUNT
    assert len(provider.host.ran) == 1
    modules = loaded(world)
    assert {name for name in modules if name.startswith("mngr.agents.")} == own
    assert not {"json", "tomllib", "unicodedata"} & modules
