"""The audit log: a line of JSON for everything that was sent, or refused by the policy, beside the user's config."""

import fcntl
import os
import pwd
import time
from contextlib import suppress

import msgspec
from msgspec import Struct

from mngr.errors import RefusedError
from mngr_lib.files import put_aside
from mngr_lib.trace import without_secrets

_MOST_BYTES = 8 << 20
_OLDER = 5


class AuditLine(Struct, frozen=True):
    """Who sent what where. `what` is create, push, files, message or launch, which asks before many agents."""

    at: float
    user: str
    what: str
    outcome: str
    agent: str
    type: str
    model: str
    provider: str
    host: str
    repository: str
    commit: str
    transfer: str
    files: tuple[str, ...] = ()
    """Files of this machine that are sent beside the commit."""
    rule: str = ""

    def clean(self) -> "AuditLine":
        """The same line without secrets."""
        plain = msgspec.to_builtins(self)
        texts = {name: without_secrets(text) for name, text in plain.items() if isinstance(text, str)}
        return msgspec.structs.replace(self, **texts, files=tuple(map(without_secrets, self.files)))


def audit_file(host_dir: str) -> str:
    return os.path.join(host_dir, "audit.jsonl")


def user_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def append_line(host_dir: str, line: AuditLine) -> None:
    """Adds a line, without secrets. RefusedError where that cannot be done: what is not recorded is not sent."""
    path, data = audit_file(host_dir), msgspec.json.encode(line.clean()) + b"\n"
    try:
        os.makedirs(host_dir, mode=0o700, exist_ok=True)
        fd = open_locked(path)
        try:
            os.write(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise RefusedError(
            f"cannot write the audit log {path}: {error.strerror}; nothing was sent",
            hint="make it writable; a policy is set, and what is sent must be recorded",
        ) from None


def now() -> float:
    return round(time.time(), 3)


def open_locked(path: str) -> int:
    """The file, opened for appending and held; a large one is put aside first."""
    while True:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX)
        size, inode = os.fstat(fd).st_size, os.fstat(fd).st_ino
        with suppress(FileNotFoundError):
            if os.stat(path).st_ino == inode:
                if size < _MOST_BYTES:
                    return fd
                put_aside(path, _OLDER)
        os.close(fd)
