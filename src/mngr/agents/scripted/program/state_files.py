"""What the agent leaves behind in its state directory."""

from __future__ import annotations

import json
import os
import time
from typing import Any


class StateFiles:
    """Events, the conversation, progress and results."""

    def __init__(self) -> None:
        self.dir = os.environ["MNGR_AGENT_STATE_DIR"]
        self.outbox = os.environ.get("MNGR_OUTBOX") or os.path.join(self.dir, "outbox")

    def event(self, kind: str, **data: Any) -> None:
        self._append("events.jsonl", {"at": time.time(), "kind": kind, "data": data})
        self.ring()

    def turn(self, role: str, text: str) -> None:
        self._append("conversation.jsonl", {"role": role, "text": text, "at": time.time()})

    def ring(self) -> None:
        host_dir = os.environ.get("MNGR_HOST_DIR")
        if host_dir:
            self.replace(os.path.join(host_dir, "bell"), f"{os.getpid()} {time.time()}\n")

    def load(self, name: str) -> dict[str, Any]:
        try:
            with open(os.path.join(self.dir, name), encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def replace(self, path: str, text: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = f"{path}.new.{os.getpid()}"
        with open(temporary, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        os.replace(temporary, path)

    def _append(self, name: str, record: dict[str, Any]) -> None:
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        fd = os.open(os.path.join(self.dir, name), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(fd, line)
        finally:
            os.close(fd)
