"""The two services that the SDK talks to: Modal's control plane, and the router of commands in sandboxes."""

import asyncio
import base64
import json
import os
import time
from collections.abc import AsyncIterator
from typing import Any

from google.protobuf.empty_pb2 import Empty  # type: ignore[import-untyped]
from grpclib.const import Status
from grpclib.exceptions import GRPCError
from modal_proto import api_pb2
from modal_proto import task_command_router_pb2 as router_pb2
from tests.support.modal.execs import Exec, StubExec
from tests.support.modal.sandboxes import Sandbox, Yard
from tests.support.modal.served import exhausted

# So few that every listing needs more than one.
_PAGE = 2


class Control:
    """Apps, images, sandboxes and dictionaries.

    `page` is how many sandboxes one answer lists, `list_lag_s` how long a new one is in no list; `lists_ended` shows
    also those that ended, as Modal does for a while; `most` limits how many run at once (0: no limit); `streams_builds`
    has the SDK wait for a build by a stream of its log.
    """

    def __init__(self, yard: Yard) -> None:
        self.yard, self.url = yard, ""
        self.page, self.list_lag_s, self.lists_ended = _PAGE, 0.0, False
        self.most, self.streams_builds = 0, False
        self.dicts: dict[str, dict[bytes, bytes]] = {}
        self.apps: dict[str, str] = {}
        self._files: dict[str, bytes] = {}
        self._mounts: dict[str, dict[str, bytes]] = {}
        self._built: dict[bytes, str] = {}

    async def ClientHello(self, _: Empty) -> api_pb2.ClientHelloResponse:
        return api_pb2.ClientHelloResponse()

    async def AuthTokenGet(self, _: object) -> api_pb2.AuthTokenGetResponse:
        return api_pb2.AuthTokenGetResponse(token=_token())

    async def AppGetOrCreate(self, asked: api_pb2.AppGetOrCreateRequest) -> api_pb2.AppGetOrCreateResponse:
        name = _in_environment(asked.environment_name, asked.app_name)
        app_id = self.apps.setdefault(name, f"ap-{os.urandom(8).hex()}")
        return api_pb2.AppGetOrCreateResponse(app_id=app_id)

    async def EnvironmentGetOrCreate(self, _: object) -> api_pb2.EnvironmentGetOrCreateResponse:
        settings = api_pb2.EnvironmentSettings(image_builder_version="2025.06")
        metadata = api_pb2.EnvironmentMetadata(name="main", settings=settings)
        return api_pb2.EnvironmentGetOrCreateResponse(environment_id="en-main", metadata=metadata)

    async def MountBatchedCheckExistence(self, asked: Any) -> api_pb2.MountBatchedCheckExistenceResponse:
        missing = [each for each in asked.sha256_hex_hashes if each not in self._files]
        return api_pb2.MountBatchedCheckExistenceResponse(missing_sha256_hex_hashes=missing)

    async def MountPutFile(self, asked: api_pb2.MountPutFileRequest) -> api_pb2.MountPutFileResponse:
        if asked.WhichOneof("data_oneof"):
            self._files[asked.sha256_hex] = asked.data
        return api_pb2.MountPutFileResponse(exists=asked.sha256_hex in self._files)

    async def MountGetOrCreate(self, asked: Any) -> api_pb2.MountGetOrCreateResponse:
        id = f"mo-{os.urandom(8).hex()}"
        self._mounts[id] = {file.filename: self._files[file.sha256_hex] for file in asked.files}
        return api_pb2.MountGetOrCreateResponse(mount_id=id)

    async def ImageGetOrCreate(self, asked: Any) -> api_pb2.ImageGetOrCreateResponse:
        """Builds an image the first time it is asked for."""
        key = asked.image.SerializeToString(deterministic=True)
        ok, failed = (
            api_pb2.GenericResult.GENERIC_STATUS_SUCCESS,
            api_pb2.GenericResult.GENERIC_STATUS_FAILURE,
        )
        try:
            if self._built.get(key) not in self.yard.images:
                context = self._mounts.get(asked.image.context_mount_id, {})
                self._built[key] = await self.yard.build(asked.image, context)
        except GRPCError as error:
            result = api_pb2.GenericResult(status=failed, exception=error.message or "")
            return api_pb2.ImageGetOrCreateResponse(image_id="im-failed", result=result)
        # Without a result the SDK waits for the build by a stream of its log.
        built = None if self.streams_builds else api_pb2.GenericResult(status=ok)
        return api_pb2.ImageGetOrCreateResponse(image_id=self._built[key], result=built)

    async def ImageJoinStreaming(self, asked: Any) -> AsyncIterator[api_pb2.ImageJoinStreamingResponse]:
        log = api_pb2.TaskLogs(data="a step of the build\n", file_descriptor=api_pb2.FILE_DESCRIPTOR_STDOUT)
        yield api_pb2.ImageJoinStreamingResponse(task_logs=[log], entry_id="1")
        known = asked.image_id in self.yard.images
        status = (
            api_pb2.GenericResult.GENERIC_STATUS_SUCCESS
            if known
            else api_pb2.GenericResult.GENERIC_STATUS_FAILURE
        )
        yield api_pb2.ImageJoinStreamingResponse(result=api_pb2.GenericResult(status=status), entry_id="2")

    async def ImageFromId(self, asked: api_pb2.ImageFromIdRequest) -> api_pb2.ImageFromIdResponse:
        if asked.image_id not in self.yard.images:
            raise GRPCError(Status.NOT_FOUND, f"no image {asked.image_id}")
        return api_pb2.ImageFromIdResponse(image_id=asked.image_id)

    async def ImageDelete(self, asked: api_pb2.ImageDeleteRequest) -> Empty:
        if self.yard.images.pop(asked.image_id, None) is None:
            raise GRPCError(Status.NOT_FOUND, f"no image {asked.image_id}")
        return Empty()

    async def SandboxCreateV2(self, asked: api_pb2.SandboxCreateV2Request) -> api_pb2.SandboxCreateV2Response:
        name = asked.definition.name
        if name and any(each.asked.name == name for each in self._running(asked.app_id)):
            raise GRPCError(Status.ALREADY_EXISTS, f"a sandbox {name} runs already")
        if self.most and sum(not each.result for each in self.yard.sandboxes.values()) >= self.most:
            raise exhausted(f"the workspace is limited to {self.most} containers")
        made = await self.yard.create(asked)
        access = api_pb2.CommandRouterAccess(url=self.url, jwt=_token())
        return api_pb2.SandboxCreateV2Response(
            sandbox_id=made.id, task_id=made.task_id, command_router_access=access
        )

    async def SandboxListV2(self, asked: api_pb2.SandboxListRequest) -> api_pb2.SandboxListResponse:
        wanted, newest = {tag.tag_name: tag.tag_value for tag in asked.tags}, time.time() - self.list_lag_s
        found = [
            _info(each)
            for each in self.yard.sandboxes.values()
            if each.app_id == asked.app_id
            and (self.lists_ended or not each.result)
            and wanted.items() <= each.tags.items()
            and each.made_at <= newest
            and (not asked.before_timestamp or each.created_at < asked.before_timestamp)
        ]
        found.sort(key=lambda each: -each.created_at)
        return api_pb2.SandboxListResponse(sandboxes=found[: self.page])

    async def SandboxTagsGetV2(self, asked: api_pb2.SandboxTagsGetRequest) -> api_pb2.SandboxTagsGetResponse:
        tags = self._sandbox(asked.sandbox_id).tags
        return api_pb2.SandboxTagsGetResponse(
            tags=[api_pb2.SandboxTag(tag_name=name, tag_value=value) for name, value in tags.items()]
        )

    async def SandboxGetFromNameV2(self, asked: Any) -> api_pb2.SandboxGetFromNameResponse:
        app_id = self.apps.get(_in_environment(asked.environment_name, asked.app_name), "")
        for each in self._running(app_id):
            if each.asked.name == asked.sandbox_name:
                return api_pb2.SandboxGetFromNameResponse(sandbox_id=each.id)
        raise GRPCError(Status.NOT_FOUND, f"no sandbox of the name {asked.sandbox_name}")

    async def SandboxWaitV2(self, asked: api_pb2.SandboxWaitRequest) -> api_pb2.SandboxWaitResponse:
        sandbox = self._sandbox(asked.sandbox_id)
        if asked.timeout and not sandbox.result:
            try:
                await asyncio.wait_for(sandbox.ended.wait(), asked.timeout)
            except TimeoutError:
                pass
        return api_pb2.SandboxWaitResponse(result=sandbox.result)

    async def SandboxGetTaskIdV2(self, asked: Any) -> api_pb2.SandboxGetTaskIdResponse:
        sandbox = self._sandbox(asked.sandbox_id)
        if sandbox.result:
            return api_pb2.SandboxGetTaskIdResponse(task_result=sandbox.result)
        return api_pb2.SandboxGetTaskIdResponse(task_id=sandbox.task_id)

    async def SandboxGetCommandRouterAccess(
        self, asked: Any
    ) -> api_pb2.SandboxGetCommandRouterAccessResponse:
        self._sandbox(asked.sandbox_id).check()
        return api_pb2.SandboxGetCommandRouterAccessResponse(url=self.url, jwt=_token())

    async def SandboxTerminateV2(self, asked: Any) -> api_pb2.SandboxTerminateResponse:
        await self.yard.end(self._sandbox(asked.sandbox_id))
        return api_pb2.SandboxTerminateResponse()

    async def SandboxGetExitSnapshotV2(self, asked: Any) -> api_pb2.SandboxGetExitSnapshotResponse:
        sandbox = self._sandbox(asked.sandbox_id)
        if not sandbox.keeps_files:
            raise GRPCError(Status.INVALID_ARGUMENT, "exit snapshots are not enabled for this sandbox")
        await self.yard.ended(sandbox)
        success = api_pb2.SandboxGetExitSnapshotResponse.Success(image_id=sandbox.exit_image)
        return api_pb2.SandboxGetExitSnapshotResponse(success=success)

    # The calls of sandboxes with ids of the old kind.
    SandboxList, SandboxTagsGet, SandboxWait = SandboxListV2, SandboxTagsGetV2, SandboxWaitV2
    SandboxGetTaskId, SandboxTerminate = SandboxGetTaskIdV2, SandboxTerminateV2
    SandboxGetExitSnapshot, SandboxGetFromName = SandboxGetExitSnapshotV2, SandboxGetFromNameV2

    async def TaskGetCommandRouterAccess(self, asked: Any) -> api_pb2.TaskGetCommandRouterAccessResponse:
        self.yard.of_task(asked.task_id).check()
        return api_pb2.TaskGetCommandRouterAccessResponse(url=self.url, jwt=_token())

    async def DictGetOrCreate(self, asked: Any) -> api_pb2.DictGetOrCreateResponse:
        id = f"di-{_in_environment(asked.environment_name, asked.deployment_name)}"
        self.dicts.setdefault(id, {})
        return api_pb2.DictGetOrCreateResponse(dict_id=id)

    async def DictUpdate(self, asked: api_pb2.DictUpdateRequest) -> api_pb2.DictUpdateResponse:
        kept, created = self.dicts[asked.dict_id], False
        for entry in asked.updates:
            if not (asked.if_not_exists and entry.key in kept):
                kept[entry.key], created = entry.value, True
        return api_pb2.DictUpdateResponse(created=created)

    async def DictGet(self, asked: api_pb2.DictGetRequest) -> api_pb2.DictGetResponse:
        value = self.dicts[asked.dict_id].get(asked.key)
        return api_pb2.DictGetResponse(found=value is not None, value=value)

    async def DictPop(self, asked: api_pb2.DictPopRequest) -> api_pb2.DictPopResponse:
        value = self.dicts[asked.dict_id].pop(asked.key, None)
        return api_pb2.DictPopResponse(found=value is not None, value=value)

    async def DictContents(self, asked: api_pb2.DictContentsRequest) -> AsyncIterator[api_pb2.DictEntry]:
        for key, value in list(self.dicts[asked.dict_id].items()):
            yield api_pb2.DictEntry(key=key, value=value)

    def _running(self, app_id: str) -> list[Sandbox]:
        return [each for each in self.yard.sandboxes.values() if each.app_id == app_id and not each.result]

    def _sandbox(self, id: str) -> Sandbox:
        if id not in self.yard.sandboxes:
            raise GRPCError(Status.NOT_FOUND, f"no sandbox {id}")
        return self.yard.sandboxes[id]


