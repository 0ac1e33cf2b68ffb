"""The contest itself: which steps are timed, in which order, with how many agents there."""

import shutil
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from bench.floor import Floor
from bench.memory import cost, processes_started
from bench.ours import Ours
from bench.peer import Peer
from bench.results import (
    BARE,
    CREATE,
    DESTROY,
    EXEC,
    HELP,
    MESSAGE,
    OURS,
    PEER,
    SHELLS,
    START,
    STOP,
    Memory,
    create_row,
    destroy_many_row,
    list_row,
    stop_many_row,
    stop_row,
)
from bench.stage import Stage, end_stage, make_stage
from bench.timing import Samples, Step, Turn, take_turns, time_step
from msgspec import Struct

_PATIENCE_S = 240.0
_BATCH = 20


class Contender(Protocol):
    """The same steps in each one's own words. `destroy` is for running agents."""

    name: str
    stage: Stage

    def create(self, name: str) -> Step: ...
    def run(self, name: str, program: Sequence[str]) -> Step: ...
    def create_many(self, names: Sequence[str]) -> Step: ...
    def fill(self, names: Sequence[str]) -> Step: ...
    def list(self) -> Step: ...
    def exec(self, name: str) -> Step: ...
    def message(self, name: str) -> Step: ...
    def stop(self, names: Sequence[str]) -> Step: ...
    def destroy(self, names: Sequence[str]) -> Step: ...
    def destroy_stopped(self, names: Sequence[str]) -> Step: ...


class Options(Struct, frozen=True):
    """How much to measure. `peer` is its program, empty for none."""

    reps: int = 7
    peer: str = ""
    hundred: int = 100
    thousand: int = 1000


