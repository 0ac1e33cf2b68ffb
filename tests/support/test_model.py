"""The scripted model says what it was told to, in each of its languages."""

import http.client
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tests.support.model import Fault, Model, Reply, Tokens, ToolCall
from tests.support.model.fixture import model as model

from mngr.testing.waiting import PATIENCE_S

PATHS = {
    "anthropic": "/v1/messages",
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
}


def post(model: Model, path: str, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=PATIENCE_S)
    try:
        connection.request("POST", path, msgspec.json.encode(body))
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def asked(api: str, prompt: str, *, stream: bool = True, tools: bool = True) -> dict[str, Any]:
    said = [{"role": "user", "content": prompt}]
    body: dict[str, Any] = {"model": "m-1", "stream": stream, "tools": [{"name": "t"}] if tools else []}
    body["stream_options"] = {"include_usage": True}
    return {**body, "input" if api == "responses" else "messages": said}


def data_lines(stream: bytes) -> Iterator[Any]:
    for line in stream.split(b"\n"):
        if line.startswith(b"data: ") and line != b"data: [DONE]":
            yield msgspec.json.decode(line[6:])


@pytest.mark.parametrize("api", PATHS)
def test_it_plays_text_and_tool_calls_in_a_stream(model: Model, api: str) -> None:
    call = ToolCall("shell", {"cmd": "echo 'hi'"})
    model.add(Reply("first I look", (call,), Tokens(input=7, output=5)), match="fix it")
    status, headers, stream = post(model, PATHS[api], asked(api, "please fix it"))
    assert (status, headers["content-type"]) == (200, "text/event-stream")
    assert b"first I look" in stream
    assert b'"shell"' in stream
    assert msgspec.json.encode(msgspec.json.encode(call.input).decode()) in stream
    assert b'_tokens":5' in stream
    assert all(isinstance(event, dict) for event in data_lines(stream))


@pytest.mark.parametrize("api", PATHS)
def test_a_prompt_without_a_script_is_echoed_and_recorded(model: Model, api: str) -> None:
    status, _, answer = post(model, PATHS[api], asked(api, "anybody there?", stream=False))
    assert (status, b"You said: anybody there?" in answer) == (200, True)
    assert model.prompts == ["anybody there?"]
    assert (model.asked[0].api, model.asked[0].model) == (api, "m-1")


def test_a_side_request_gets_text_and_uses_up_nothing(model: Model) -> None:
    model.add("the answer", match="x")
    _, _, title = post(model, PATHS["chat"], asked("chat", "x", stream=False, tools=False))
    assert b"A title" in title
    assert model.prompts == []
    assert b"the answer" in post(model, PATHS["chat"], asked("chat", "x", stream=False))[2]


def test_the_next_reply_comes_after_the_results_of_tools(model: Model) -> None:
    model.add(Reply(calls=(ToolCall("t", {}),)), "all done", match="go")
    body = asked("anthropic", "go", stream=False)
    body["messages"] += [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "t", "input": {}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "ok"},
                {"type": "text", "text": "<system-reminder>be kind</system-reminder>"},
            ],
        },
    ]
    assert b"all done" in post(model, PATHS["anthropic"], body)[2]


@pytest.mark.parametrize("api", PATHS)
def test_faults_come_first_and_say_how_long_to_wait(model: Model, api: str) -> None:
    model.add(Reply("at last", faults=(Fault(429, retry_after_s=3), Fault(529))), match="storm")
    first, headers, _ = post(model, PATHS[api], asked(api, "storm"))
    assert (first, headers["retry-after"]) == (429, "3")
    assert post(model, PATHS[api], asked(api, "storm"))[0] == 529
    assert b"at last" in post(model, PATHS[api], asked(api, "storm"))[2]


def test_a_stream_can_break_off(model: Model) -> None:
    model.add(Reply("whole", faults=(Fault(cut_after=2),)), match="cut")
    with pytest.raises(http.client.IncompleteRead):
        post(model, PATHS["anthropic"], asked("anthropic", "cut"))
    assert b"message_stop" in post(model, PATHS["anthropic"], asked("anthropic", "cut"))[2]


def test_an_answer_is_held_back_until_the_test_wants_it(model: Model) -> None:
    go = threading.Event()
    model.add(Reply("late", until=go), match="wait")
    answers: list[bytes] = []
    asker = threading.Thread(
        target=lambda: answers.append(post(model, PATHS["chat"], asked("chat", "wait"))[2])
    )
    asker.start()
    deadline = time.monotonic() + 90
    while not model.asked and time.monotonic() < deadline:
        time.sleep(0.01)
    assert answers == []
    go.set()
    asker.join(90)
    assert b"late" in answers[0]


def test_it_counts_tokens_and_can_be_gone_and_back(model: Model) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "count me"}]}
    assert msgspec.json.decode(post(model, "/v1/messages/count_tokens", body)[2])["input_tokens"] > 0
    model.stop()
    with pytest.raises(ConnectionRefusedError):
        post(model, PATHS["chat"], asked("chat", "x"))
    model.start()
    assert post(model, PATHS["chat"], asked("chat", "x"))[0] == 200


def test_one_that_is_gone_hangs_up_and_answers_again_on_the_same_port(model: Model) -> None:
    connection = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=PATIENCE_S)

    def ask() -> bytes:
        connection.request("POST", PATHS["chat"], msgspec.json.encode(asked("chat", "hello", stream=False)))
        return connection.getresponse().read()

    assert ask()
    model.stop()
    # Without this it would open another one.
    connection.auto_open = 0
    with pytest.raises((http.client.HTTPException, OSError)):
        ask()
    connection.close()
    model.forget()
    assert post(model, PATHS["chat"], asked("chat", "hello"))[0] == 200
