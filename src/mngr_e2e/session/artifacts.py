"""Where a test's artifacts go: one folder per run, test and attempt, never written twice."""

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from mngr_lib.files import replace_file

Status: TypeAlias = Literal["running", "passed", "failed", "error", "skipped", "timeout"]

_SLUG_MAX = 100
_HASH_LENGTH = 10


class Meta(Struct, frozen=True):
    """What `meta.json` says of one attempt; a status still "running" after the run means the run crashed.

    `block_ids` are those that `mngr tutorial blocks` shows, one for each of the cited `blocks`; `reason` is one line.
    """

    node_id: str
    run: str
    attempt: int
    status: Status
    start: float
    duration_s: float = 0.0
    blocks: tuple[str, ...] = ()
    block_ids: tuple[str, ...] = ()
    reason: str = ""
    file: str = ""
    line: int = 0


class ClaimedAttempt(Struct, frozen=True):
    """A folder claimed for one attempt of one test."""

    node_id: str
    run: str
    number: int
    folder: str
    file: str = ""
    line: int = 0


def slug(node_id: str) -> str:
    """A test's folder name: safe on any file system, the same every time, no two alike."""
    digest = hashlib.sha256(node_id.encode(errors="surrogatepass")).hexdigest()[:_HASH_LENGTH]
    words = re.sub(r"[^A-Za-z0-9_]+", "-", node_id.replace(".py::", "-"))
    return f"{words[-(_SLUG_MAX - _HASH_LENGTH - 1) :].strip('-')}-{digest}".lstrip("-")


def runs_folder(rootdir: str, chosen: str | None, env: Mapping[str, str]) -> str:
    """The folder that holds runs: the chosen one, an agent's outbox, or `.mngr/e2e` below the root."""
    if chosen:
        return os.path.abspath(chosen)
    if env.get("MNGR_OUTBOX"):
        return os.path.join(env["MNGR_OUTBOX"], "artifacts")
    return os.path.join(rootdir, ".mngr", "e2e")


def claim_attempt(runs: str, run: str, node_id: str, file: str = "", line: int = 0) -> ClaimedAttempt:
    """Makes and returns the first attempt folder that is not taken: safe between processes."""
    test = os.path.join(runs, run, slug(node_id))
    os.makedirs(test, exist_ok=True)
    # Keeps git away from a folder of runs below the root; one that the user chose is theirs.
    if runs.endswith(os.path.join(".mngr", "e2e")):
        with suppress(FileExistsError), open(os.path.join(runs, ".gitignore"), "x") as ignored:
            ignored.write("*\n")
    number = 1
    while True:
        folder = os.path.join(test, f"attempt-{number}")
        try:
            os.mkdir(folder)
        except FileExistsError:
            number += 1
            continue
        return ClaimedAttempt(node_id, run, number, folder, file, line)


def running_meta(attempt: ClaimedAttempt, start: float) -> Meta:
    """What is known of an attempt when it begins."""
    return Meta(
        node_id=attempt.node_id,
        run=attempt.run,
        attempt=attempt.number,
        status="running",
        start=start,
        file=attempt.file,
        line=attempt.line,
    )


def write_meta(folder: str, meta: Meta) -> None:
    """Replaces `meta.json` in one step."""
    data = msgspec.json.format(msgspec.json.encode(meta), indent=2) + b"\n"
    replace_file(os.path.join(folder, "meta.json"), data)


def read_meta(folder: str) -> Meta:
    with open(os.path.join(folder, "meta.json"), "rb") as file:
        return msgspec.json.decode(file.read(), type=Meta)
