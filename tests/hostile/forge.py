"""Forged records: the files of an agent as somebody would write them who wants to break whoever reads them.

Everything is drawn from one seeded source, so a seed that failed fails again. Paths that a record names stay below
the test's own folder, and no record owns anything: what a forged owner may not remove is another test's question.
"""

import os
import random
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mngr.model.agent import AgentSpec
from mngr.store.paths import AgentPaths, HostPaths

NOW = 1_700_000_000.0
TARGET = "root:x:0:0:root:/root:/bin/sh\n"
FILES = ("agent.json", "events.jsonl", "fold.json", "exit.json", "pid", "id", "screen", "run.sh")
_ESCAPES = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\u202e\u2066"
_NAMES = (
    *("../.git/hooks", "..", ".", "", "/etc/passwd", "a/b", "-rf", "a\nerror: b", "a\x00b", "x" * 64, "é"),
    *(_ESCAPES, "agent-" + "0" * 32 + "x", "$(id)", "`id`", "a b", "a:b", "=a", "%s", "{name}", "*"),
)
_NUMBERS: tuple[Any, ...] = (
    *(NOW * 1000, -1.0, 1e308, -1e308, 10**30, 2**63, -(2**63), 2**53, 4_194_305, 0, 0.5, 7258118400),
    *(True, False, "1", None, [], {}, "NaN", 256, -1, 99999999),
)
_TEXTS: tuple[Any, ...] = (
    _ESCAPES,
    "",
    "\x00",
    "\n",
    "x" * 70_000,
    5,
    None,
    [],
    {},
    True,
    "a\ud7ff",
    "\u2028",
    "..",
    "-x",
)
_TYPES = (
    "claude",
    "codex",
    "opencode",
    "scripted",
    "claude-headless",
    "nothing",
    "../x",
    "a.b",
    'a"b',
    "[x]",
)
_BRANCHES = (
    "--all",
    "a..b",
    "a b",
    "refs/heads/../x",
    ".x",
    "x.lock",
    "a\nb",
    "@",
    "HEAD",
    "a\x07b",
    "x/",
    "@{-1}",
)


class Forged(NamedTuple):
    """One forged agent: its id, and what was done to it."""

    id: str
    done: str


