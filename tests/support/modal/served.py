"""A service of the SDK's protocol whose answers are plain methods, and whose faults a test orders by name."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from grpclib.const import Cardinality, Handler, Status
from grpclib.exceptions import GRPCError
from modal_proto import api_pb2

_AWAY_POLL_S = 0.05


class Refusal(NamedTuple):
    """How often a call is refused with RESOURCE_EXHAUSTED, and when the SDK is told to ask again by itself."""

    times: int
    retry_after_s: float = 0.0
    """0: the answer has no retry policy, so the SDK raises at once."""


class Faults:
    """What is to go wrong from now on, by the name of a call, and how often each call was made.

    The status it fails with, how late it is answered, how often its answer is lost, with all connections, once it has
    been acted on, and how often it is refused. `latency_s` is added to every call; while `is_away` none is answered.
    """

    def __init__(self, cut: Callable[[], None]) -> None:
        self.cut = cut
        self.lose: Counter[str] = Counter()
        self.status: dict[str, Status] = {}
        self.late_s: dict[str, float] = {}
        self.refuse: dict[str, Refusal] = {}
        self.latency_s = 0.0
        self.is_away = False
        self.asked: Counter[str] = Counter()

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        for orders in (self.lose, self.status, self.late_s, self.refuse):
            orders.clear()
        self.latency_s, self.is_away = 0.0, False

    async def before(self, name: str) -> None:
        """Counts a call and does to it what was ordered."""
        self.asked[name] += 1
        await asyncio.sleep(self.latency_s + self.late_s.get(name, 0))
        while self.is_away:
            await asyncio.sleep(_AWAY_POLL_S)
        if name in self.status:
            raise GRPCError(self.status[name], f"{name} fails, as ordered")
        if name in self.refuse and self.refuse[name].times > 0:
            times, retry_after_s = self.refuse[name]
            self.refuse[name] = Refusal(times - 1, retry_after_s)
            raise exhausted(f"{name} is rate limited", retry_after_s)


def exhausted(message: str, retry_after_s: float = 0.0) -> GRPCError:
    """What Modal answers when there is too much of something, with or without a retry policy."""
    policy = [api_pb2.RPCRetryPolicy(retry_after_secs=retry_after_s)] if retry_after_s else None
    return GRPCError(Status.RESOURCE_EXHAUSTED, message, policy)


class _Names:
    """Stands in for a service to learn the names of its calls."""

    def __getattr__(self, name: str) -> str:
        return name


class Served:
    """The calls of `base`, answered by the methods of the same name; those it has not are unimplemented."""

    def __init__(self, base: Any, answers: object, faults: Faults) -> None:
        self._base, self._answers, self._faults = base, answers, faults

    def __mapping__(self) -> dict[str, Handler]:
        calls: dict[str, Handler] = self._base.__mapping__(_Names())
        return {
            path: handler._replace(func=self._answer(str(handler.func), handler.cardinality))
            for path, handler in calls.items()
        }

    def _answer(self, name: str, cardinality: Cardinality) -> Callable[[Any], Awaitable[None]]:
        answer = getattr(self._answers, name, None)

        async def serve(stream: Any) -> None:
            request = await stream.recv_message()
            await self._faults.before(name)
            if answer is None:
                raise GRPCError(Status.UNIMPLEMENTED, name)
            if cardinality is Cardinality.UNARY_STREAM:
                async for response in answer(request):
                    await stream.send_message(response)
            else:
                response = await answer(request)
                if self._faults.lose[name] > 0:
                    self._faults.lose[name] -= 1
                    self._faults.cut()
                await stream.send_message(response)

        return serve
