"""The page, live, for the browsers of this machine alone."""

import errno
import os
import secrets
import socket
from collections.abc import Callable
from contextlib import ExitStack

from mngr_view.browser import open_file, redirect_file
from mngr_view.errors import ViewError
from mngr_view.source import Source
from mngr_view.template import TEMPLATE, read_template


def serve(
    source: Source,
    *,
    port: int = 0,
    on_ready: Callable[[str], None],
    opens: bool = False,
    template: str = TEMPLATE,
) -> None:
    """Serves on loopback until Ctrl-C, which leaves as a KeyboardInterrupt at once, also while browsers are connected.

    `on_ready` gets the address, whose token is new every time; `opens` opens it in a browser too. Port 0 is any free
    one.
    """
    from mngr_view.app import AccessCheck, Server, Site  # http.server costs what most commands need not pay

    frame = read_template(template)
    with _listen(port) as listening, ExitStack() as opened:
        access = AccessCheck(secrets.token_urlsafe(24), listening.getsockname()[1])
        # A browser that got the page needs the file that led to it no more.
        site = Site(source, frame, access, on_page=opened.close)
        host = "[::1]" if listening.family == socket.AF_INET6 else "127.0.0.1"
        url = f"http://{host}:{access.port}/{access.token}/"
        on_ready(url)
        if opens:
            open_file(opened.enter_context(redirect_file(url)))
        try:
            Server(listening, site).serve_forever()
        finally:
            site.is_over.set()


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
