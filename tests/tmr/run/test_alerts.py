"""Alerts that leave the terminal: a command, a webhook, and both when they hang or fail."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, Pipeline

import mngr
from mngr_tmr.cli.settings import alerts_of
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.model.alerts import AlertTargets
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import CauseRepeated
from mngr_tmr.model.limits import RunLimits
from mngr_tmr.run.alerts import send_alert
from mngr_tmr.run.execution import Execution
from mngr_tmr.run_folder.redact import NOTHING_TO_HIDE, Redactor

ALERT = Entry(
    5, "alert", "intended", message="5 tasks failed: s3cret-token", fact=CauseRepeated("c1", "launch", "boom")
)


class Receiver:
    """A server on loopback that keeps what was posted to it and answers with `code`, or not at all."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, object]] = []
        self.code = 200
        self.silence = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                outer.bodies.append(msgspec.json.decode(self.rfile.read(length)))
                if not outer.code:
                    outer.silence.wait()
                    return
                self.send_response(outer.code)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.silence.set()
    made.server.shutdown()
    made.server.server_close()


@pytest.mark.accept("O8")
def test_command_and_webhook_get_the_text_without_values_of_secrets(
    tmp_path: Path, receiver: Receiver
) -> None:
    targets = AlertTargets(f"tee '{tmp_path}/alert of a run'", receiver.address)
    send_alert(targets, "nightly", Redactor({"TOKEN": "s3cret-token"}), ALERT)
    assert (tmp_path / "alert of a run").read_text() == "5 tasks failed: [hidden TOKEN]\n"
    (body,) = receiver.bodies
    assert (body["text"], body["run"]) == ("5 tasks failed: [hidden TOKEN]", "nightly")
    alert = body["alert"]
    assert isinstance(alert, dict)
    assert (alert["cause"], alert["stage"], alert["title"]) == ("c1", "launch", "boom")


@pytest.mark.accept("O8")
def test_what_hangs_or_fails_is_given_up_in_time_and_its_address_is_not_told(receiver: Receiver) -> None:
    for command, code, words in (
        ("sleep 600", 200, "its command"),
        ("false", 500, "its command ended with 1; its webhook answered 500"),
        ("/no/such/program", 200, "its command failed"),
        ("", 0, "its webhook failed: TimeoutError"),
    ):
        receiver.code = code
        started = time.monotonic()
        with pytest.raises(mngr.MngrError) as failed:
            send_alert(AlertTargets(command, receiver.address), "r1", NOTHING_TO_HIDE, ALERT, deadline_s=1.0)
        assert words in failed.value.message, failed.value.message
        assert receiver.address not in str(failed.value)
        assert time.monotonic() - started < 30


def test_a_wrong_key_or_address_of_an_alert_is_refused() -> None:
    for alert in ({"comand": "x"}, {"webhook": "ftp://x"}, {"command": "'"}, {"command": 3}):
        with pytest.raises(mngr.UsageError) as refused:
            alerts_of({"alert": alert})
        assert "alert" in refused.value.message
    assert alerts_of({}) == AlertTargets()


@pytest.mark.slow
@pytest.mark.accept("O8")
def test_launches_that_fail_alike_are_told_while_the_run_goes_on(pipeline: Pipeline, tmp_path: Path) -> None:
    options = replace(KNOBS, setup="no-such-tool --install", slots=2, limits=RunLimits(breaker_after=3))
    spec = pipeline.spec({f"test_{number}": [UNCHANGED] for number in range(6)}, options)
    folder, told = pipeline.folder(spec), tmp_path / "told"
    alerts = AlertTargets(f"tee '{told}'")
    with Execution(folder, manager=pipeline.manager, env={}, alerts=alerts) as execution:
        execution.run_tasks(lambda _line: None)
    entries = read_journal(folder.journal)
    (alert,) = (entry for entry in entries if isinstance(entry.fact, CauseRepeated))
    assert told.read_text() == f"{alert.message}\n"
    assert alert.message.startswith("3 tasks failed at launch with the same cause: ")
    assert "Likely cause: dependency or environment" in alert.message
    assert [entry.kind for entry in entries if entry.step == "alert"] == ["intended", "done"]
    assert sum((entry.step, entry.kind) == ("launch", "failed") for entry in entries) == 6