class Contest:
    """One run: stages under `root`, samples, and what could not be measured."""

    def __init__(self, root: str, options: Options) -> None:
        self.samples = Samples()
        self.processes: dict[int, int] = {}
        self.memory: Memory | None = None
        self.notices: list[str] = []
        self._root, self._options = root, options

    def run(self) -> None:
        """Everything, from cheap to dear."""
        self._start_ups()
        self._one_agent()
        self._shells()
        self._lists()
        self._many()
        if self._options.thousand:
            self._thousand()

    def _start_ups(self) -> None:
        _say("interpreter start, --help")
        stage = self._stage("help")
        turns = [_bare(stage), Turn(HELP, OURS, lambda _: time_step(stage, Ours(stage).help()))]
        if self._options.peer:
            peer = Peer(self._stage("help-peer"), self._options.peer)
            turns.append(Turn(HELP, PEER, lambda _: time_step(peer.stage, peer.help())))
        take_turns(self.samples, [turns], 3 * self._options.reps)

    def _one_agent(self) -> None:
        _say("create, exec, message, stop, destroy")
        contenders = self._contenders("one")
        for contender in contenders:
            time_step(contender.stage, contender.create("keeper"))
        steps: list[tuple[str, Callable[[Contender, int], Step]]] = [
            (CREATE, lambda it, rep: it.create(f"a{rep}")),
            (CREATE, lambda it, rep: it.create(f"b{rep}")),
            (EXEC, lambda it, rep: it.exec(f"a{rep}")),
            (MESSAGE, lambda it, rep: it.message(f"a{rep}")),
            (STOP, lambda it, rep: it.stop([f"b{rep}"])),
            (DESTROY, lambda it, rep: it.destroy([f"a{rep}"])),
            ("", lambda it, rep: it.destroy_stopped([f"b{rep}"])),
        ]
        groups = [[_step_turn(row, it, step) for it in contenders] for row, step in steps]
        take_turns(self.samples, groups, self._options.reps)
        _end(contenders)

    def _shells(self) -> None:
        """What a person at a terminal runs; the peer is left out, since it has no word for when a shell has ended."""
        _say("stop of interactive shells")
        contenders = self._contenders("shells", with_peer=False)
        # Without another session the floor's server ends with its last shell, while the next one is started on it.
        for contender in contenders:
            time_step(contender.stage, contender.create("other"))
        groups = []
        for shell in SHELLS:
            name, row = f"{shell[0]}{{}}", stop_row(" ".join(shell))
            steps: list[tuple[str, Callable[[Contender, int], Step]]] = [
                ("", partial(_start_shell, name, shell)),
                (row, partial(_stop_shell, name)),
            ]
            groups += [[_step_turn(label, it, step) for it in contenders] for label, step in steps]
        take_turns(self.samples, groups, self._options.reps)
        _end(contenders)

    def _lists(self) -> None:
        sizes = [1, 10] + [self._options.thousand] * bool(self._options.thousand)
        _say(f"list with {', '.join(map(str, sizes))} agents")
        by_size = {size: self._filled(size) for size in sizes}
        turns = [_bare(by_size[1][0].stage)]
        for size, contenders in by_size.items():
            turns += [_step_turn(list_row(size), it, lambda it, _: it.list()) for it in contenders]
        take_turns(self.samples, [turns], 2 * self._options.reps)
        self._count_processes({size: contenders[0].stage for size, contenders in by_size.items()})
        self._weigh((by_size[1][0].stage, 1), (by_size[sizes[-1]][0].stage, sizes[-1]))
        for contenders in by_size.values():
            _end(contenders)

    def _filled(self, size: int) -> list[Contender]:
        contenders = self._contenders(f"list-{size}", with_peer=size <= 10)
        for contender in contenders:
            time_step(contender.stage, contender.fill([f"n{number}" for number in range(size)]))
        return contenders

    def _count_processes(self, stages: dict[int, Stage]) -> None:
        if not shutil.which("strace"):
            self.notices.append("processes started by `list`: not counted, strace is missing")
            return
        for size, stage in stages.items():
            self.processes[size] = processes_started(stage, Ours(stage).list().commands[0])

    def _weigh(self, few: tuple[Stage, int], many: tuple[Stage, int]) -> None:
        ours, agents = Ours(self._stage("recorded")), 10
        names = [f"n{number}" for number in range(agents)]
        time_step(ours.stage, ours.create_many(names, "--transfer", "none", "--record"))
        time.sleep(1)  # the recorders and the index writer come up behind `create`
        self.memory = cost(few, many, (ours.stage, agents))
        end_stage(ours.stage)

    def _many(self) -> None:
        count = self._options.hundred
        _say(f"{count} creates, list, stop and destroy at once")
        names = [f"n{number}" for number in range(count)]
        two = self._contenders("many", with_peer=False)
        whole = [_step_turn(create_row(count), it, lambda it, _: it.create_many(names)) for it in two]
        clear = [_step_turn(destroy_many_row(count), it, lambda it, _: it.destroy(names)) for it in two]
        stops = [_step_turn(stop_many_row(count), it, lambda it, _: it.stop(names)) for it in two]
        rest = [_step_turn("", it, lambda it, _: it.destroy_stopped(names)) for it in two]
        reps = max(1, min(3, self._options.reps) - 1)
        take_turns(self.samples, [whole, clear], reps, warm_up=False)
        again = [_step_turn("", it, lambda it, _: it.create_many(names)) for it in two]
        take_turns(self.samples, [again, stops, rest], reps, warm_up=False)
        take_turns(self.samples, [whole], 1, warm_up=False)
        contenders = [*two, *self._hundred_peers(names)]
        lists = [_step_turn(list_row(count), it, lambda it, _: it.list()) for it in contenders]
        take_turns(self.samples, [lists], self._options.reps)
        batches = [names[at : at + _BATCH] for at in range(0, count - _BATCH + 1, _BATCH)]
        row = destroy_many_row(_BATCH)
        ends = [_step_turn(row, it, lambda it, rep: it.destroy(batches[rep])) for it in contenders]
        take_turns(self.samples, [ends], min(3, self._options.reps, len(batches) - 1))
        _end(contenders)

    def _thousand(self) -> None:
        """Once: minutes, and as many processes as agents."""
        count = self._options.thousand
        _say(f"{count} creates")
        names = [f"n{number}" for number in range(count)]
        two = self._contenders("thousand", with_peer=False)
        whole = [_step_turn(create_row(count), it, lambda it, _: it.create_many(names)) for it in two]
        take_turns(self.samples, [whole], 1, warm_up=False)
        _end(two)

    def _hundred_peers(self, names: Sequence[str]) -> list[Contender]:
        if not self._options.peer:
            return []
        create_s = self.samples.timings()[CREATE][PEER].median_s
        if create_s * len(names) > _PATIENCE_S * 2:
            self.notices.append(
                f"the peer with {len(names)} agents: skipped, it would take too long to make them"
            )
            return []
        _say(f"{len(names)} creates by the peer, about {create_s * len(names) / 2:.0f} s")
        peer = Peer(self._stage("many-peer"), self._options.peer)
        time_step(peer.stage, peer.list())
        self.samples.add(create_row(len(names)), PEER, time_step(peer.stage, peer.create_many(names)))
        return [peer]

    def _contenders(self, name: str, *, with_peer: bool = True) -> list[Contender]:
        made: list[Contender] = [Ours(self._stage(f"{name}-ours")), Floor(self._stage(f"{name}-floor"))]
        if with_peer and self._options.peer:
            made.append(Peer(self._stage(f"{name}-peer"), self._options.peer))
        return made

    def _stage(self, name: str) -> Stage:
        return make_stage(self._root, name)


def _bare(stage: Stage) -> Turn:
    nothing = Step(((sys.executable, "-c", "pass"),))
    return Turn(START, BARE, lambda _: time_step(stage, nothing))


def _step_turn(row: str, contender: Contender, step: Callable[[Contender, int], Step]) -> Turn:
    return Turn(row, contender.name, lambda rep: time_step(contender.stage, step(contender, rep)))


def _start_shell(name: str, shell: Sequence[str], contender: Contender, rep: int) -> Step:
    return contender.run(name.format(rep), shell)


def _stop_shell(name: str, contender: Contender, rep: int) -> Step:
    return contender.stop([name.format(rep)])


def _end(contenders: Sequence[Contender]) -> None:
    for contender in contenders:
        end_stage(contender.stage)


def _say(what: str) -> None:
    print(f"bench: {what}", file=sys.stderr, flush=True)
