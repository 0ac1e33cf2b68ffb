"""Sandboxes of the loopback Modal: each a box, a process tree with files of its own, and images to make them from."""

import asyncio
import os
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grpclib.const import Status
from grpclib.exceptions import GRPCError
from mngr_box.host import BoxHost
from mngr_box.provider import BoxProvider
from modal_proto import api_pb2
from tests.support.modal.execs import Exec, StubExec, on_a_terminal

from mngr import process
from mngr.model.host import HostSpec

# A box shares the programs of this machine: what images install is there already.
_INSTALLERS = ("apt-get", "echo 'debconf", "pip", "python", "uv", "rm -rf /var/lib/apt")
# Ids of the old kind are "sb-" and 22 letters and digits.
_OLD_KIND = 25


class Image(NamedTuple):
    """Files, and what commands find in their environment."""

    folder: Path
    env: dict[str, str]


class Sandbox:
    """A box that ends with its first command, at its time, or when it is told to."""

    def __init__(
        self, id: str, host: BoxHost | None, root: Path, image: Image, asked: api_pb2.SandboxCreateV2Request
    ) -> None:
        self.id, self.app_id = id, asked.app_id
        self.task_id = f"ta-{id[3:]}" + ("" if len(id) == _OLD_KIND else "V")
        self.asked, self.tags = asked.definition, {tag.tag_name: tag.tag_value for tag in asked.tags}
        self.made_at = self.created_at = time.time()
        self.root = root
        self.result: api_pb2.GenericResult | None = None
        self.ended = asyncio.Event()
        self.keeps_files = asked.definition.experimental_options_v2.get("enable_exit_snapshot") == "True"
        self.exit_image = ""
        self.execs: dict[str, Exec | StubExec] = {}
        self._host, self._env = host, image.env
        self._lock = asyncio.Lock()

    async def exec(
        self, id: str, argv: Sequence[str], env: Mapping[str, str], terminal: api_pb2.PTYInfo | None
    ) -> None:
        """Starts a command, once for every id."""
        self.check()
        async with self._lock:
            if id in self.execs:
                return
            assert self._host, "a stub runs nothing"
            inside = {**self._host._env(), **self._env, **env}
            if terminal:
                argv = on_a_terminal(argv, terminal.winsz_rows, terminal.winsz_cols)
                inside["TERM"] = terminal.env_term or "xterm"
            self.execs[id] = await Exec.start(self._host._enter(argv, None), inside)

    def check(self) -> None:
        if self.result:
            raise GRPCError(Status.NOT_FOUND, f"sandbox {self.id} has finished")

    def finish(self, status: "api_pb2.GenericResult.GenericStatus.ValueType", code: int = 0) -> None:
        if not self.result:
            self.result = api_pb2.GenericResult(status=status, exitcode=code)
            self.ended.set()


class StubSandbox(Sandbox):
    """A sandbox without a process: every command ends at once, a look with `look` as its answer, or none can begin."""

    def __init__(self, id: str, asked: api_pb2.SandboxCreateV2Request, look: bytes = b"") -> None:
        super().__init__(id, None, Path("/nonexistent"), Image(Path("/nonexistent"), {}), asked)
        self.look, self.refuses = look, False

    async def exec(
        self, id: str, _argv: Sequence[str], env: Mapping[str, str], _terminal: api_pb2.PTYInfo | None
    ) -> None:
        self.check()
        if self.refuses:
            raise GRPCError(Status.FAILED_PRECONDITION, "no command can begin, as ordered")
        if id not in self.execs:
            self.execs[id] = StubExec(env, self.look)


