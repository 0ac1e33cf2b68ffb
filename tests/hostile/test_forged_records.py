"""Whatever one agent's files hold, it is that agent's row: no verb raises, no other row changes, and it can be removed.

`MNGR_TEST_FORGED=10000` says how many forged agents there are, `MNGR_TEST_SEED` which.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

import msgspec
import pytest
from tests.hostile.forge import TARGET, Forge, Forged
from tests.support.world import World

import mngr
from mngr.actions.capture import cast
from mngr.actions.destroy import destroy_rows
from mngr.actions.explain import explain
from mngr.actions.gc.gc import find_garbage
from mngr.actions.list import look_and_list
from mngr.actions.manager import Manager
from mngr.actions.rows import Row, key_of
from mngr.actions.transcript import transcript
from mngr.actions.usage import usage_of_rows
from mngr.errors import MngrError
from mngr.model.agent import Agent, Change
from mngr.model.ids import is_valid_name
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

FORGED = int(os.environ.get("MNGR_TEST_FORGED", "300"))
SEED = int(os.environ.get("MNGR_TEST_SEED", "12"))
BATCH = 100
SLEEP = ("sleep", "100000")


@contextmanager
def bystander() -> Iterator[int]:
    """A process of the same user, leader of its own session, that no agent has to do with."""
    child = subprocess.Popen(["sleep", "100000"], start_new_session=True, env={"PATH": os.environ["PATH"]})
    try:
        yield child.pid
        assert child.poll() is None, "a process that was no agent's was ended"
    finally:
        child.kill()
        child.wait()


def healthy(world: World) -> list[str]:
    """The ids of agents that nothing happens to: one that runs, one that ended, one that was stopped."""
    manager = world.manager()
    ids = [
        mngr.create("runs", args=SLEEP, labels={"k": "v"}, manager=manager).agent.id,
        mngr.create("ended", args=("true",), manager=manager).agent.id,
        mngr.create("stopped", args=SLEEP, manager=manager).agent.id,
    ]
    mngr.stop("stopped", manager=manager)
    assert wait_until(lambda: row_of(ids[1], manager).state == "DONE", PATIENCE_S)
    return ids


def row_of(agent_id: str, manager: Manager) -> Agent:
    (found,) = [agent for agent in mngr.list_agents(manager=manager).agents if agent.id == agent_id]
    return found


def rows_of(ids: Sequence[str], agents: Sequence[Agent]) -> bytes:
    return msgspec.json.encode([agent for agent in agents if agent.id in ids])


def allowed(verb: Callable[[], object], forged: Forged) -> None:
    """An error that a person can read is an answer; anything else is a bug."""
    try:
        verb()
    except MngrError:
        return
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} for {forged}") from error


@pytest.mark.accept("Q10")
def test_forged_records_change_no_other_row_and_break_no_verb(world: World) -> None:
    """TH-H2, TH-M1, TH-C1: many forged agents in one host dir, beside some that are sound."""
    manager, ids = world.manager(), healthy(world)
    before = rows_of(ids, mngr.list_agents(manager=manager).agents)
    with bystander() as pid:
        for batch in count():
            if batch * BATCH >= FORGED:
                break
            forge = Forge(world.paths, SEED + batch, bystander=pid)
            forged = [forge.agent() for _ in range(min(BATCH, FORGED - batch * BATCH))]
            damage = forge.damage_host()
            told = _look_at_all(forged, ids, before, manager)
            _ask_each(forged, told, manager)
            for one in forged[:: BATCH // 4]:
                _every_verb(one, manager)
            assert rows_of(ids, mngr.list_agents(manager=manager).agents) == before, (SEED + batch, damage)
            _remove_all(forged, manager)
            forge.mend_host()
            assert rows_of(ids, mngr.list_agents(manager=manager).agents) == before, (SEED + batch, damage)
            assert sorted(os.listdir(world.paths.agents)) == sorted(ids), SEED + batch
            assert forge.target.read_text() == TARGET


def _look_at_all(
    forged: Sequence[Forged], ids: Sequence[str], before: bytes, manager: Manager
) -> dict[str, Row]:
    listing, rows = look_and_list(manager=manager)
    assert rows_of(ids, listing.agents) == before
    by_id = {agent.id: agent for agent in listing.agents}
    assert set(by_id) == {*ids, *(one.id for one in forged)}
    assert len(listing.agents) == len(by_id)
    for one in forged:
        agent = by_id[one.id]
        assert agent.name == one.id or is_valid_name(agent.name), one
        assert agent.why.isprintable(), one
        allowed(partial(explain, rows[key_of(agent)]), one)
    assert msgspec.json.decode(msgspec.json.encode(listing), type=mngr.Listing) == listing
    return {row.agent.id: row for row in rows.values()}


def _ask_each(forged: Sequence[Forged], rows: dict[str, Row], manager: Manager) -> None:
    report = usage_of_rows(list(rows.values()), "day", 0.0, manager)
    msgspec.json.encode(report)
    for one in forged[::5]:
        row = rows[one.id]
        allowed(partial(mngr.capture, row, manager=manager), one)
        allowed(partial(transcript, row, manager=manager), one)
        allowed(partial(cast, row, manager=manager), one)
    find_garbage(manager=manager)


def _every_verb(one: Forged, manager: Manager) -> None:
    allowed(lambda: mngr.events(one.id, manager=manager), one)
    allowed(lambda: mngr.label(one.id, {"k": "v"}, manager=manager), one)
    allowed(lambda: mngr.rename(one.id, "another-name", manager=manager), one)
    allowed(lambda: mngr.message(one.id, "hello", manager=manager), one)
    allowed(lambda: list(mngr.wait(one.id, until="done", timeout_s=0.1, manager=manager)), one)
    allowed(lambda: mngr.clone(one.id, "copy", manager=manager), one)


def _remove_all(forged: Sequence[Forged], manager: Manager) -> None:
    """Two by id, the others at once: what a person does, and what is quick."""
    for one in forged[:2]:
        assert mngr.stop(one.id, grace_s=1, manager=manager)
        assert [change.changed for change in mngr.destroy(one.id, manager=manager)] == [True], one
    rest = {one.id: one for one in forged[2:]}
    rows = [row for row in look_and_list(manager=manager)[1].values() if row.agent.id in rest]
    assert len(rows) == len(rest)
    for row, gone in zip(rows, destroy_rows(rows, manager=manager), strict=True):
        assert isinstance(gone, Change), (gone, rest[row.agent.id])


@pytest.mark.accept("Q10")
@pytest.mark.parametrize("seed", range(SEED, SEED + max(3, FORGED // 100)))
def test_a_forged_agent_that_lives_can_be_stopped_and_destroyed_by_its_id(world: World, seed: int) -> None:
    """TH-H2: its process ends, its directory goes, and so does its name."""
    manager = world.manager()
    agent = mngr.create("foo", args=SLEEP, manager=manager).agent
    forge = Forge(world.paths, seed)
    done = "; ".join(forge.damage(agent.id) for _ in range(4))
    mngr.stop(agent.id, grace_s=5, manager=manager)
    left = [pid for pid in world.processes() if f"MNGR_AGENT_ID={agent.id}".encode() in _environ(pid)]
    assert left == [], done
    mngr.destroy(agent.id, manager=manager)
    assert mngr.list_agents(manager=manager).agents == (), done
    assert os.listdir(world.paths.agents) == []
    assert os.listdir(world.paths.names) == []


def _environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
