"""Calls of the Modal SDK: all on one event loop, each with a deadline, its errors in our words."""

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

from mngr.errors import CapacityError, MngrError, NotFoundError, RefusedError, UnreachableError
from mngr.hosts.modal.notices import hush

T = TypeVar("T")

ASK_S = 20.0
# The first contact, and what cleans up after Modal fell silent: a user shall not wait long to learn that it is away.
CONTACT_S, CLEAN_UP_S = 15.0, 5.0
# During a call that may take long Modal is asked so often whether it is there, and may take so long to say so.
_PING_EVERY_S, _PING_S = 5.0, 15.0
_DRAIN_S = 2.0
_THROTTLE_S = "10"


@cache
def sdk() -> ModuleType:
    """The package `modal`; it takes most of a second to import, and not everybody has it."""
    try:
        import modal
    except ImportError as error:
        raise UnreachableError(
            f"Modal's SDK cannot be used: {error}", hint='install it: pip install "mngr-agents[modal]"'
        ) from None
    hush(modal)
    # A limit that lasts is an error for the caller, who may do something else meanwhile.
    os.environ.setdefault("MODAL_MAX_THROTTLE_WAIT", _THROTTLE_S)
    return modal


class _Calls:
    """The event loop of all calls, and those that are under way."""

    def __init__(self) -> None:
        sdk()
        # On the loop of the SDK's own calls a call needs no other thread, at half the cost.
        try:
            from modal._utils.async_utils import synchronizer

            loop = synchronizer._get_loop(start=True)
        except Exception:  # another version: its calls find their own way there
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="mngr-modal", daemon=True).start()
        self._loop = loop
        # What ends with an error that no thread waits for any more must not print a traceback.
        self._loop.set_exception_handler(lambda _loop, _context: None)
        self._under_way: set[Future[Any]] = set()
        self._is_over, self._lock = False, threading.Lock()
        atexit.register(self.drain)

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        with self._lock:
            if self._is_over:
                work.close()
                raise UnreachableError("Modal cannot be asked any more: this program ends")
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return future

    def drain(self) -> None:
        """Cancels what is under way and waits for its end, so that the interpreter finds a quiet loop when it exits."""
        with self._lock:
            self._is_over = True
            left = list(self._under_way)
        for future in left:
            future.cancel()
        wait(left, _DRAIN_S)
        quiet = asyncio.run_coroutine_threadsafe(self._end_all_tasks(), self._loop)
        wait([quiet], _DRAIN_S)

    async def _end_all_tasks(self) -> None:
        """Ends the tasks that cancelled calls left; the loop's own main task waits on."""
        ours = [
            task
            for task in asyncio.all_tasks(self._loop)
            if task is not asyncio.current_task() and "loop_inner" not in repr(task.get_coro())
        ]
        for task in ours:
            task.cancel()
        await asyncio.wait(ours, timeout=_DRAIN_S / 2) if ours else None


_calls = cache(_Calls)


def start(work: Coroutine[Any, Any, T]) -> "Future[T]":
    """Sets work going; it can be cancelled from any thread."""
    return _calls().start(work)


def call(doing: str, work: Coroutine[Any, Any, T], timeout_s: float = ASK_S, *, watches: bool = False) -> T:
    """What the work returns; UnreachableError when Modal is away or late, NotFoundError when it knows no such thing.

    Where it `watches`, Modal is asked meanwhile whether it is there, so that one that went away is noticed within half
    a minute, however long the work may take.
    """
    future = start(work)
    try:
        if not watches:
            return future.result(timeout_s)
        deadline = time.monotonic() + timeout_s
        while True:
            wait([future], min(_PING_EVERY_S, max(0.0, deadline - time.monotonic())))
            if future.done() or time.monotonic() >= deadline:
                return future.result(0)
            ping = start(_hello())
            either: list[Future[Any]] = [future, ping]
            wait(either, min(_PING_S, max(0.0, deadline - time.monotonic())), "FIRST_COMPLETED")
            is_there = ping.done()
            ping.cancel()
            if not is_there and not future.done():
                raise _late(doing, _PING_S)
    except TimeoutError:
        raise _late(doing, timeout_s) from None
    except MngrError:
        raise
    except Exception as error:
        raise in_our_words(doing, error) from error
    finally:
        future.cancel()


async def _hello() -> None:
    """Any answer will do, also a refusal."""
    try:
        client = await sdk().Client.from_env.aio()
        await client.hello.aio()
    except sdk().exception.ConnectionError:
        await asyncio.sleep(_PING_S * 2)
    except sdk().exception.Error:
        return


def _late(doing: str, timeout_s: float) -> UnreachableError:
    return UnreachableError(
        f"{doing}: Modal did not answer within {timeout_s:g} s", hint="is it well? status.modal.com"
    )


def in_our_words(doing: str, error: Exception) -> MngrError:
    kinds = sdk().exception
    problem = f"{doing}: {str(error).strip() or type(error).__name__}"
    match error:
        case kinds.NotFoundError():
            return NotFoundError(problem, hint="see: mngr list --hosts")
        case kinds.AlreadyExistsError():
            return RefusedError(problem, hint="choose another name")
        case kinds.AuthError() | kinds.PermissionDeniedError():
            return UnreachableError(
                problem, hint="are you logged in? modal setup, or MODAL_TOKEN_ID and _SECRET"
            )
        case kinds.ConflictError() | kinds.ClientClosed() | kinds.SandboxTerminatedError():
            return UnreachableError(problem, hint="see: mngr list --hosts")
        case kinds.ResourceExhaustedError():
            details = getattr(error, "_grpc_details", None) or ()
            waits = [getattr(detail, "retry_after_secs", 0) for detail in details]
            return CapacityError(
                problem,
                hint="Modal limits how much and how fast; try again in a while",
                retry_after_s=next((float(s) for s in waits if isinstance(s, int | float) and s > 0), 0.0),
            )
        case kinds.ImageBuildError() | kinds.InvalidError():
            return MngrError(problem)
        case kinds.Error() | OSError():
            return UnreachableError(problem, hint="is it well? status.modal.com")
    return MngrError(problem)
