"""Results as two pictures: verbs against the peer, and how the pipeline grows. Ratios, to compare machines by."""

from collections.abc import Sequence
from math import log10
from xml.sax.saxutils import escape

from bench.results import CREATE, DESTROY, EXEC, HELP, MESSAGE, OURS, PEER, STOP, Makespan, Results, list_row
from msgspec import Struct

_WIDTH, _LEFT, _BAR, _GAP = 720, 190, 18, 10
_ROWS = (HELP, CREATE, list_row(1), list_row(10), list_row(100), EXEC, MESSAGE, STOP, DESTROY)
_STYLE = """text{font:13px system-ui,sans-serif;fill:#24292f}.t{font-weight:600}.bar{fill:#2f6f8f}.line{stroke:#b04a2f;
stroke-width:1.5;stroke-dasharray:4 3}.note{fill:#6e7781}@media(prefers-color-scheme:dark){text{fill:#e6edf3}
.bar{fill:#5fa8c9}.note{fill:#8b949e}.line{stroke:#e08a6d}}"""


class Bar(Struct, frozen=True):
    """One row: how long its bar is, and what stands behind it; `limit` is drawn as a mark."""

    name: str
    value: float
    label: str
    limit: float | None = None


def plots(results: Results) -> dict[str, str]:
    """SVG texts by file name; what was not measured has no picture."""
    drawn = {
        "speed.svg": ("how many times faster than the published peer (log scale)", _speed(results), True),
        "scale.svg": ("how the pipeline grows: found, as a part of what is allowed", _scale(results), False),
    }
    return {name: _svg(title, bars, is_log) for name, (title, bars, is_log) in drawn.items() if bars}


def _speed(results: Results) -> list[Bar]:
    found = ((row, results.ratio((row, PEER), (row, OURS))) for row in _ROWS)
    return [Bar(row, ratio, f"{ratio:.0f} x", 10.0) for row, ratio in found if ratio]


def _scale(results: Results) -> list[Bar]:
    bars = [_makespan(one) for one in results.makespans]
    first = results.integrated[0] if results.integrated else None
    for many in results.integrated:
        assert first
        ratio = (many.seconds / many.branches) / (first.seconds / first.branches)
        words = f"{ratio:.2f} x a branch among {first.branches}, at most 1.5"
        bars.append(Bar(f"{many.branches} branches", ratio / 1.5, words, 1.0))
    bars += [
        Bar(f"page of {page.tests:,} tests", page.paint_ms / 1000, f"first paint {page.paint_ms:.0f} ms", 1.0)
        for page in results.pages
    ]
    return bars


def _makespan(one: Makespan) -> Bar:
    """Promised are 200 agents: with fewer, waiting for the last one weighs more."""
    ratio, is_promised = one.seconds / one.ideal_s, one.tasks >= 200
    words = f"makespan {ratio:.2f} x total/slots" + (", at most 1.1" if is_promised else "")
    return Bar(f"{one.tasks} agents, {one.slots} slots", ratio / 1.1, words, 1.0 if is_promised else None)


def _svg(title: str, bars: Sequence[Bar], is_log: bool) -> str:
    room = _WIDTH - _LEFT - (60 if is_log else 300)
    top = max(max(bar.value, bar.limit or 0) for bar in bars)

    def length(value: float) -> float:
        return room * (log10(max(value, 1)) / log10(max(top, 10)) if is_log else value / max(top, 1))

    parts = [f'<text class="t" x="8" y="20">{escape(title)}</text>']
    for number, bar in enumerate(bars):
        y = 34 + number * (_BAR + _GAP)
        middle, end = y + _BAR - 4, _LEFT + length(bar.value)
        parts.append(f'<text x="{_LEFT - 8}" y="{middle}" text-anchor="end">{escape(bar.name)}</text>')
        parts.append(
            f'<rect class="bar" x="{_LEFT}" y="{y}" width="{end - _LEFT:.1f}" height="{_BAR}" rx="2"/>'
        )
        if bar.limit is not None:
            at = f"{_LEFT + length(bar.limit):.1f}"
            parts.append(f'<line class="line" x1="{at}" x2="{at}" y1="{y - 3}" y2="{y + _BAR + 3}"/>')
        after = max(end, _LEFT + length(bar.limit or 0)) + 8
        parts.append(f'<text class="note" x="{after:.1f}" y="{middle}">{escape(bar.label)}</text>')
    height = 40 + len(bars) * (_BAR + _GAP)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title><style>{_STYLE}</style>", *parts, "</svg>", ""])