class Router:
    """Commands in sandboxes."""

    def __init__(self, yard: Yard) -> None:
        self._yard = yard

    async def TaskExecStart(self, asked: Any) -> router_pb2.TaskExecStartResponse:
        env = {name: value for source in asked.secret_sources for name, value in source.env.contents.items()}
        terminal = asked.pty_info if asked.HasField("pty_info") else None
        await self._sandbox(asked.task_id).exec(asked.exec_id, list(asked.command_args), env, terminal)
        return router_pb2.TaskExecStartResponse()

    async def TaskExecStdinWrite(self, asked: Any) -> router_pb2.TaskExecStdinWriteResponse:
        try:
            await self._exec(asked).feed(asked.offset, asked.data, asked.eof)
        except (BrokenPipeError, ConnectionResetError):
            raise GRPCError(Status.FAILED_PRECONDITION, "nobody reads its input any more") from None
        return router_pb2.TaskExecStdinWriteResponse()

    async def TaskExecStdioRead(self, asked: Any) -> AsyncIterator[router_pb2.TaskExecStdioReadResponse]:
        sandbox, is_error = (
            self._sandbox(asked.task_id),
            asked.file_descriptor == router_pb2.TASK_EXEC_STDIO_FILE_DESCRIPTOR_STDERR,
        )
        heard = self._exec(asked).outputs[is_error].since(asked.offset)
        while True:
            more = asyncio.ensure_future(anext(heard))
            ended = asyncio.ensure_future(sandbox.ended.wait())
            try:
                await asyncio.wait([more, ended], return_when="FIRST_COMPLETED")
                sandbox.check()
                yield router_pb2.TaskExecStdioReadResponse(data=more.result())
            except StopAsyncIteration:
                return
            finally:
                for future in (more, ended):
                    future.cancel()

    async def TaskExecWait(self, asked: Any) -> router_pb2.TaskExecWaitResponse:
        sandbox, code = self._sandbox(asked.task_id), self._exec(asked).code
        ended = asyncio.ensure_future(sandbox.ended.wait())
        either: list[asyncio.Future[Any]] = [code, ended]
        await asyncio.wait(either, return_when="FIRST_COMPLETED")
        ended.cancel()
        sandbox.check()
        said = code.result()
        return (
            router_pb2.TaskExecWaitResponse(code=said)
            if said >= 0
            else router_pb2.TaskExecWaitResponse(signal=-said)
        )

    async def TaskSnapshotFilesystem(self, asked: Any) -> router_pb2.TaskSnapshotFilesystemResponse:
        image = await self._yard.snapshot(self._sandbox(asked.task_id))
        return router_pb2.TaskSnapshotFilesystemResponse(image_id=image)

    def _sandbox(self, task_id: str) -> Sandbox:
        found = self._yard.of_task(task_id)
        found.check()
        return found

    def _exec(self, asked: Any) -> Exec | StubExec:
        execs = self._sandbox(asked.task_id).execs
        if asked.exec_id not in execs:
            raise GRPCError(Status.NOT_FOUND, f"no exec {asked.exec_id}")
        return execs[asked.exec_id]


def _info(sandbox: Sandbox) -> api_pb2.SandboxInfo:
    info = api_pb2.SandboxInfo(id=sandbox.id, created_at=sandbox.created_at, app_id=sandbox.app_id)
    if sandbox.result:
        info.task_info.result.CopyFrom(sandbox.result)
    return info


def _in_environment(environment: str, name: str) -> str:
    return f"{environment}/{name}" if environment else name


def _token() -> str:
    """Shaped like a JWT, because the SDK reads until when it is good."""
    payload = json.dumps({"exp": int(time.time()) + 3600}).encode()
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (b"{}", payload, b"x"))
