"""Takes a page apart again, and a template that needs no build."""

import base64
import gzip
import re
from pathlib import Path
from typing import Any

import msgspec

TEMPLATE = str(Path(__file__).with_name("template.html"))
_ELEMENT = re.compile(
    rb'<script type="application/octet-stream" data-chunk="([a-z0-9/._-]+)">([A-Za-z0-9+/=]*)</script>'
)


def chunks_of(page: bytes) -> dict[str, Any]:
    """What a page carries, by key, in its order."""
    return {
        key.decode(): msgspec.json.decode(gzip.decompress(base64.b64decode(packed)))
        for key, packed in _ELEMENT.findall(page)
    }
