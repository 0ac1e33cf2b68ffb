"""`doctor`: what this machine lacks, found in at most two seconds, without network, with the command that fixes it."""

import os
import re
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec

from msgspec import Struct

from mngr import process, registry
from mngr.actions.gc.gc import garbage_on
from mngr.actions.manager import Manager, default_manager
from mngr.config.locate import check_host_dir, host_dir, repo_root
from mngr.errors import MngrError, RefusedError, TimedOutError
from mngr.model.finding import ERROR, INFO, WARNING, Finding
from mngr.process import CommandFailedError
from mngr.store.paths import HostPaths
from mngr.tmux.server import tmux
from mngr_lib.threads import Future, FutureTimeoutError

_TOOL_S, _ALL_S = 1.4, 1.8
_LOW_SPACE = 1 << 30
# A recorded pane holds two descriptors of the tmux server: its terminal and the pipe to the recorder.
_FDS_EACH, _FDS_OWN, _FDS_MOST = 2, 64, 65536
_FEW_AGENTS = 100


class Tool(Struct, frozen=True):
    """A program we may need: how it tells its version, from which one on, and what it is for."""

    name: str
    argv: tuple[str, ...]
    at_least: tuple[int, ...] = ()
    severity: str = INFO
    use: str = ""
    install: str = ""
    """The whole command, where the system's packages do not have it under its own name."""


TOOLS = (
    Tool("tmux", ("-V",), (3, 2), ERROR, "agents live in it"),
    Tool("git", ("--version",), (2, 31), ERROR, "work dirs and branches"),
    Tool("tar", ("--version",), (), ERROR, "files to and from agents"),
    Tool("ssh", ("-V",), (), INFO, "agents on other machines", "openssh-client"),
    Tool("rsync", ("--version",), (), INFO, "faster copies"),
    Tool(
        "docker",
        ("version", "--format", "{{.Server.Version}}"),
        (),
        INFO,
        "agents in containers",
        "docker.io",
    ),
    Tool("asciinema", ("--version",), (), INFO, "playing recordings in a terminal"),
    Tool(
        "claude",
        ("--version",),
        (),
        INFO,
        "agents of type claude",
        "npm install -g @anthropic-ai/claude-code",
    ),
    Tool("codex", ("--version",), (), INFO, "agents of type codex", "npm install -g @openai/codex"),
    Tool("opencode", ("--version",), (), INFO, "agents of type opencode", "npm install -g opencode-ai"),
)
_PACKAGERS = (
    ("apt-get", "apt-get install -y"),
    ("dnf", "dnf install -y"),
    ("apk", "apk add"),
    ("pacman", "pacman -S"),
    ("brew", "brew install"),
)


def examine(manager: Manager | None = None) -> list[Finding]:
    """Looks at everything at once; what does not answer in time is said to be slow, not waited for."""
    manager = default_manager(manager)
    checks = _Checks(manager)
    looks: list[tuple[str, Callable[[], Finding]]] = [
        *((tool.name, partial(checks.tool, tool)) for tool in TOOLS),
        ("python", checks.python),
        ("modal", checks.modal),
        ("host dir", checks.host_dir),
        ("tmux server", checks.server),
        ("descriptors", checks.descriptors),
        ("locale", checks.locale),
        ("config", checks.config),
        ("plugins", checks.plugins),
        ("garbage", checks.garbage),
    ]
    deadline = time.monotonic() + _ALL_S
    findings = []
    for name, future in [(name, Future(check)) for name, check in looks]:
        try:
            findings.append(future.result(max(0.0, deadline - time.monotonic())))
        except FutureTimeoutError:
            late = Finding(name, False, WARNING, "did not answer in time", "try again: mngr doctor")
            findings.append(late)
        except (MngrError, OSError) as error:
            found = f"could not be looked at: {error}"
            findings.append(Finding(name, False, WARNING, found, "mngr list shows more"))
    return findings


