"""What the Modal SDK would print: its warnings, as lines of our own output."""

import logging
import os
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

_LOGGERS = ("modal-client", "modal-utils", "synchronicity")
_LONGEST = 300

Warn = Callable[[str], None]
_listener: list[Warn] = []


def listen(warn: Warn) -> None:
    """Hands every warning of the SDK to `warn` from now on, each as one line."""
    _listener[:] = [warn]


def hush(modal: ModuleType) -> None:
    """Takes the SDK's warnings off the terminal; MODAL_LOGLEVEL in the environment keeps them there."""
    if os.environ.get("MODAL_LOGLEVEL"):
        return
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [_Lines(logging.WARNING)], False
    kind, show = modal.exception.ServerWarning, warnings.showwarning

    def showwarning(message: Any, category: Any, *more: Any, **named: Any) -> None:
        if isinstance(category, type) and issubclass(category, kind):
            _tell(str(message))
        else:
            show(message, category, *more, **named)

    warnings.showwarning = showwarning


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        _tell(record.getMessage())


def _tell(text: str) -> None:
    line = " ".join(text.split())
    for warn in _listener:
        warn(f"modal: {line[:_LONGEST]}")
