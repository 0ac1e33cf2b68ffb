"""What can go wrong with a page, with the way out of it."""


class ViewError(Exception):
    """A page that cannot be made or served: a message, and a hint what to do."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
