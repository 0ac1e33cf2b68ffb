"""A service of the SDK's protocol whose answers are plain methods, and whose faults a test orders by name."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from grpclib.const import Cardinality, Handler, Status
from grpclib.exceptions import GRPCError


class Faults:
    """What is to go wrong from now on, by the name of a call.

    The status it fails with, how late it is answered, how often its answer is lost, with all connections, once it has
    been acted on.
    """

    def __init__(self, cut: Callable[[], None]) -> None:
        self.cut = cut
        self.lose: Counter[str] = Counter()
        self.status: dict[str, Status] = {}
        self.late_s: dict[str, float] = {}
        self.asked: Counter[str] = Counter()


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
            self._faults.asked[name] += 1
            await asyncio.sleep(self._faults.late_s.get(name, 0))
            if name in self._faults.status:
                raise GRPCError(self._faults.status[name], f"{name} fails, as ordered")
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
