"""Screens of agents, read in threads of their own: one that hangs holds up nothing but its own agent's screen."""

import threading
import time

import mngr

# So many at once; those of hosts that hang are given up at the deadline of their call.
_AT_ONCE = 16


class Screens:
    """The screen of each agent as it was last read. A caller never waits: a newer one is there the next time."""

    def __init__(self, manager: mngr.Manager, at_once: int = _AT_ONCE) -> None:
        self._manager, self._free = manager, threading.Semaphore(at_once)
        self._read: dict[str, tuple[float, str]] = {}
        self._reading: set[str] = set()
        self._lock = threading.Lock()

    def last(self, agent: mngr.Agent, every_s: float) -> str | None:
        """The last screen, None before the first was read; another is read where it is so old and a thread is free."""
        with self._lock:
            read_at, screen = self._read.get(agent.id, (None, None))
            is_due = read_at is None or time.monotonic() - read_at >= every_s
            if is_due and agent.id not in self._reading and self._free.acquire(blocking=False):
                self._reading.add(agent.id)
                name = f"tmr-screen-{agent.name}"
                threading.Thread(target=self._capture, args=(agent,), name=name, daemon=True).start()
        return screen

    def forget(self, agent: mngr.Agent) -> None:
        """Forgets the screen of an agent: the next caller needs one that is new."""
        with self._lock:
            self._read.pop(agent.id, None)

    def _capture(self, agent: mngr.Agent) -> None:
        """Reads one screen; one that cannot be read is as it was, and empty when there was none."""
        screen = None
        try:
            screen = mngr.capture(agent, manager=self._manager)
        except Exception:
            pass
        finally:
            with self._lock:
                before = self._read.get(agent.id, (0.0, ""))[1]
                self._read[agent.id] = (time.monotonic(), before if screen is None else screen)
                self._reading.discard(agent.id)
            self._free.release()
