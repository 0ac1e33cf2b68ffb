"""The page, live, for the browsers of this machine alone."""

import errno
import os
import secrets
import socket
from collections.abc import Callable
from typing import Any

from mngr_view.errors import ViewError
from mngr_view.source import Source
from mngr_view.template import TEMPLATE, read_template

_MISSING = 'pip install "mngr-agents[web]"'


def serve(
    source: Source, *, port: int = 0, on_ready: Callable[[str], None], template: str = TEMPLATE
) -> None:
    """Serves on loopback until Ctrl-C, which leaves as a KeyboardInterrupt at once, whoever is still listening.

    `on_ready` gets the address, whose token is new every time. Port 0 is any free one.
    """
    frame = read_template(template)
    try:
        import uvicorn

        from mngr_view.app import Gate, make_app
    except ImportError as error:
        raise ViewError(
            f"the live page needs a package that is not there: {error.name}", hint=_MISSING
        ) from None
    with _listen(port) as listening:
        gate = Gate(secrets.token_urlsafe(24), listening.getsockname()[1])
        servers: list[uvicorn.Server] = []
        app = make_app(source, frame, gate, lambda: servers[0].should_exit)
        servers.append(uvicorn.Server(uvicorn.Config(app, **_SETTINGS)))
        host = "[::1]" if listening.family == socket.AF_INET6 else "127.0.0.1"
        on_ready(f"http://{host}:{gate.port}/{gate.token}/")
        servers[0].run(sockets=[listening])


_SETTINGS: dict[str, Any] = {
    "loop": "asyncio",
    "http": "h11",
    "ws": "none",
    "lifespan": "off",
    "log_config": None,
    "log_level": "critical",
    "access_log": False,
    "proxy_headers": False,
    "server_header": False,
    "timeout_graceful_shutdown": 0,
}


def _listen(port: int) -> socket.socket:
    """A socket on loopback: of IPv4, or of IPv6 where there is no other."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            raise _taken(port, error) from None
    try:
        return socket.create_server(("::1", port), family=socket.AF_INET6)
    except OSError as error:
        raise _taken(port, error) from None


def _taken(port: int, error: OSError) -> ViewError:
    return ViewError(
        f"cannot listen on port {port} of this machine: {os.strerror(error.errno or 0)}",
        hint="another program may have it; leave the port out, and a free one is taken",
    )