class Forge:
    """Makes forged agents in a host dir."""

    def __init__(self, paths: HostPaths, seed: int, *, bystander: int = 0) -> None:
        self._paths, self._seed, self._bystander = paths, seed, bystander
        self._random = random.Random(seed)
        self.target = Path(f"{paths.dir}.target")
        """Where the links of forged agents lead; whoever follows one to write changes it."""
        self.target.write_text(TARGET)
        self._made = 0

    def agent(self) -> Forged:
        """A sound agent that has ended, as files, with one to three things wrong."""
        self._made += 1
        agent_id = f"agent-{self._random.getrandbits(128):032x}"
        own = self._paths.agent(agent_id)
        self._sound(own, agent_id, f"forged-{self._seed}-{self._made}")
        return Forged(agent_id, self.damage(agent_id))

    def damage(self, agent_id: str) -> str:
        """Damages an agent that is there; returns what was done."""
        own = self._paths.agent(agent_id)
        return "; ".join(self._one_damage(own) for _ in range(self._random.choice((1, 1, 1, 2, 3))))

    def damage_host(self) -> str:
        """Puts something else in the place of a file of the host itself; `mend_host` removes it."""
        file = self._random.choice(("bell", "lease", "names/claimed"))
        return f"{file}: {self._other_kind(Path(self._paths.dir, file))}"

    def mend_host(self) -> None:
        for file in ("bell", "lease", "names/claimed"):
            _remove(Path(self._paths.dir, file))

    def _sound(self, own: AgentPaths, agent_id: str, name: str) -> None:
        os.makedirs(own.outbox)
        os.makedirs(self._paths.names, exist_ok=True)
        spec = AgentSpec(agent_id, name, "command", ("true",), f"{self._paths.work}/{name}", NOW)
        Path(own.spec).write_bytes(msgspec.json.encode(spec))
        Path(own.id).write_text(agent_id + "\n")
        os.link(own.id, self._paths.name(name))
        Path(own.pid).write_text(f"4000001 - 4000001 (sh) S {' '.join(['1'] * 18)} 5 0\n")
        Path(own.exit).write_text('{"pid":4000001,"exit_code":0,"signal":null,"at":1700000002}\n')
        Path(own.events).write_bytes(
            _log(("creating", NOW, {}), ("started", NOW + 1, {}), ("created", NOW + 1, {}))
            + _log(("exited", NOW + 2, {"exit_code": 0, "signal": None}))
        )
        Path(own.screen).write_text("the last screen\n")
        Path(own.run).write_text('# data: {"cwd":"/","argv":["true"]}\nexec true\n')

    def _one_damage(self, own: AgentPaths) -> str:
        damages: tuple[Callable[[AgentPaths], str], ...] = (
            *(
                self._spec_field,
                self._spec_field,
                self._event,
                self._event,
                self._fold,
                self._exit,
                self._pid,
            ),
            *(self._bytes, self._bytes, self._kind, self._kind, self._outbox, self._records_of_a_program),
        )
        return self._random.choice(damages)(own)

    def _spec_field(self, own: AgentPaths) -> str:
        fields = self._fields_of(Path(own.spec))
        field = self._random.choice([*AgentSpec.__struct_fields__, "new_field"])
        fields[field] = self._value(field)
        return f"agent.json: {field}={self._write(Path(own.spec), _json(fields))}"

    def _value(self, field: str) -> Any:
        folder = self._paths.dir
        values: dict[str, tuple[Any, ...]] = {
            "name": _NAMES,
            "id": (*_NAMES, "agent-" + "f" * 32),
            "type": _TYPES,
            "branch": _BRANCHES,
            "created_at": _NUMBERS,
            "work_dir": ("relative", f"{folder}/../x", f"{folder}/\x00", f"{folder}/{_ESCAPES}", "~"),
            "source": ("relative", f"{folder}/none/../x", f"{folder}/none\x00", "-x"),
            "argv": ("text", [1], [["x"]], ["\x00"], ["x" * 200_000], [_ESCAPES], {}),
            "labels": (
                {"../x": "y"},
                {"k": 1},
                {"": ""},
                {"k": "v" * 70_000},
                {"k\n": _ESCAPES},
                [],
                {"k": None},
            ),
            "transfer": (*_NAMES, "unknown"),
            "prefix": (*_NAMES, "x" * 33),
            "type_options": (_nested(3000), _nested(40), [], {"k": _nested(500)}),
            "windows": ({"\n": "x"}, {"w": "\x00"}, {"w": 1}, [], {"w" * 200: ""}),
            "creator": (
                {"machine": "m", "boot": "b", "pid": 10**40, "start": ""},
                5,
                {},
                {"machine": _ESCAPES},
            ),
            "base_commit": ("--all", "HEAD", "x" * 40, _ESCAPES, 5),
        }
        return self._random.choice((*values.get(field, ()), *values.get(field, ()), *_TEXTS))

    def _event(self, own: AgentPaths) -> str:
        kind = self._random.choice(
            ("renamed", "labelled", "exited", "started", "stopped", "message", _ESCAPES, "")
        )
        data: Any = {
            "renamed": {"name": self._random.choice((*_NAMES, *_TEXTS))},
            "labelled": {"labels": self._value("labels")},
            "exited": {"exit_code": self._random.choice(_NUMBERS), "signal": self._random.choice(_TEXTS)},
        }.get(kind, self._random.choice(({}, [], None, {"k": _nested(3000)}, {"k": _nested(100)})))
        at = self._random.choice((NOW + 3, NOW + 3, *_NUMBERS))
        line = self._random.choice(
            (
                _json({"at": at, "kind": kind, "data": data}),
                b'{"at":1,"kind":"renamed","data":{"name":"\xff\xfe"}}',
            )
        )
        self._append(Path(own.events), line + self._random.choice((b"\n", b"\n", b"")))
        return f"events.jsonl: {line[:80]!r}"

    def _fold(self, own: AgentPaths) -> str:
        """A fold counts only beside a log that is long."""
        self._append(Path(own.events), _log(("message", NOW + 3, {"why": "x" * 1000})) * 10)
        fields: dict[str, Any] = {"offset": self._random.choice((0, 10, 500, 10**6, *_NUMBERS))}
        field = self._random.choice(
            ("name", "labels", "started_at", "exit_code", "signal", "activity", "last_at")
        )
        texts, numbers = (*_NAMES, *_TEXTS), _NUMBERS
        fields[field] = self._random.choice(numbers if field.endswith("_at") or "code" in field else texts)
        return f"fold.json: {self._write(Path(own.fold), _json(fields) + self._random.choice((b'', b'x')))}"

    def _exit(self, own: AgentPaths) -> str:
        fields = self._fields_of(Path(own.exit))
        field = self._random.choice(("pid", "exit_code", "signal", "at"))
        fields[field] = self._random.choice(_TEXTS if field == "signal" else _NUMBERS)
        return f"exit.json: {self._write(Path(own.exit), _json(fields))}"

    def _pid(self, own: AgentPaths) -> str:
        texts = [
            "0 - ",
            "-1 - (x) S",
            "1",
            "9" * 30 + " - x",
            "x y z",
            "4000001",
            "* * *",
            "12 \x1b[2J (x) S 1",
            "\n\n5",
        ]
        texts.append("1 - 1 (a) S " + "7 " * 30)
        if self._bystander:
            stat = Path(f"/proc/{self._bystander}/stat").read_text()
            texts += [f"{self._bystander} - {stat}"] * 4
            _remove(Path(own.exit))
        return f"pid: {self._write(Path(own.pid), self._random.choice(texts).encode())}"

    def _bytes(self, own: AgentPaths) -> str:
        path = Path(own.dir, self._random.choice(FILES))
        nested = b"[" * 3000 + b"]" * 3000
        data = self._random.choice(
            (
                b"",
                b"\xff\xfe\x00\x01",
                b"\x00" * 3000,
                b"{",
                b"[]",
                b"null",
                nested,
                b'{"id":' * 50_000,
                b"\n" * 5000,
            )
            + (self._random.randbytes(300), b'{"id":"\xc3\x28"}', b"\x1b]0;t\x07" * 20, b'{"at":1e999}', b"-")
        )
        if self._random.random() < 0.02:
            data = b'{"id":"' + b"x" * (5 << 20) + b'"}\n'
        return f"{path.name}: {self._write(path, data)}"

    def _kind(self, own: AgentPaths) -> str:
        path = Path(own.dir, self._random.choice(FILES))
        return f"{path.name}: {self._other_kind(path)}"

    def _outbox(self, own: AgentPaths) -> str:
        path = Path(self._random.choice((own.outbox, own.result, f"{own.screen}.new", f"{own.dir}/claude")))
        return f"{path.name}: {self._other_kind(path)}"

    def _records_of_a_program(self, own: AgentPaths) -> str:
        """The type of a program that keeps records, and records that no program would keep."""
        kind = self._random.choice(("scripted", "claude", "codex", "opencode"))
        self._write(Path(own.spec), _json({**self._fields_of(Path(own.spec)), "type": kind}))
        line = self._random.choice(
            (
                b'{"role":"user","text":"\xff"}',
                _json({"role": "user", "text": _ESCAPES, "at": self._random.choice(_NUMBERS)}),
                _json(
                    {
                        "type": "assistant",
                        "timestamp": "9999-12-31T23:59:59-23:59",
                        "message": {"usage": {"a": 1}},
                    }
                ),
                _json({"type": "user", "uuid": _nested(900), "message": {"content": [_nested(900)]}}),
                b"[" * 3000,
            )
        )
        folder = Path(own.dir, kind)
        if not folder.exists() and not folder.is_symlink():
            (folder / "projects").mkdir(parents=True)
            (folder / "projects" / "s.jsonl").write_bytes(line + b"\n")
            (folder / "session").write_text(str(folder / "projects" / "s.jsonl") + "\n")
        for name in ("conversation.jsonl", "usage.json"):
            self._write(Path(own.dir, name), line + b"\n")
        return f"{kind}: {line[:60]!r}"

    def _other_kind(self, path: Path) -> str:
        kind = self._random.choice(
            ("fifo", "link", "loop", "dangling", "directory", "socket", "mode", "none")
        )
        if kind == "mode":
            if _is_regular(path):
                path.chmod(0)
            return kind
        if not path.parent.is_dir() or path.parent.is_symlink():
            _remove(path.parent)
            path.parent.mkdir()
        _remove(path)
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "link":
            path.symlink_to(self.target)
        elif kind == "loop":
            path.symlink_to(path.name)
        elif kind == "dangling":
            path.symlink_to(f"{self._paths.dir}/nothing")
        elif kind == "directory":
            path.mkdir()
            (path / "x").write_text("x")
        elif kind == "socket":
            _make_socket(path)
        return kind

    def _fields_of(self, path: Path) -> dict[str, Any]:
        try:
            found = msgspec.json.decode(path.read_bytes()) if _is_regular(path) else {}
        except (msgspec.DecodeError, ValueError, RecursionError):
            found = {}
        return found if isinstance(found, dict) else {}

    def _append(self, path: Path, data: bytes) -> None:
        """Adds to a log; whatever else is in its place goes, since a link must not be followed, nor a FIFO opened."""
        before = path.read_bytes() if _is_regular(path) else b""
        self._write(path, before + data)

    def _write(self, path: Path, data: bytes) -> str:
        _remove(path)
        path.write_bytes(data)
        return repr(data[:80])


def _json(value: Any) -> bytes:
    import json

    # What json writes for values that are no JSON (NaN) belongs here too. It cannot write what is nested deeply.
    try:
        return json.dumps(value, separators=(",", ":")).encode()
    except RecursionError:
        return b'{"id":' * 3000


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def _log(*events: tuple[str, float, dict[str, Any]]) -> bytes:
    return b"".join(_json({"at": at, "kind": kind, "data": data}) + b"\n" for kind, at, data in events)


def _is_regular(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.chmod(0o700)
        for child in path.iterdir():
            _remove(child)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _make_socket(path: Path) -> None:
    """A socket's address is short, so it is made from within its folder."""
    folder = os.open(path.parent, os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
