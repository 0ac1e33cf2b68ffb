"""OpenCode's home for one agent: its own directories, so that the user's stay as they are, and how it is started."""

import os
from collections.abc import Sequence
from typing import Any

import msgspec

from mngr.errors import UsageError
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.sh.lines import put
from mngr.sh.program import READ_AND_RUN, encode, load, quote
from mngr.store.paths import HostPaths

_PLUGIN = os.path.join(os.path.dirname(__file__), "plugin.js")

_SETTINGS = {"$schema": "https://opencode.ai/config.json", "autoupdate": False, "share": "disabled"}
# OpenCode installs a package into every directory that may hold a plugin, from the network, unless it is told that
# it is there. Ours needs none.
_LOCK = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
_FOLDERS = (
    "config/opencode/plugin config/opencode/node_modules data/opencode state cache in taken answer asked"
)

_OURS = ("--pure", "-s", "--session", "-c", "--continue", "--fork", "--mini")
_MODEL, _AGENT = ("-m", "--model"), ("--agent",)


def home_of(agent: AgentSpec, host: Host) -> str:
    return f"{HostPaths(host.dir).agent(agent.id).dir}/opencode"


def make_home(agent: AgentSpec, host: Host) -> None:
    """Writes settings and the plugin; what OpenCode wrote there is left alone."""
    home = home_of(agent, host)
    with open(_PLUGIN, encoding="utf-8") as file:
        plugin = file.read()
    files = {
        "launch.sh": load("agents/opencode/launch"),
        "prompt.json": msgspec.json.encode(prompt_options(agent.argv)).decode(),
        "config/opencode/opencode.json": msgspec.json.encode(_SETTINGS).decode(),
        "config/opencode/package-lock.json": msgspec.json.encode(_LOCK).decode(),
        "config/opencode/plugin/mngr.js": plugin,
    }
    script = f"umask 077; mkdir -p {quote(home)} && cd {quote(home)} && mkdir -p {_FOLDERS} || exit\n"
    script += "".join(f"{put(f'{home}/{name}', text)} || exit\n" for name, text in files.items())
    host.run(READ_AND_RUN, stdin=encode(script)).check(f'preparing "{agent.name}"')


def launch_argv(agent: AgentSpec, host: Host, *resume: str) -> tuple[str, ...]:
    """How the program is started, with the words that resume a session: through a few lines of sh that end in exec."""
    for name in (word.partition("=")[0] for word in agent.argv):
        if name in _OURS:
            raise UsageError(
                f'{name} of OpenCode would take "{agent.name}" out of mngr\'s control',
                hint="leave it out: mngr start goes on with its conversation, and mngr clone copies it",
            )
    return ("sh", f"{home_of(agent, host)}/launch.sh", *resume, *agent.argv)


def launch_env(agent: AgentSpec, host: Host) -> dict[str, str]:  # noqa: ARG001
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1"}


def prompt_options(argv: Sequence[str]) -> dict[str, Any]:
    """What a message must say again of the program's own arguments: they are its screen's, not the conversation's."""
    found: dict[str, Any] = {}
    rest = iter(argv)
    for word in rest:
        name, sign, value = word.partition("=")
        if not sign and word in (*_MODEL, *_AGENT):
            value = next(rest, "")
        provider, slash, model = value.partition("/")
        if name in _MODEL and slash:
            found["model"] = {"providerID": provider, "modelID": model}
        elif name in _AGENT and value:
            found["agent"] = value
    return found
