"""The attempts of a run's tests as their folders tell it: a damaged or missing `meta.json` is a row as well."""

import re
from collections.abc import Iterator
from hashlib import sha256

import msgspec
from msgspec import Struct

from mngr_e2e.recorder.ledger import CASTS, RECORDERS
from mngr_e2e.view.files import amount, read, try_entries, try_read
from mngr_e2e.view.times import length, moment
from mngr_lib.safe_text import one_line
from mngr_view.records import Status

FAILURE = "failure.txt"
CITED = "tutorial_block.txt"
_META_LIMIT = 1_000_000
_REASON_LIMIT = 300
_FAILURE_LIMIT = 64_000
_CITATION_LIMIT = 20_000
_STATUSES: tuple[Status, ...] = ("failed", "error", "timeout", "running", "skipped", "passed")
_BAD = ("failed", "error", "timeout")
NAME = re.compile(r"attempt-([0-9]{1,6})")


class TestRunFolder(Struct, frozen=True):
    """A run on disk; `id` is its name, made different where several runs of one page share it."""

    id: str
    path: str
    changed_ns: int = 0


class AttemptFolder(Struct, frozen=True):
    """One attempt: where it is (`names` below the run's folder `root`) and what its `meta.json` says."""

    run: str
    root: str
    names: tuple[str, str]
    number: int
    node_id: str
    status: Status
    start: float = 0.0
    duration_s: float = 0.0
    citations: tuple[str, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key of its detail: always the same, wherever the run's folder is, and never a name that someone chose."""
        return f"detail/{_digest('/'.join((self.run, *self.names)))}"

    def cast_key(self, name: str) -> str:
        return f"cast/{self.key.rpartition('/')[2]}/{_digest(name)[:8]}"


class _Meta(Struct, frozen=True):
    """What is read of `meta.json`."""

    node_id: str = ""
    status: str = ""
    start: float = 0.0
    duration_s: float = 0.0
    blocks: tuple[str, ...] = ()
    reason: str = ""


def load_attempts(run: TestRunFolder, test: str, *, is_alive: bool) -> Iterator[AttemptFolder]:
    """The attempts of one test, in order. In a run that is over, one that still says "running" broke off."""
    found = [(match, entry) for entry in try_entries(run.path, test) if (match := NAME.fullmatch(entry.name))]
    for match, entry in sorted(found, key=lambda pair: int(pair[0][1])):
        if entry.kind == "folder":
            names = (test, entry.name)
            meta, status, why = _read_meta(run.path, names, is_alive)
            if is_alive and try_entries(run.path, *names, CASTS, RECORDERS):
                # Its test is over and its recordings are not: who reads them now would keep half of them.
                status, why = "running", ""
            reason = one_line(meta.reason)[:_REASON_LIMIT]
            if (
                not reason
                and status in _BAD
                and (failure := try_read(run.path, *names, FAILURE, limit=_FAILURE_LIMIT))
            ):
                # The line that says most of a failure: pytest's first one with an E, else the first of all.
                lines = [line for line in failure.text.splitlines() if line.strip()]
                telling = [line[1:] for line in lines if line.startswith("E ")] or lines or [""]
                reason = one_line(telling[0].strip())[:_REASON_LIMIT]
            citations = meta.blocks
            if not citations and (cited := try_read(run.path, *names, CITED, limit=_CITATION_LIMIT)):
                # A test that still runs or broke off.
                citations = tuple(filter(None, (part.strip("\n") for part in cited.text.split("\n\n"))))
            yield AttemptFolder(
                run.id,
                run.path,
                names,
                int(match[1]),
                one_line(meta.node_id),
                status,
                moment(meta.start),
                length(meta.duration_s),
                citations,
                why or reason,
                (why,) if why else (),
            )


def _read_meta(root: str, names: tuple[str, str], is_alive: bool) -> tuple[_Meta, Status, str]:
    """What `meta.json` says, the status it stands for, and why that is another than it says."""
    meta = _Meta()
    try:
        found = read(root, *names, "meta.json", limit=_META_LIMIT)
        if found.is_truncated:
            return meta, "error", f"meta.json is too large: {amount(found.size)}"
        meta = msgspec.json.decode(found.data, type=_Meta)
    except FileNotFoundError:
        meta = _Meta(status="running")
    except OSError as error:
        return meta, "error", f"meta.json cannot be read: {one_line(str(error.strerror or error))}"
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return meta, "error", f"meta.json is damaged: {one_line(str(error))[:_REASON_LIMIT]}"
    if meta.status == "running" and not is_alive:
        return meta, "error", "the run ended before this test did"
    for status in _STATUSES:
        if meta.status == status:
            return meta, status, ""
    return meta, "error", f"its status {one_line(meta.status)[:50]!r} is not known"


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
