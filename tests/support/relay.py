"""A slow line between two programs of this machine: the kernel here cannot make one."""

import queue
import socket
import threading
import time


class Relay:
    """Passes connections on, each way so much later; the first so many connections it closes at once."""

    def __init__(self, to: tuple[str, int], delay_s: float = 0.0, drop_first: int = 0) -> None:
        self._to, self._delay_s, self._drops = to, delay_s, drop_first
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Ends every connection; a thread that waits for one wakes up first, by its shutdown."""
        for end in (self._socket, *self._ends):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._socket.accept()
            except OSError:
                return
            if self._drops:
                self._drops -= 1
                near.close()
                continue
            far = socket.create_connection(self._to)
            self._ends += [near, far]
            for one, other in ((near, far), (far, near)):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                late: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
                threading.Thread(target=self._hear, args=(one, late), daemon=True).start()
                threading.Thread(target=_tell, args=(other, late), daemon=True).start()

    def _hear(self, source: socket.socket, late: "queue.SimpleQueue[tuple[float, bytes]]") -> None:
        data = b"x"
        while data:
            try:
                data = source.recv(1 << 16)
            except OSError:
                data = b""
            late.put((time.monotonic() + self._delay_s, data))


def _tell(sink: socket.socket, late: "queue.SimpleQueue[tuple[float, bytes]]") -> None:
    while True:
        at, data = late.get()
        time.sleep(max(0.0, at - time.monotonic()))
        try:
            if not data:
                sink.shutdown(socket.SHUT_WR)
                return
            sink.sendall(data)
        except OSError:
            return
