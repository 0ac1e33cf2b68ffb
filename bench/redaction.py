"""How fast what is written about a run is searched for secrets. Alone: `python bench/redaction.py`."""

import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from mngr_tmr.run_folder.redact import Redactor

_SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
_SIZE = 16_000_000
# As long and as varied as real keys, and of no service's shape.
_VALUES = {f"KEY_{number}": f"{number}Zq-f00dcafe" * 4 for number in range(3)}


def measure() -> float:
    """Megabytes of a conversation about our own source in a second of processor time; the best of three."""
    texts = []
    for folder, _, names in os.walk(_SOURCE):
        for name in (name for name in sorted(names) if name.endswith(".py")):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts.append(json.dumps({"type": "assistant", "path": name, "text": file.read()}))
    one = "\n".join(texts)
    data = (one * (1 + _SIZE // len(one)))[:_SIZE].encode()
    redactor, speeds = Redactor(_VALUES), []
    for _ in range(3):
        began = time.process_time()
        redactor.data(data)
        speeds.append(len(data) / 1e6 / (time.process_time() - began))
    return max(speeds)


if __name__ == "__main__":
    print(f"redaction: {measure():.0f} MB/s")
