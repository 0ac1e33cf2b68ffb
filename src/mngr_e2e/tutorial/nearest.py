"""Which block a stale citation most likely meant, and the first line that differs."""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from mngr_e2e.tutorial.blocks import Block

CANDIDATES = 3
_NEAR = 0.4


class Difference(Struct, frozen=True):
    """The first line in which a citation leaves its block; `line` counts in the tutorial, a missing line is ""."""

    line: int
    tutorial: str
    citation: str

    @property
    def column(self) -> int:
        """Where the two lines part, counted from 0."""
        pairs = zip(self.tutorial, self.citation, strict=False)
        same = min(len(self.tutorial), len(self.citation))
        return next((at for at, (one, other) in enumerate(pairs) if one != other), same)


class Finder:
    """Finds near blocks by the words they share, and compares only the few best letter by letter."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks
        self._by_word: dict[str, list[int]] = {}
        for number, block in enumerate(blocks):
            for word in set(block.text.split()):
                self._by_word.setdefault(word, []).append(number)

    def nearest(self, text: str) -> Block | None:
        """The most similar block, or None when none is near."""
        score: Counter[int] = Counter()
        for word in set(text.split()):
            places = self._by_word.get(word, [])
            for number in places:
                score[number] += 1000 // len(places) + 1
        best = [self._blocks[number] for number, _ in score.most_common(CANDIDATES)]
        rated = [(SequenceMatcher(None, block.text, text, autojunk=False).ratio(), block) for block in best]
        ratio, block = max(rated, key=lambda pair: pair[0], default=(0.0, None))
        return block if ratio >= _NEAR else None


def first_difference(block: Block, text: str) -> Difference:
    """Where a citation and a block part."""
    ours, theirs = block.text.split("\n"), text.split("\n")
    same = next((at for at, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), None)
    at = min(len(ours), len(theirs)) if same is None else same
    return Difference(
        block.first_line + at,
        ours[at] if at < len(ours) else "",
        theirs[at] if at < len(theirs) else "",
    )