class _Checks:
    """What is looked at, each as one finding."""

    def __init__(self, manager: Manager) -> None:
        self._manager, self._env = manager, manager.env

    def tool(self, tool: Tool) -> Finding:
        path = which(tool.name, self._env)
        if not path:
            return Finding(
                tool.name, False, tool.severity, f"not installed ({tool.use})", _install(tool, self._env)
            )
        output, code = _ask((path, *tool.argv), self._env)
        found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", output)
        version = tuple(int(part) for part in found.groups() if part) if found else ()
        shown = ".".join(map(str, version)) if version else path
        if tool.at_least and version and version < tool.at_least:
            least = ".".join(map(str, tool.at_least))
            return Finding(
                tool.name, False, tool.severity, f"{shown}, older than {least}", _install(tool, self._env)
            )
        if code and tool.name == "docker":
            return Finding(tool.name, False, INFO, "no engine answers", "systemctl start docker")
        return Finding(tool.name, True, tool.severity, shown)

    def python(self) -> Finding:
        version = ".".join(map(str, sys.version_info[:3]))
        return Finding("python", sys.version_info >= (3, 11), ERROR, version, "install Python 3.11 or newer")

    def modal(self) -> Finding:
        """Modal's SDK, found without importing it: that takes most of a second."""
        if find_spec("modal"):
            return Finding("modal", True, INFO, "the SDK is installed")
        return Finding(
            "modal", False, INFO, "not installed (agents at Modal)", 'pip install "mngr-agents[modal]"'
        )

    def host_dir(self) -> Finding:
        path = host_dir(self._env)
        try:
            check_host_dir(path, self._env)
        except RefusedError as error:
            return Finding("host dir", False, ERROR, error.message, error.hint)
        there = path
        while not os.path.lexists(there):
            there = os.path.dirname(there)
        if not os.path.isdir(there) or not os.access(there, os.W_OK | os.X_OK):
            fix = f"chmod u+rwx {there}, or set MNGR_HOST_DIR to a folder of yours"
            return Finding("host dir", False, ERROR, f"{path} cannot be written", fix)
        space = os.statvfs(there)
        free = space.f_bavail * space.f_frsize
        found = f"{path}, {free / (1 << 30):.1f} GB free" + ("" if there == path else ", made when needed")
        if there == path and os.stat(path).st_mode & 0o077:
            return Finding("host dir", False, ERROR, f"{path} can be read by others", f"chmod 700 {path}")
        if free < _LOW_SPACE:
            return Finding("host dir", False, WARNING, found, "make room: mngr gc, mngr cleanup --stopped")
        return Finding("host dir", True, ERROR, found)

    def server(self) -> Finding:
        paths = HostPaths(host_dir(self._env))
        if not os.path.lexists(paths.socket):
            return Finding("tmux server", True, ERROR, "none runs: it starts with the first agent")
        output, code = _ask(tmux(paths, "list-sessions", "-F", "#{pid}"), self._env)
        if code == 124:
            fix = f"end it: fuser -k {paths.socket}"
            return Finding("tmux server", False, ERROR, f"{paths.socket} does not answer", fix)
        if code and "no server" not in output and "no sessions" not in output:
            return Finding("tmux server", False, WARNING, f"{paths.socket}: {output.strip()}", "mngr gc")
        sessions = len(output.split()) if not code else 0
        return Finding(
            "tmux server", True, ERROR, f"answers, {sessions} sessions" if not code else "none runs"
        )

    def descriptors(self) -> Finding:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        limit = _FDS_MOST if hard == resource.RLIM_INFINITY else min(hard, _FDS_MOST)
        agents = max(0, (limit - _FDS_OWN) // _FDS_EACH)
        found = f"limit {limit}: room for about {agents} agents at once"
        fix = "raise it: ulimit -Hn 65536 as root, or nofile in /etc/security/limits.conf"
        return Finding(
            "descriptors", agents >= _FEW_AGENTS, WARNING, found, "" if agents >= _FEW_AGENTS else fix
        )

    def locale(self) -> Finding:
        name = self._env.get("LC_ALL") or self._env.get("LC_CTYPE") or self._env.get("LANG") or ""
        ok = "utf8" in name.lower().replace("-", "")
        return Finding("locale", ok, WARNING, name or "not set", "" if ok else "export LANG=C.UTF-8")

    def config(self) -> Finding:
        try:
            config = self._manager.config
        except MngrError as error:
            return Finding("config", False, ERROR, error.message, error.hint or "mngr config edit")
        if config.ignored:
            return Finding("config", False, WARNING, "; ".join(config.ignored), "mngr config trust")
        where = [layer.source for layer in config.layers if layer.source.startswith("/")]
        return Finding(
            "config",
            True,
            ERROR,
            ", ".join(where) or f"none ({repo_root(self._manager.cwd) or 'no repository'})",
        )

    def plugins(self) -> Finding:
        broken: dict[str, str] = {}
        entries = [entry for entry in registry.plugin_entries() if entry.distribution]
        for entry in entries:
            try:
                registry.load_entry(entry)
            except registry.PluginError as error:
                broken.setdefault(error.hint, error.message)
        if broken:
            return Finding("plugins", False, WARNING, "; ".join(broken.values()), "; ".join(broken))
        names = sorted({entry.distribution for entry in entries})
        return Finding("plugins", True, WARNING, ", ".join(names) or "none installed")

    def garbage(self) -> Finding:
        count = len(garbage_on(self._manager.local, self._manager))
        found = f"{count} thing{'' if count == 1 else 's'} without an owner" if count else "none"
        return Finding("garbage", not count, INFO, found, "mngr gc" if count else "")


def which(name: str, env: Mapping[str, str]) -> str:
    """Where a program is on the PATH of an environment; empty when it is not."""
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder or ".", name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def _ask(argv: Sequence[str], env: Mapping[str, str]) -> tuple[str, int]:
    try:
        done = process.run(argv, timeout_s=_TOOL_S, env={"PATH": env.get("PATH", os.defpath)})
    except TimedOutError:
        return "", 124
    except CommandFailedError as error:
        done = error.completed
    return (done.stdout + done.stderr).decode(errors="replace"), done.code


def _install(tool: Tool, env: Mapping[str, str]) -> str:
    if " " in tool.install:
        return tool.install
    words = next((words for name, words in _PACKAGERS if which(name, env)), "install")
    return f"{'' if os.geteuid() == 0 or words.startswith('brew') else 'sudo '}{words} {tool.install or tool.name}"
