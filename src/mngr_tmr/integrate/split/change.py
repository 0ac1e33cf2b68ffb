"""A change of work that goes into the branch whole or not at all."""

from functools import cached_property

from msgspec import Struct

from mngr_tmr.integrate.split.diffs import FileDiff
from mngr_tmr.model.result import ChangeKind


class ChangeSource(Struct, frozen=True):
    """Where a change came from: a task and those of its commits."""

    task: str
    node_id: str
    commits: tuple[str, ...]
    is_mislabelled: bool = False
    turned_green: bool = False


class TaskChange(Struct, frozen=True, dict=True):
    """A difference between two commits, `after` being a child of `before`.

    `needs` are the ids of changes that `before` already holds. The first source made it, the others made the same.
    """

    id: str
    kind: ChangeKind
    sources: tuple[ChangeSource, ...]
    before: str
    after: str
    files: tuple[FileDiff, ...]
    title: str
    summary: str = ""
    reason: str = ""
    importance: int = 3
    needs: tuple[str, ...] = ()

    @property
    def is_implementation(self) -> bool:
        return self.kind == "implementation"

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(source.task for source in self.sources))

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)

    @property
    def lines(self) -> int:
        return sum(file.lines for file in self.files)

    @cached_property
    def marks(self) -> frozenset[str]:
        """What it changes, by name; two changes with the same marks are one fix."""
        return frozenset(key for file in self.files for key in file.marks())