class Yard:
    """All boxes and images of a service, in a folder of their own.

    An image has any name; those in `registry` have the files of a folder, and `installed` is what was to be installed.
    `clock` says when sandboxes were created; `is_old_kind` gives them ids of the old kind; those that are created while
    `makes_stubs` run nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._boxes = folder, BoxProvider(str(folder))
        self.images = {"im-base": Image(folder / "images/im-base", {})}
        self.installed: list[str] = []
        self.registry: dict[str, Path] = {}
        self.sandboxes: dict[str, Sandbox] = {}
        self.clock: Callable[[], float] = time.time
        self.is_old_kind = self.makes_stubs = False
        self._watches: dict[str, asyncio.Task[None]] = {}

    async def create(self, asked: api_pb2.SandboxCreateV2Request) -> Sandbox:
        id = f"sb-{os.urandom(11 if self.is_old_kind else 12).hex()}"
        if asked.definition.image_id not in self.images:
            raise GRPCError(Status.NOT_FOUND, f"no image {asked.definition.image_id}")
        if self.makes_stubs:
            return self.add(StubSandbox(id, asked))
        image, offline = self.images[asked.definition.image_id], _is_offline(asked.definition)
        host = await asyncio.to_thread(self._boxes.create, HostSpec(name=id, offline=offline))
        root = self._folder / "providers/box" / id / "root"
        await _copy(image.folder, root)
        made = Sandbox(id, host, root, image, asked)
        await made.exec("", list(asked.definition.entrypoint_args), {}, None)
        self._watches[id] = asyncio.create_task(self._watch(made))
        return self.add(made)

    def add(self, sandbox: Sandbox) -> Sandbox:
        sandbox.created_at = self.clock()
        self.sandboxes[sandbox.id] = sandbox
        return sandbox

    def of_task(self, task_id: str) -> Sandbox:
        id = f"sb-{task_id[3:].removesuffix('V')}"
        if id not in self.sandboxes:
            raise GRPCError(Status.NOT_FOUND, f"no task {task_id}")
        return self.sandboxes[id]

    async def snapshot(self, sandbox: Sandbox) -> str:
        id = f"im-{os.urandom(8).hex()}"
        self.images[id] = Image(self._folder / "images" / id, sandbox._env)
        await _copy(sandbox.root, self.images[id].folder)
        return id

    async def build(self, image: api_pb2.Image, context: Mapping[str, bytes]) -> str:
        """An image from the lines of a Dockerfile, as far as tests write them."""
        id, args = f"im-{os.urandom(8).hex()}", dict(image.build_args)
        folder, env, known = self._folder / "images" / id, dict[str, str](), dict[str, str]()
        folder.mkdir(parents=True)
        for line in (line.strip() for command in image.dockerfile_commands for line in command.splitlines()):
            word, _, rest = line.partition(" ")
            match word.upper():
                case "FROM" if image.base_images:
                    base = self.images[image.base_images[0].image_id]
                    env |= base.env
                    await _copy(base.folder, folder)
                case "FROM" if rest in self.registry:
                    await _copy(self.registry[rest], folder)
                case "FROM" if "no-such" in rest:
                    raise GRPCError(Status.NOT_FOUND, f"image {rest} does not exist")
                case "ARG":
                    name, _, default = rest.partition("=")
                    known[name] = args.get(name, default)
                case "ENV":
                    name, _, value = rest.partition("=")
                    env[name] = known.get(value.lstrip("$"), value)
                case "COPY":
                    source, target = shlex.split(rest)[-2:]
                    if f"/{source.lstrip('/')}" in context:
                        (folder / target.lstrip("/")).write_bytes(context[f"/{source.lstrip('/')}"])
                case "RUN" if rest.startswith(_INSTALLERS):
                    self.installed += rest.split()
                case "RUN":
                    raise GRPCError(Status.INVALID_ARGUMENT, f"the loopback Modal cannot {line}")
        self.images[id] = Image(folder, env)
        return id

    async def end(self, sandbox: Sandbox) -> None:
        """Ends a box and all that runs in it, and removes its files."""
        sandbox.finish(api_pb2.GenericResult.GENERIC_STATUS_TERMINATED, 137)
        await self.ended(sandbox)

    async def ended(self, sandbox: Sandbox) -> None:
        """Waits until all of a box is gone; of a stub there is nothing."""
        if sandbox.id in self._watches:
            await asyncio.shield(self._watches[sandbox.id])

    async def close(self) -> None:
        await asyncio.gather(*(self.end(sandbox) for sandbox in self.sandboxes.values()))

    async def _watch(self, sandbox: Sandbox) -> None:
        first = sandbox.execs[""].code
        ended = asyncio.ensure_future(sandbox.ended.wait())
        either: list[asyncio.Future[Any]] = [first, ended]
        await asyncio.wait(either, timeout=sandbox.asked.timeout_secs or None, return_when="FIRST_COMPLETED")
        ended.cancel()
        if first.done():
            sandbox.finish(api_pb2.GenericResult.GENERIC_STATUS_FAILURE, first.result() % 256)
        sandbox.finish(api_pb2.GenericResult.GENERIC_STATUS_TIMEOUT)
        await asyncio.to_thread(self._boxes.stop, sandbox.id)
        if sandbox.keeps_files:
            sandbox.exit_image = await self.snapshot(sandbox)
        await asyncio.to_thread(self._boxes.destroy, sandbox.id)
        await asyncio.gather(*(each.end() for each in sandbox.execs.values()))


def _is_offline(definition: api_pb2.Sandbox) -> bool:
    blocked = api_pb2.NetworkAccess.NetworkAccessType.BLOCKED
    return definition.block_network or definition.network_access.network_access_type == blocked


async def _copy(source: Path, target: Path) -> None:
    """Copies files as they are; of a box only its own, since what it shares is mounted where we do not see it."""
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        done = await asyncio.to_thread(process.run, ["cp", "-a", f"{source}/.", str(target)])
        assert done.code in (0, 1), done.complaint  # 1: a file went while it was copied
