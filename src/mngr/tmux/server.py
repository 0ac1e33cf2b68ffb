"""A tmux server of our own per host dir: the user's server, sessions and keys are never touched."""

import os
import zlib

from mngr.sh.program import load, program, quote, words
from mngr.store.paths import HostPaths

# sockaddr_un holds 108 bytes, 104 on some systems.
_ADDRESS_LIMIT = 100
FD_LIMIT = 65536
"""How many files our server may have open: each pane has some."""
ENDING = "mngr:ending"
"""What tmux says when a session is refused because its server is about to end."""
LAUNCHED = "mngr:launched"
"""What the tmux command of a launch prints at its end."""


def tmux(paths: HostPaths, *arguments: str) -> tuple[str, ...]:
    """The argv of a tmux command on our server; `-N` starts none, since that would inherit our environment."""
    return (*_client(paths, "-N"), *arguments)


def tmux_sh(paths: HostPaths) -> str:
    """The same as the start of a shell command."""
    return words(*tmux(paths))


def attach_argv(paths: HostPaths, session: str, *, read_only: bool = False) -> tuple[str, ...]:
    """What attaches a terminal to a session; its window takes the terminal's size, unless we only look."""
    attach = (*_client(paths, "-u"), "attach-session")
    if read_only:
        return (*attach, "-r", "-f", "ignore-size", "-t", f"={session}")
    resize = ("set-option", "-w", "-t", f"={session}:", "window-size", "latest")
    return (*attach, "-t", f"={session}", ";", *resize)


def unless_ending(*commands: str) -> str:
    """The words of one tmux command that runs all of these, or fails with ENDING in a server that is about to end.

    A server that was told to end still runs what connected clients have sent. Were that a new session, it would
    never end, and the session could not be reached. The commands are quoted for the shell, which tmux reads alike.
    """
    # There is no such buffer: the error is the answer. It would not keep tmux from running commands joined by `;`.
    return f"if-shell -F '#{{@mngr_ending}}' 'delete-buffer -b {ENDING}' {quote(' ; '.join(commands))}"


def server_values(paths: HostPaths) -> dict[str, str]:
    """The parameters of shell programs that may start our server."""
    with open(os.path.join(os.path.dirname(__file__), "server.conf"), encoding="utf-8") as file:
        conf, reap = file.read(), load("sh/reap")
    conf_file, reap_file = f"{paths.tmux}/{_named('conf', conf)}", f"{paths.tmux}/{_named('sh', reap)}"
    return {
        **tmux_values(paths),
        "fd_limit": str(FD_LIMIT),
        "conf": conf_file,
        "conf_text": conf,
        "reap": reap_file,
        "reap_text": reap,
        "reap_word": quote(reap_file),
    }


def tmux_values(paths: HostPaths) -> dict[str, str]:
    """The parameters of shell programs that call `mngr_tmux`."""
    return {"tmux_dir": paths.tmux, "socket": "socket" if _is_too_long(paths) else paths.socket}


def end_if_empty(paths: HostPaths) -> str:
    """Shell lines that end the server when no session is left, wait until it is gone, and remove its socket."""
    return program("sh/end_if_empty", **tmux_values(paths))


def _client(paths: HostPaths, *flags: str) -> tuple[str, ...]:
    """The first words of a tmux command on our server.

    Where the socket's path is too long for an address, tmux is run in its directory: another place for the socket,
    such as /tmp, would be one that other users reach.
    """
    if not _is_too_long(paths):
        return ("tmux", *flags, "-S", paths.socket)
    return ("sh", "-c", 'cd "$0" && [ -O . ] && exec tmux "$@"', paths.tmux, *flags, "-S", "socket")


def _is_too_long(paths: HostPaths) -> bool:
    return len(os.fsencode(paths.socket)) > _ADDRESS_LIMIT


def _named(ending: str, text: str) -> str:
    """A file name that changes with its text, so that managers of two versions do not fight over one file."""
    return f"mngr-{zlib.crc32(text.encode()):08x}.{ending}"
