"""Sending to an app server that is in the middle of something, played by a few lines of Python."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tmux.stage import Stage

from mngr.agents.codex.send import send
from mngr.model.message import Delivery

PROGRAM = """#!{python}
import json, struct, sys
heard, said = sys.stdin.buffer, sys.stdout.buffer
while heard.readline() != b"\\r\\n":
    pass
said.write(b"HTTP/1.1 101 Switching Protocols\\r\\n\\r\\n")
said.flush()
while head := heard.read(2):
    size = head[1] & 127
    if size == 126:
        (size,) = struct.unpack(">H", heard.read(2))
    heard.read(4)
    asked = json.loads(heard.read(size))
    about, answer = asked.get("params", {{}}), {{"result": {{}}}}
    if asked["method"] == "thread/loaded/list":
        answer = {{"result": {{"data": ["title", "ours"]}}}}
    elif asked["method"] == "thread/read" and about["threadId"] == "title":
        answer = {{"error": {{"message": "thread not found: title"}}}}
    elif asked["method"] == "thread/read":
        answer = {{"result": {{"thread": {{"id": "ours", "status": {{"type": "idle"}}, "path": "{session}"}}}}}}
    elif asked["method"] == "turn/start":
        with open("{session}", "a") as file:
            file.write(json.dumps({{"client_id": about["clientUserMessageId"]}}, separators=(",", ":")) + "\\n")
    if "id" in asked:
        text = json.dumps({{"id": asked["id"], **answer}}).encode()
        said.write(struct.pack(">BBH", 0x81, 126, len(text)) + text)
        said.flush()
"""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    stage.close()


@pytest.mark.accept("K8")
def test_a_conversation_that_ends_while_they_are_listed_is_not_in_the_way(stage: Stage) -> None:
    pane = stage.start("sleep", "1000")
    home, session = Path(pane.agent.dir) / "codex", stage.folder / "session.jsonl"
    home.mkdir()
    (home / "path").write_text(f"{home}:/usr/bin:/bin\n")
    (home / "codex").write_text(PROGRAM.format(python=sys.executable, session=session))
    (home / "codex").chmod(0o755)
    receipt = send(pane, b"hello")
    assert receipt.status is Delivery.DELIVERED, receipt
    assert session.read_text().count("client_id") == 1
