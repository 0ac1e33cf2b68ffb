"""The line to OpenCode's plugin: a request is a file that it takes, and the answer a file that it leaves."""

import os
from typing import Any

import msgspec
from msgspec import Struct

from mngr.agents.opencode.phase import TITLES
from mngr.agents.shared.jsonl import table
from mngr.hosts.protocol import Host
from mngr.sh.quote import quote
from mngr.tmux.pane import AgentPane
from mngr.tmux.server import tmux_sh

_COMES_UP_S, _ANSWER_S = 90, 60
# Another screen than its own that stays as it is for so long will not become its own by itself.
_STUCK_S = 10
_TICK_S, _LOOK_S = 0.05, 0.2
_GONE, _NOT_UP, _NOT_TAKEN, _NO_ANSWER = 81, 85, 86, 87


class PluginStatus(Struct, frozen=True):
    """Whether it lives, whether it has come up, and what it asks."""

    alive: bool
    is_up: bool = False
    asked: tuple[dict[str, Any], ...] = ()


class PluginReply(Struct, frozen=True):
    """What became of a request. `taken` None: nobody knows."""

    taken: bool | None
    told: dict[str, Any] = {}

    @property
    def error(self) -> str:
        return str(self.told.get("error", ""))


def see(pane: AgentPane) -> PluginStatus:
    """Waits until its plugin and its screen are there, or another one that does not change; then looks what it asks."""
    home, titles = quote(f"{pane.agent.dir}/opencode"), "|".join(f"'0 '{quote(title)}*" for title in TITLES)
    script = f"""\
n=0 same=0 before=
while :; do
  seen=$({_ask(pane, "#{pane_dead} #{pane_title}")})
  case $seen in
    {titles}) [ ! -e {home}/ready ] || break; screen= ;;
    '0 '*) screen=$({tmux_sh(pane.paths)} capture-pane -p -t {quote(pane.target)} 2>/dev/null </dev/null) ;;
    *) exit {_GONE} ;;
  esac
  [ -n "$screen" ] && [ "$screen" = "$before" ] || same=0
  [ "$n" -lt {int(_COMES_UP_S / _LOOK_S)} ] && [ "$same" -lt {int(_STUCK_S / _LOOK_S)} ] || exit {_NOT_UP}
  before=$screen same=$((same + 1)) n=$((n + 1)); sleep {_LOOK_S}
done
for file in {home}/asked/*.json; do
  [ ! -e "$file" ] || {{ cat "$file"; echo; }}
done
exit 0
"""
    done = pane.host.run(("sh", "-c", script, "mngr-see"), timeout_s=2 * _COMES_UP_S)
    asked = tuple(found for line in done.stdout.split(b"\n") if (found := table(line)))
    return PluginStatus(alive=done.code != _GONE, is_up=done.code == 0, asked=asked)


def request(host: Host, home: str, op: str, **more: Any) -> PluginReply:
    """Hands over one request. What its plugin does not take in time is taken back, so that it never will."""
    name = f"{os.urandom(8).hex()}.json"
    done = host.run(
        ("sh", "-c", _request_script(home, name), "mngr-request"),
        stdin=msgspec.json.encode({"op": op, **more}),
        timeout_s=2 * _ANSWER_S,
    )
    if done.code == _NOT_TAKEN:
        return PluginReply(taken=False)
    return PluginReply(taken=True, told=table(done.stdout)) if done.code == 0 else PluginReply(taken=None)


def _request_script(home: str, name: str) -> str:
    ticks = int(_ANSWER_S / _TICK_S)
    return f"""\
umask 077
cd {quote(home)} || exit {_NOT_TAKEN}
cat >in/{name}.new && mv in/{name}.new in/{name} || exit {_NOT_TAKEN}
pid=; {{ read -r pid rest <ready; }} 2>/dev/null
n=0
until [ -e answer/{name} ] || [ "$n" -ge {ticks} ] || ! kill -0 "${{pid:-0}}" 2>/dev/null; do
  n=$((n + 1)); sleep {_TICK_S}
done
mv in/{name} in/{name}.back 2>/dev/null && {{ rm -f in/{name}.back; exit {_NOT_TAKEN}; }}
[ -e answer/{name} ] || exit {_NO_ANSWER}
cat answer/{name} && rm -f answer/{name}
"""


def _ask(pane: AgentPane, what: str) -> str:
    target = quote(pane.target)
    return f"{tmux_sh(pane.paths)} display-message -p -t {target} '{what}' 2>/dev/null </dev/null"
