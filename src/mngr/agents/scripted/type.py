"""The shipped stand-in for a coding agent: it follows a playbook, costs nothing and does what it is told.

Everything that mngr does with a coding agent can be tried, and is tested, with this one.
"""

import hashlib
import io
import os
import sys
import time
import zipfile
from collections.abc import Iterator
from functools import cache

import msgspec

from mngr.agents.command import receipt_of
from mngr.agents.protocol import Command
from mngr.agents.scripted.phase import phase
from mngr.agents.shared.jsonl import read_tail, turn_of, usage_of
from mngr.errors import UsageError
from mngr.hosts.protocol import Host, shares_files
from mngr.model.agent import AgentSpec
from mngr.model.event import NEEDS_INPUT, PROMPT_SUBMITTED, STARTED, TURN_ENDED
from mngr.model.message import Delivery, Receipt, Turn, Usage
from mngr.process import wait_until
from mngr.sh.program import assignments, load, quote
from mngr.store.paths import AgentPaths, HostPaths
from mngr.store.probe import Evidence
from mngr.store.state import Phase
from mngr.store.untrusted import read_event
from mngr.tmux.pane import AgentPane, AroundPaste, check_size, look, paste

PROMPT_QUEUED = "prompt_queued"

_PACKAGE = "mngr/agents/scripted/program"
_MAIN = (
    b"import sys\n\nfrom mngr.agents.scripted.program.__main__ import main\n\nsys.exit(main(sys.argv[1:]))\n"
)
# The program sets this title after it has asked for marked pastes: from then on nothing typed is lost.
_READY_TITLE = "mngr-scripted"
_READY_S = 60
_EVIDENCE_S = 4
_TRANSCRIPT_LIMIT, _USAGE_LIMIT = 8 << 20, 64 << 10


