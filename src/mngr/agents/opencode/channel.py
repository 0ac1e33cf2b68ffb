"""The line to OpenCode's plugin: a request is a file that it takes, and the answer a file that it leaves."""

import os
from typing import Any

import msgspec
from msgspec import Struct

from mngr.agents.opencode.phase import TITLES
from mngr.agents.shared.jsonl import table
from mngr.hosts.protocol import Host
from mngr.sh.codes import Exit
from mngr.sh.program import argv
from mngr.tmux.pane import AgentPane, pane_values

_COMES_UP_S, _ANSWER_S = 90, 60
# Another screen than its own that stays as it is for so long will not become its own by itself.
_STUCK_S = 10
_TICK_S, _LOOK_S = 0.05, 0.2


class PluginStatus(Struct, frozen=True):
    """Whether it lives, whether it has come up, and what it asks."""

    alive: bool
    is_up: bool = False
    asked: tuple[dict[str, Any], ...] = ()


class PluginReply(Struct, frozen=True):
    """Whether a request was taken (None: not known), and the plugin's reply."""

    taken: bool | None
    reply: dict[str, Any] = {}

    @property
    def error(self) -> str:
        return str(self.reply.get("error", ""))


def see(pane: AgentPane) -> PluginStatus:
    """Waits until its plugin and its screen are there, or another one that does not change; then looks what it asks."""
    values = {**pane_values(pane), "home_dir": f"{pane.agent.dir}/opencode"}
    limits = {"tries": int(_COMES_UP_S / _LOOK_S), "stuck": int(_STUCK_S / _LOOK_S)}
    done = pane.host.run(argv("agents/opencode/see", *TITLES, **values, **limits), timeout_s=2 * _COMES_UP_S)
    asked = tuple(found for line in done.stdout.split(b"\n") if (found := table(line)))
    return PluginStatus(alive=done.code != Exit.GONE, is_up=done.code == 0, asked=asked)


def request(host: Host, home: str, op: str, **more: Any) -> PluginReply:
    """Hands over one request. What its plugin does not take in time is taken back, so that it never will."""
    name = f"{os.urandom(8).hex()}.json"
    done = host.run(
        argv("agents/opencode/request", home, name, str(int(_ANSWER_S / _TICK_S))),
        stdin=msgspec.json.encode({"op": op, **more}),
        timeout_s=2 * _ANSWER_S,
    )
    if done.code == Exit.NOT_TAKEN:
        return PluginReply(taken=False)
    return PluginReply(taken=True, reply=table(done.stdout)) if done.code == 0 else PluginReply(taken=None)
