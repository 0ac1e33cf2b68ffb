"""Commands that follow something end when their reader does, as `tail -f FILE | head -1` does."""

import os
import select
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mngr.cli.errors import end_for_want_of_a_reader

_STDOUT = 1


@contextmanager
def while_read(before: Callable[[], None] | None = None) -> Iterator[None]:
    """Ends the command (141) once stdout has no reader any more, also while it has nothing to write.

    `before` is called first, in another thread, to end what the command would wait for.
    """
    try:
        mode = os.fstat(_STDOUT).st_mode
    except OSError:
        mode = 0
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        yield
        return
    ours, watchers = os.pipe()

    def watch() -> None:
        poller = select.poll()
        # Nothing is asked for: a pipe without a reader, or a pipe without a writer, is told of all the same.
        poller.register(_STDOUT, 0)
        poller.register(ours, 0)
        gone = {number for number, _ in poller.poll()}
        os.close(ours)
        if ours not in gone:
            if before:
                before()
            end_for_want_of_a_reader()

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        os.close(watchers)
