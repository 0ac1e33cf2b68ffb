"""Many hosts that cost nothing: stubs with an agent each. `python -m tests.support.modal.fleet N LATENCY_S APP`.

That program prints how to reach it as JSON, then answers every line on its input with how many calls there were since.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from tests.support.modal.service import Service

from mngr.hosts.labels import tags_of
from mngr.model.agent import AgentSpec
from mngr.model.event import CREATED, STARTED
from mngr.model.host import HostSpec


def stub_hosts(number: int) -> list[tuple[HostSpec, bytes]]:
    """So many hosts, `h0` with the agent `a0` and so on, and what each says when it is looked at."""
    return [_stub(f"h{at}", f"a{at}") for at in range(number)]


def _stub(host: str, name: str) -> tuple[HostSpec, bytes]:
    id, now = f"agent-{os.urandom(16).hex()}", time.time()
    spec = AgentSpec(id, name, "command", ("sleep", "1000"), "/work", now, owns_host=True)
    events = [json.dumps({"at": now, "kind": kind, "data": {}}) for kind in (CREATED, STARTED)]
    lines = [
        f"B - {int(now)}",
        f"P {id}|7|0||||/dev/pts/1|{spec.session}|0|title",
        f"D {id}",
        f"{id}/agent.json:{msgspec.json.encode(spec).decode()}",
        *(f"{id}/events.jsonl:{event}" for event in events),
    ]
    return HostSpec(name=host, tags=tags_of(spec)), ("\n".join(lines) + "\n").encode()


def main() -> None:
    number, latency_s, app = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder))
        service.start()
        os.environ.update(service.env)
        service.control.page = 100
        service.add_stubs(service.provider(app), app, stub_hosts(number))
        service.faults.latency_s = latency_s
        print(json.dumps(service.env), flush=True)
        service.faults.asked.clear()
        for _ in sys.stdin:
            print(service.faults.asked.total(), json.dumps(service.faults.asked), flush=True)
            service.faults.asked.clear()
        service.faults.clear()
        service.stop()


if __name__ == "__main__":
    main()
