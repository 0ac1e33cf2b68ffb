"""A run as a trace for OpenTelemetry: OTLP over HTTP in its JSON form, with the conventions for generative AI.

A span for the run, one for each task's agent with what its model requests used, and one for each stretch of its time
and each step of the integration. Ids come from the run's id, so that a run that is sent again is the same trace.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

import mngr
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.report.data.report_model import ReportModel
from mngr_tmr.run_folder.folder import RunFolder

_TIMEOUT_S = 10.0
_SYSTEMS = {"claude": "anthropic", "claude-headless": "anthropic", "codex": "openai"}
_INTERNAL, _OK, _ERROR = 1, 1, 2


def send_trace(endpoint: str, folder: RunFolder, model: ReportModel) -> str:
    """Sends the run to a collector. The error message; empty when it was sent."""
    import http.client  # only those who export load it

    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return f'no trace was sent: [telemetry] otlp = "{endpoint}" is no http address'
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    path = parts.path.rstrip("/")
    path = path if path.endswith("/v1/traces") else f"{path}/v1/traces"
    body = folder.redactor.json(make_trace(folder, model))
    try:
        connection = connect(parts.hostname, parts.port, timeout=_TIMEOUT_S)
        try:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read(1 << 16)
        finally:
            connection.close()
    except (OSError, http.client.HTTPException, ValueError) as error:
        return f"no trace was sent to {parts.hostname}: {error}"
    if answer.status // 100 != 2:
        return f"no trace was sent to {parts.hostname}: it answered {answer.status} {answer.reason}"
    return ""


def make_trace(folder: RunFolder, model: ReportModel) -> dict[str, Any]:
    """The request of the protocol: `ExportTraceServiceRequest`."""
    resource = {"service.name": "mngr", "service.version": mngr.__version__}
    scope = {
        "scope": {"name": "mngr_tmr", "version": mngr.__version__},
        "spans": list(spans_of(folder, model)),
    }
    return {
        "resourceSpans": [{"resource": {"attributes": attributes(resource)}, "scopeSpans": [scope]}],
    }


def spans_of(folder: RunFolder, model: ReportModel) -> Iterator[dict[str, Any]]:
    """The run's span first, then those of its tasks and of its integration."""
    spec, options = model.spec, model.spec.options
    trace = sha256(f"{spec.id} {spec.created_at}".encode()).hexdigest()[:32]
    records, stages = [one for one in model.now.records if one.spans], model.now.stage_spans
    ends = [*(record.spans[-1].end for record in records), *(stage.end for stage in stages)]
    until = max((spec.created_at, *ends))

    def span(
        key: str, name: str, time: tuple[float, float], about: Mapping[str, Any], parent: str = ""
    ) -> Any:
        found = {
            "traceId": trace,
            "spanId": span_id(trace, key),
            "name": name,
            "kind": _INTERNAL,
            "startTimeUnixNano": str(int(time[0] * 1e9)),
            "endTimeUnixNano": str(int(time[1] * 1e9)),
            "attributes": attributes(about),
        }
        return found | ({"parentSpanId": span_id(trace, parent)} if parent else {})

    about = {"mngr.run": spec.id, "mngr.run.folder": folder.path, "vcs.ref.head.revision": spec.base}
    yield span("run", "mngr tmr run", (spec.created_at, until), {**about, "mngr.run.state": str(model.state)})
    for record in records:
        key, name = record.task.slug, record.task.node_id
        time = (record.spans[0].start, record.spans[-1].end)
        agent = span(
            key, f"invoke_agent {name}", time, agent_attributes(record, options.type, options.model), "run"
        )
        failed = {"code": _ERROR, "message": record.message}
        yield agent | {"status": failed if record.end == "failed" else {"code": _OK}}
        for number, one in enumerate(record.spans):
            yield span(f"{key} {number}", one.kind, (one.start, one.end), {"test.case.name": name}, key)
    for number, stage in enumerate(stages):
        yield span(f"integrate {number}", f"integrate: {stage.step}", (stage.start, stage.end), {}, "run")


def agent_attributes(record: TaskRecord, type: str, model: str) -> dict[str, Any]:
    """What the conventions for generative AI call an agent's work, and what of it is ours."""
    usage = record.usage
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": _SYSTEMS.get(type, type),
        "gen_ai.agent.name": record.task.node_id,
        "gen_ai.agent.id": record.agent,
        "gen_ai.request.model": model,
        "gen_ai.response.model": ", ".join(usage.models),
        "gen_ai.usage.input_tokens": usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
        "mngr.usage.turns": usage.turns,
        "mngr.usage.cost_usd": usage.cost_usd,
        "mngr.task.end": record.end,
        "mngr.task.attempts": record.attempt,
        "test.case.name": record.task.node_id,
    }


def attributes(about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Values as the protocol writes them; what is not known is left out."""
    kinds = {str: "stringValue", int: "intValue", float: "doubleValue"}
    return [
        {"key": key, "value": {kinds[type(value)]: str(value) if isinstance(value, int) else value}}
        for key, value in about.items()
        if value not in ("", None)
    ]


def span_id(trace: str, key: str) -> str:
    return sha256(f"{trace} {key}".encode()).hexdigest()[:16]
