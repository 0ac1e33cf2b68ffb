"""What a live page is fed from."""

from typing import Protocol

from mngr_view.records import Index


class Source(Protocol):
    """Something to show. All three may be called from several threads at once."""

    def index(self) -> Index:
        """The lists as they are now."""

    def chunk(self, key: str) -> bytes | None:
        """The JSON of a detail or a recording that an index or a detail named; None for any other key."""

    def version(self) -> str:
        """A text that is another one when anything shown has changed. Asked often, so it should cost little."""
