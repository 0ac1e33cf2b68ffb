"""Calls of the Modal SDK: all on one event loop, each with a deadline, its errors in our words."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

from mngr.errors import MngrError, NotFoundError, RefusedError, UnreachableError

T = TypeVar("T")

ASK_S = 20.0


@cache
def sdk() -> ModuleType:
    """The package `modal`; it takes most of a second to import, and not everybody has it."""
    try:
        import modal
    except ImportError as error:
        raise UnreachableError(
            f"Modal's SDK cannot be used: {error}", hint='install it: pip install "mngr-agents[modal]"'
        ) from None
    return modal


@cache
def _loop() -> asyncio.AbstractEventLoop:
    made = asyncio.new_event_loop()
    threading.Thread(target=made.run_forever, name="mngr-modal", daemon=True).start()
    return made


def start(work: Coroutine[Any, Any, T]) -> "Future[T]":
    """Sets work going; it can be cancelled from any thread."""
    return asyncio.run_coroutine_threadsafe(work, _loop())


def call(doing: str, work: Coroutine[Any, Any, T], timeout_s: float = ASK_S) -> T:
    """What the work returns; UnreachableError when Modal is away or late, NotFoundError when it knows no such thing."""
    future = start(work)
    try:
        return future.result(timeout_s)
    except TimeoutError:
        raise UnreachableError(
            f"{doing}: Modal did not answer within {timeout_s:g} s", hint="is it well? status.modal.com"
        ) from None
    except MngrError:
        raise
    except Exception as error:
        raise in_our_words(doing, error) from error
    finally:
        future.cancel()


def in_our_words(doing: str, error: Exception) -> MngrError:
    kinds = sdk().exception
    said = f"{doing}: {str(error).strip() or type(error).__name__}"
    match error:
        case kinds.NotFoundError():
            return NotFoundError(said, hint="see: mngr list --hosts")
        case kinds.AlreadyExistsError():
            return RefusedError(said, hint="choose another name")
        case kinds.AuthError() | kinds.PermissionDeniedError():
            return UnreachableError(
                said, hint="are you logged in? modal setup, or MODAL_TOKEN_ID and _SECRET"
            )
        case kinds.ConflictError() | kinds.ClientClosed() | kinds.SandboxTerminatedError():
            return UnreachableError(said, hint="see: mngr list --hosts")
        case kinds.ResourceExhaustedError():
            return UnreachableError(said, hint="Modal limits how much and how fast; try again in a while")
        case kinds.ImageBuildError() | kinds.InvalidError():
            return MngrError(said)
        case kinds.Error() | OSError():
            return UnreachableError(said, hint="is it well? status.modal.com")
    return MngrError(said)
