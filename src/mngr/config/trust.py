"""What a repository may set by itself, and what only after `mngr config trust`.

Cloning a stranger's repository must run nothing and give nothing away. So both files under its `.mngr/` are
read with suspicion: of keys that are not in `HARMLESS` nothing takes effect until this user has trusted
exactly these bytes. The list names what is safe, not what is dangerous, so that an option invented tomorrow
is held back until it is added to the list.

`settings.local.toml` is meant to be the user's own, but nothing stops a stranger from committing one, and
asking git whether it is tracked would cost a process in every command. It therefore stands under the same
rule, and the rule is made painless: whatever `mngr config set`, `unset` or `edit` writes is trusted as it is
written, provided that the file held nothing untrusted before (it was absent, trusted, or all harmless).
Otherwise one harmless `config set` in a stranger's repository would bless the stranger's commands too.

Trust is remembered in `<host_dir>/trust.json` (0600) per path and SHA-256 of the content; a changed file must
be trusted again, one that changes back need not be. Linked worktrees share the trust of their repository, and
only a worktree that the repository itself lists is one. Trust covers what the file says, not the scripts that
it names.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from mngr.config.files import directory_lock, read_file, write_file
from mngr.config.keys import Key, join_key
from mngr.config.locate import local_file, main_root, project_file
from mngr.config.schema import canonical
from mngr.config.toml import parse_document
from mngr.errors import UsageError

# None of these runs a command, picks a file, host or agent type, speaks to an agent, passes on a secret,
# costs money, skips a question or weakens what the user set. A pattern covers what is below it, `*` one part.
HARMLESS = """
    prefix
    commands.capture.ansi commands.capture.full
    commands.create.branch commands.create.connect commands.create.foreground
    commands.create.label commands.create.project
    commands.list.fields commands.list.limit commands.list.sort commands.list.where
    commands.transcript.role commands.transcript.tail
    commands.wait.timeout commands.wait.until
    templates.*.branch templates.*.connect templates.*.foreground
    templates.*.label templates.*.project
    tmr.base tmr.label tmr.name
    tutorial.tests tutorial.tutorial
"""

_PATTERNS = tuple(tuple(pattern.split(".")) for pattern in HARMLESS.split())
_MOST_HASHES = 100
_MOST_BYTES = 1 << 24

Tables = dict[str, Any]


class TrustedFile(Struct, frozen=True):
    """A file that is trusted now: which of its keys needed that, and whether it is news."""

    path: str
    sha256: str
    keys: tuple[str, ...]
    changed: bool


class TrustResult(Struct, frozen=True):
    """What `mngr config trust` did."""

    root: str
    files: tuple[TrustedFile, ...]

    @property
    def changed(self) -> bool:
        return any(file.changed for file in self.files)


def trust(root: str, host_dir: str) -> TrustResult:
    """Trusts the config files of a repository as they are now; twice is safe."""
    if not root:
        raise UsageError("there is no repository here to trust", hint="go into one, or make one: git init")
    files = []
    for path in (project_file(root), local_file(root)):
        data = read_file(path)
        if data is not None:
            keys = needs_trust(canonical(parse_document(data, path), path))
            files.append(TrustedFile(path, _sha256(data), keys, _remember(path, data, host_dir)))
    return TrustResult(root, tuple(files))


def is_trusted(path: str, data: bytes, host_dir: str) -> bool:
    """Whether this user trusted these bytes in this place."""
    return _sha256(data) in _load(host_dir).get(_place(path), ())


def split_by_trust(document: Mapping[str, Any]) -> tuple[Tables, Tables]:
    """The harmless part of a document, and the part that needs trust."""
    return _split(document, ())


def needs_trust(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The dotted keys of a document that take effect only after trust."""
    return tuple(sorted(join_key(key) for key in _leaves(split_by_trust(document)[1], ())))


def trust_own_edit(path: str, before: bytes | None, after: bytes, host_dir: str) -> bool:
    """Trusts what the user just wrote, unless the file held something untrusted before.

    Says whether the whole file takes effect now.
    """
    if before is not None and not is_trusted(path, before, host_dir) and _holds_back(before, path):
        return False
    if _holds_back(after, path):
        _remember(path, after, host_dir)
    return True


def is_harmless(key: Key) -> bool:
    return any(
        len(key) >= len(pattern)
        and all(expected in ("*", part) for expected, part in zip(pattern, key, strict=False))
        for pattern in _PATTERNS
    )


def _split(table: Mapping[str, Any], at: Key) -> tuple[Tables, Tables]:
    free: Tables = {}
    held: Tables = {}
    for name, value in table.items():
        key = (*at, name)
        if is_harmless(key):
            free[name] = value
        elif isinstance(value, dict):
            below_free, below_held = _split(value, key)
            free.update({name: below_free} if below_free else {})
            held.update({name: below_held} if below_held else {})
        else:
            held[name] = value
    return free, held


def _leaves(table: Mapping[str, Any], at: Key) -> Iterable[Key]:
    for name, value in table.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*at, name))
        else:
            yield (*at, name)


def _holds_back(data: bytes, path: str) -> bool:
    try:
        return bool(needs_trust(canonical(parse_document(data, path), path)))
    except UsageError:
        return True


def _remember(path: str, data: bytes, host_dir: str) -> bool:
    """Adds the content to the trusted ones; False when it was there."""
    with directory_lock(host_dir, 0o700):
        known = _load(host_dir)
        place, digest = _place(path), _sha256(data)
        hashes = known.get(place, ())
        if digest in hashes:
            return False
        known[place] = (*hashes, digest)[-_MOST_HASHES:]
        write_file(_trust_file(host_dir), msgspec.json.format(msgspec.json.encode(known)), 0o600)
        return True


def _load(host_dir: str) -> dict[str, tuple[str, ...]]:
    """What is trusted; nothing when the file is torn, because doubt must not run commands."""
    data = read_file(_trust_file(host_dir), _MOST_BYTES) or b"{}"
    try:
        return msgspec.json.decode(data, type=dict[str, tuple[str, ...]])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}


def _place(path: str) -> str:
    """The path that trust is kept under: the same for a repository and its linked worktrees."""
    folder, name = os.path.split(path)
    place = os.path.join(main_root(os.path.dirname(folder)), ".mngr", name)
    # Any bytes can be a path, but JSON is text.
    return os.fsencode(place).decode("utf-8", "backslashreplace")


def _trust_file(host_dir: str) -> str:
    return os.path.join(host_dir, "trust.json")


def _sha256(data: bytes) -> str:
    from hashlib import sha256  # loads OpenSSL, 13 ms: only where something asks for trust

    return sha256(data).hexdigest()
