"""What pytest did in a working copy, as our plugin wrote it down. Tests ran beside it, so nothing of it is trusted."""

from typing import Literal

import msgspec
from msgspec import Struct

_SHOWN = 5


class CollectedTest(Struct, frozen=True, tag_field="kind", tag="test"):
    """A collected test. `deselected` by the flags that pytest was given."""

    node_id: str
    file: str
    line: int = 0
    deselected: bool = False


class PytestPhase(Struct, frozen=True, tag_field="kind", tag="ran"):
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
    """Where an import or a program comes from, seen from the working copy.

    `used` says that it was seen to run or to be imported, by the test `node_id` where that is known; without, it is
    what would be.
    """

    what: str
    path: str
    place: Literal["inside", "outside", "unknown"]
    used: bool = False
    node_id: str = ""


class EnvironmentMark(Struct, frozen=True, tag_field="kind", tag="environment"):
    """A digest of the version of Python and of the distributions that the tests find."""

    mark: str


class Reads(Struct, frozen=True, tag_field="kind", tag="reads"):
    """What a test read of the working copy, or with an empty `node_id` what counts for every test.

    `folders` were listed by tests, `searched` by pytest while it collected.
    """

    node_id: str
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()


class Observed(Struct, frozen=True, tag_field="kind", tag="observed"):
    """Reading was watched to the end. `unknown` says why it could not be seen.

    `mixed`: tests left files in the working copy that later ones may have used.
    """

    unknown: str = ""
    mixed: bool = False


class PytestEnd(Struct, frozen=True, tag_field="kind", tag="end"):
    """Pytest came to its own end."""

    code: int


class PytestFacts(Struct, frozen=True):
    """Everything it reported, in order; `unreadable` lines are counted."""

    tests: tuple[CollectedTest, ...] = ()
    phases: tuple[PytestPhase, ...] = ()
    broken: tuple[Broken, ...] = ()
    origins: tuple[Origin, ...] = ()
    reads: tuple[Reads, ...] = ()
    observed: Observed | None = None
    environment: str = ""
    has_ended: bool = False
    unreadable: int = 0

    @property
    def wrong_code(self) -> str:
        """Which code under test lies outside the working copy; empty when none does."""
        found = (f"{one.what} comes from {one.path}" for one in self.origins if one.place == "outside")
        return "; ".join(dict.fromkeys(found))

    def cannot_tell(self, node_id: str) -> str:
        """What this test started, where nothing shows that code of the working copy ran; empty when something does."""
        own = [one for one in self.origins if one.used and one.node_id in ("", node_id)]
        unknown = [one for one in own if one.place == "unknown" and one.node_id]
        if not unknown or any(one.place == "inside" for one in own):
            return ""
        started = list(dict.fromkeys(f"{one.what} ({one.path})" for one in unknown))
        more = f" and {len(started) - _SHOWN} more" if len(started) > _SHOWN else ""
        return (
            f"the test started {', '.join(started[:_SHOWN])}{more}, and nothing shows that code of the working copy "
            "ran; state the program under test: --program NAME"
        )


_Fact = CollectedTest | PytestPhase | Broken | Origin | EnvironmentMark | Reads | Observed | PytestEnd
_DECODER = msgspec.json.Decoder(_Fact)


def read_facts(data: bytes) -> PytestFacts:
    """Reads the plugin's lines; one that cannot be read is counted, not guessed at."""
    known: list[_Fact] = []
    unreadable = 0
    for line in data.split(b"\n"):
        try:
            known += [_DECODER.decode(line)] if line.strip() else []
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            unreadable += 1
    return PytestFacts(
        tests=tuple({one.node_id: one for one in known if isinstance(one, CollectedTest)}.values()),
        phases=tuple(one for one in known if isinstance(one, PytestPhase)),
        broken=tuple(one for one in known if isinstance(one, Broken)),
        origins=tuple(one for one in known if isinstance(one, Origin)),
        reads=tuple(one for one in known if isinstance(one, Reads)),
        observed=next((one for one in known if isinstance(one, Observed)), None),
        environment=next((one.mark for one in known if isinstance(one, EnvironmentMark)), ""),
        has_ended=any(isinstance(one, PytestEnd) for one in known),
        unreadable=unreadable,
    )
