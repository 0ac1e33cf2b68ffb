"""What one agent is asked to bring in step: stale citations before missing tests, so many at a time."""

from collections.abc import Set

from msgspec import Struct

from mngr_e2e.tutorial.blocks import Block
from mngr_e2e.tutorial.check import Report, Stale
from mngr_e2e.tutorial.citations import Unreadable


class Batch(Struct, frozen=True):
    """Either what is stale or cannot be read, or blocks without a test."""

    stale: tuple[Stale, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    blocks: tuple[Block, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(
            [
                *map(stale_key, self.stale),
                *map(unreadable_key, self.unreadable),
                *(one.id for one in self.blocks),
            ]
        )

    @property
    def title(self) -> str:
        parts = (
            ("stale citation", self.stale),
            ("unreadable place", self.unreadable),
            ("block", self.blocks),
        )
        return ", ".join(f"{len(own)} {word}{'s'[: len(own) > 1]}" for word, own in parts if own)


def next_batch(report: Report, tried: Set[str], size: int) -> Batch:
    """What to do next of what not tried; empty when nothing is left to try."""
    stale = [one for one in report.stale if stale_key(one) not in tried]
    unreadable = [one for one in report.unreadable if unreadable_key(one) not in tried]
    if stale or unreadable:
        return Batch(tuple(stale[:size]), tuple(unreadable[: max(0, size - len(stale))]))
    blocks = {block.id: block for block in reversed(report.uncovered) if block.id not in tried}
    return Batch(blocks=tuple(sorted(blocks.values(), key=lambda block: block.first_line)[:size]))


def stale_key(stale: Stale) -> str:
    return f"{stale.node_id}\0{stale.text}"


def unreadable_key(place: Unreadable) -> str:
    """Without its line, which moves when anything above it does."""
    return f"{place.path}\0{place.problem}"