class ScriptedType:
    """The type `scripted`. Its one argument is a playbook; without one it echoes every message as a turn."""

    name = "scripted"

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        """Writes the program and, unless the host has it already, the playbook from this machine."""
        own = _own(agent, host)
        host.write(f"{own.dir}/program.pyz", _program())
        playbook = f"{own.dir}/playbook.json"
        if agent.argv and host.run(("test", "-e", playbook)).code != 0:
            path = agent.argv[0]
            try:
                with open(path, "rb") as file:
                    data = file.read()
                msgspec.json.decode(data, type=list[dict[str, object]])
            except OSError as error:
                raise UsageError(
                    f'cannot read the playbook "{path}": {error.strerror}',
                    hint="it is read on this machine, once, at create",
                ) from None
            except msgspec.DecodeError as error:
                raise UsageError(
                    f'the playbook "{path}" is not a JSON list of steps: {error}',
                    hint='for instance [{"say": "hello"}]',
                ) from None
            host.write(playbook, data)

    def command(self, agent: AgentSpec, host: Host) -> Command:
        if len(agent.argv) > 1:
            raise UsageError(
                f"a scripted agent takes one playbook, not {len(agent.argv)} arguments",
                hint=f"mngr create {agent.name} scripted -- playbook.json",
            )
        own = _own(agent, host)
        playbook = (f"{own.dir}/playbook.json",) if agent.argv else ()
        # The first python3 on people's PATH is often a script that looks for the right one, at a tenth of a second.
        python = sys.executable if shares_files(host) else "python3"
        return Command((python, f"{own.dir}/program.pyz", *playbook))

    def phase(self, evidence: Evidence, now: float) -> Phase:
        return phase(evidence, now)

    def send(self, pane: AgentPane, message: bytes) -> Receipt:
        """Pastes once, then looks for its own word that it took the message; Enter may come twice."""
        check_size(message)

        def has_come_up() -> bool:
            seen = look(pane)
            return not seen.alive or seen.title == _READY_TITLE

        if not wait_until(has_come_up, _READY_S):
            return Receipt(Delivery.BLOCKED, "nothing was sent: its program has not come up", time.time())
        digest = hashlib.sha256(message).hexdigest()
        pasted = paste(pane, message, enter=True, around=_evidence_of(pane, digest))
        if not pasted.taken:
            return receipt_of(pasted)
        printed = [line.partition(b" ")[::2] for line in pasted.output.split(b"\n")]
        kinds = {event.kind for tag, text in printed if tag == b"said" and (event := read_event(text))}
        last = next((read_event(text) for tag, text in printed if tag == b"last"), None)
        now = time.time()
        if PROMPT_SUBMITTED in kinds:
            return Receipt(Delivery.DELIVERED, f"it took the message {digest[:12]}", now)
        if PROMPT_QUEUED in kinds:
            return Receipt(Delivery.QUEUED, "it is busy and will take the message at its next pause", now)
        if (b"dead", b"0") not in printed:
            return Receipt(Delivery.BLOCKED, "its process ended before it took the message", now)
        if last is None or last.kind in (STARTED, PROMPT_SUBMITTED):
            return Receipt(
                Delivery.QUEUED, "the message is in its terminal; it is busy and has not read it yet", now
            )
        return Receipt(
            Delivery.UNKNOWN,
            f"it waits, but did not say within {_EVIDENCE_S} s that it took the message",
            now,
        )

    def usage(self, agent: AgentSpec, host: Host) -> Usage:
        tail = read_tail(host, f"{_own(agent, host).dir}/usage.json", _USAGE_LIMIT)
        return usage_of(b"\n".join(tail.lines))

    def transcript(self, agent: AgentSpec, host: Host) -> Iterator[Turn]:
        tail = read_tail(host, f"{_own(agent, host).dir}/conversation.jsonl", _TRANSCRIPT_LIMIT)
        yield from filter(None, map(turn_of, tail.lines))

    def resume_command(self, agent: AgentSpec, host: Host) -> Command:
        """The same: the program itself goes on after its last finished step."""
        return self.command(agent, host)

    def copy_conversation(self, agent: AgentSpec, clone: AgentSpec, host: Host) -> None:
        source, target = quote(_own(agent, host).dir), quote(_own(clone, host).dir)
        copy = f'[ ! -e {source}/"$file" ] || cp -p {source}/"$file" {target}/"$file" || exit'
        files = "conversation.jsonl progress.json playbook.json"
        script = f"umask 077; mkdir -p {target} || exit; for file in {files}; do {copy}; done"
        host.run(("sh", "-c", script)).check(f'copying the conversation of "{agent.name}"')


@cache
def _program() -> bytes:
    """The program, whole: a zip file that Python runs. Its modules keep their names, so that they import each other."""
    folders = _PACKAGE.split("/")
    members = {"/".join((*folders[:depth], "__init__.py")): b"" for depth in range(1, len(folders))}
    members["__main__.py"] = _MAIN
    here = os.path.join(os.path.dirname(__file__), "program")
    for name in sorted(os.listdir(here)):
        if name.endswith(".py"):
            with open(os.path.join(here, name), "rb") as file:
                members[f"{_PACKAGE}/{name}"] = file.read()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _own(agent: AgentSpec, host: Host) -> AgentPaths:
    return HostPaths(host.dir).agent(agent.id)


def _evidence_of(pane: AgentPane, digest: str) -> AroundPaste:
    """Waits after the paste until the log names the message; presses Enter once more halfway."""
    kinds = "|".join((STARTED, PROMPT_SUBMITTED, TURN_ENDED, NEEDS_INPUT))
    limits = assignments(log=pane.agent.events, digest=digest, kinds=kinds, tries=int(_EVIDENCE_S / 0.05))
    return AroundPaste(
        before=f"{limits}{load('agents/scripted/evidence')}mngr_begin_evidence",
        after="mngr_evidence",
        timeout_s=_EVIDENCE_S,
    )
