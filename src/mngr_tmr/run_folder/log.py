"""`run.log` of a run: tracebacks of errors that were not expected, and what a row says of an error."""

import time
import traceback

import mngr
from mngr_tmr.run_folder.folder import RunFolder


class RunLog:
    """Appends to the log of one run. What it writes holds no value of a variable."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder

    def unexpected(self, doing: str, error: Exception) -> None:
        """Keeps the traceback of an error that is not one of mngr's own, which say all there is to say."""
        if isinstance(error, mngr.MngrError):
            return
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime())
        trace = "".join(traceback.format_exception(error))
        try:
            self._folder.writer.append(self._folder.log, f"{at} {doing}\n{trace}\n".encode(errors="replace"))
        except OSError:
            pass  # the row has the error all the same


def error_text(error: Exception) -> str:
    """What a person reads in the row: an error of mngr as it is, any other with its type and place."""
    if isinstance(error, mngr.MngrError):
        hint = f" ({error.hint})" if error.hint else ""
        return f"{error}{hint}"
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename.rpartition('/src/')[2]}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"
