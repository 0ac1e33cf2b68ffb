"""A run is sent to an OpenTelemetry collector as one trace; a collector that is away is one line and no more."""

import json
import os
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.support.needs import needs
from tests.tmr.report.desk import T0, record

from mngr_tmr.model.record import StageSpan, TaskRecord, TaskSpan
from mngr_tmr.model.run import RunOptions, RunSpec
from mngr_tmr.model.usage import AgentUsage
from mngr_tmr.report.data.report_model import ReportModel, RunReading, make_report_model
from mngr_tmr.report.out.telemetry import send_trace
from mngr_tmr.run_folder.folder import RunFolder
from mngr_tmr.run_folder.redact import Redactor

pytestmark = pytest.mark.accept("O21")

_CLASSES = "opentelemetry.proto.collector.trace.v1.trace_service_pb2"
USAGE = AgentUsage(100, 20, 300, 40, 0.25, 3, ("opus-4",))
SPANS = (TaskSpan("launch", T0 + 1, T0 + 2), TaskSpan("work", T0 + 2, T0 + 60.5))


class Collector:
    """Keeps the requests that it is sent, and answers each with a status."""

    def __init__(self) -> None:
        self.got: list[tuple[str, str, bytes]] = []
        self.status = 200
        collector = self

        class Receive(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.got.append((self.path, self.headers["Content-Type"], body))
                self.send_response(collector.status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Receive)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = Thread(target=self.server.serve_forever)
        self.thread.start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.stop()


def model(*records: TaskRecord) -> ReportModel:
    options = RunOptions(args=("--model", "opus"))
    tasks = tuple(one.task for one in records)
    spec = RunSpec("r1", "/repo", "b" * 40, T0, tasks, ("pytest",), options=options)
    stages = (StageSpan("building", T0 + 70, T0 + 80),)
    return make_report_model(RunReading(spec, records, stage_spans=stages))


def both() -> ReportModel:
    bad = record("bad", end="failed", message="said f00dcafe-secret", spans=SPANS[:1])
    return model(record("good", spans=SPANS, usage=USAGE), bad, record("never"))


def values(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


def test_a_run_is_one_trace(collector: Collector, tmp_path: Path) -> None:
    folder = RunFolder(str(tmp_path), Redactor({"TOKEN": "f00dcafe-secret"}))
    assert send_trace(collector.url, folder, both()) == ""
    ((path, kind, body),) = collector.got
    assert (path, kind, b"f00dcafe" in body) == ("/v1/traces", "application/json", False)
    (resource,) = json.loads(body)["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    by_id = {span["spanId"]: span for span in spans}
    tree = [(span["name"], by_id.get(span.get("parentSpanId", ""), {}).get("name", "")) for span in spans]
    good, bad = (f"invoke_agent {record(name).task.node_id}" for name in ("good", "bad"))
    assert tree == [
        ("mngr tmr run", ""),
        (good, "mngr tmr run"),
        ("launch", good),
        ("work", good),
        (bad, "mngr tmr run"),
        ("launch", bad),
        ("integrate: building", "mngr tmr run"),
    ]
    assert len({span["traceId"] for span in spans}) == 1
    about = values(spans[1])
    shown = [about[f"gen_ai.{name}"] for name in ("operation.name", "provider.name", "request.model")]
    assert shown == ["invoke_agent", "anthropic", "opus"]
    tokens = [about[f"gen_ai.usage.{name}_tokens"] for name in ("input", "output")]
    assert (tokens, about["mngr.usage.cost_usd"]) == (["440", "20"], 0.25)
    assert [span["status"]["code"] for span in (spans[1], spans[4])] == [1, 2]
    times = (int(spans[1]["startTimeUnixNano"]), int(spans[1]["endTimeUnixNano"]))
    assert times == (int((T0 + 1) * 1e9), int((T0 + 60.5) * 1e9))
    assert send_trace(f"{collector.url}/v1/traces/", folder, both()) == ""
    assert collector.got[1] == collector.got[0]


def test_the_protocols_own_classes_read_it(collector: Collector, tmp_path: Path) -> None:
    needs("opentelemetry-proto (extra dev)", sys.executable, "-c", f"import {_CLASSES}")
    assert send_trace(collector.url, RunFolder(str(tmp_path)), both()) == ""
    request = import_module(_CLASSES).ExportTraceServiceRequest()
    # The protocol's JSON writes ids as hex where JSON of protobuf has base64.
    import_module("google.protobuf.json_format").Parse(collector.got[0][2], request)
    spans = request.resource_spans[0].scope_spans[0].spans
    assert [span.name for span in spans][:2] == [
        "mngr tmr run",
        f"invoke_agent {record('good').task.node_id}",
    ]
    assert spans[0].kind == 1
    assert {one.key: one.value.int_value for one in spans[1].attributes}["gen_ai.usage.output_tokens"] == 20


@pytest.mark.parametrize("url", ["localhost:4318", "ftp://localhost", "http://"])
def test_what_is_no_address_is_one_line(url: str, tmp_path: Path) -> None:
    assert send_trace(url, RunFolder(str(tmp_path)), both()).startswith(
        "no trace was sent: [telemetry] otlp = "
    )


def test_a_collector_that_is_away_or_refuses_is_one_line(collector: Collector, tmp_path: Path) -> None:
    folder = RunFolder(str(tmp_path))
    collector.status = 503
    assert "it answered 503" in send_trace(collector.url, folder, both())
    collector.server.server_close()
    problem = send_trace(collector.url, folder, both())
    assert problem.startswith("no trace was sent to 127.0.0.1: ")
    assert os.linesep not in problem
