"""What pytest did in a working copy, as our plugin wrote it down. Tests ran beside it, so nothing of it is trusted."""

from typing import Literal

import msgspec
from msgspec import Struct


class Found(Struct, frozen=True, tag_field="kind", tag="test"):
    """A collected test. `deselected` by the flags that pytest was given."""

    node_id: str
    file: str
    line: int = 0
    deselected: bool = False


class Phase(Struct, frozen=True, tag_field="kind", tag="ran"):
    """Setup, call or teardown of one test."""

    node_id: str
    when: Literal["setup", "call", "teardown"]
    outcome: Literal["passed", "failed", "skipped", "rerun"]
    duration_s: float = 0.0
    text: str = ""
    xfail: bool = False


class Broken(Struct, frozen=True, tag_field="kind", tag="broken"):
    """Something that pytest could not collect."""

    node_id: str
    text: str = ""


class Origin(Struct, frozen=True, tag_field="kind", tag="origin"):
    """Where an import or a program comes from."""

    what: str
    path: str
    inside: bool


class Ended(Struct, frozen=True, tag_field="kind", tag="end"):
    """Pytest came to its own end."""

    code: int


class Facts(Struct, frozen=True):
    """Everything it told, in order; `unreadable` lines are counted."""

    tests: tuple[Found, ...] = ()
    phases: tuple[Phase, ...] = ()
    broken: tuple[Broken, ...] = ()
    origins: tuple[Origin, ...] = ()
    has_ended: bool = False
    unreadable: int = 0

    @property
    def wrong_code(self) -> str:
        """Which code under test lies outside the working copy; empty when none does."""
        return "; ".join(f"{one.what} comes from {one.path}" for one in self.origins if not one.inside)


_DECODER = msgspec.json.Decoder(Found | Phase | Broken | Origin | Ended)


def read_facts(data: bytes) -> Facts:
    """Reads the plugin's lines; one that cannot be read is counted, not guessed at."""
    known: list[Found | Phase | Broken | Origin | Ended] = []
    unreadable = 0
    for line in data.split(b"\n"):
        try:
            known += [_DECODER.decode(line)] if line.strip() else []
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            unreadable += 1
    return Facts(
        tests=tuple({one.node_id: one for one in known if isinstance(one, Found)}.values()),
        phases=tuple(one for one in known if isinstance(one, Phase)),
        broken=tuple(one for one in known if isinstance(one, Broken)),
        origins=tuple(one for one in known if isinstance(one, Origin)),
        has_ended=any(isinstance(one, Ended) for one in known),
        unreadable=unreadable,
    )
