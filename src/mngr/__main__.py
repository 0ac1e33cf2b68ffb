"""The command `mngr`. Version, help and completion are answered before anything else is imported."""

import gc
import os
import sys

from mngr import __version__


def main() -> int:
    """Runs the command line of this process, which ends with it."""
    # Nearly all that a command allocates lives until its end: collecting it before is waste,
    # a seventh of the time of `list`. A process that runs for hours still collects, rarely.
    gc.set_threshold(100_000, 20, 20)
    _open_standard_streams()
    try:
        words = sys.argv[1:]
        if words in (["--version"], ["-V"]):
            return _print(f"mngr {__version__}\n")
        if words in ([], ["--help"], ["-h"], ["help"]):
            from mngr.cli.overview import overview  # the fast path must not pay for click

            return _print(overview())
        if words[0] == "__complete":
            from mngr.cli.complete import completed

            # An error message would end up in the line that the user is typing.
            _print(completed(words[1:]), complains=False)
            return 0
        return _run(words)
    except OSError as error:  # before a command runs there is only the loading of modules
        _complain(f"error: {error.strerror}: {error.filename}\n")
        return 1
    finally:
        gc.freeze()


def _open_standard_streams() -> None:
    """Opens those that were closed when we were started, so that no file of ours gets their number.

    stdin is opened for writing and stdout for reading, so that using them is an error, as it should be.
    """
    for number, name, way in (
        (0, "stdin", os.O_WRONLY),
        (1, "stdout", os.O_RDONLY),
        (2, "stderr", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, way)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def _print(text: str, *, complains: bool = True) -> int:
    """Writes a text to stdout and returns the exit code."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
        return 0
    except BrokenPipeError:
        code = 128 + 13
    except OSError as error:
        code = 1
        if complains:
            _complain(f"error: cannot write the output: {error.strerror}\n")
    # What could not be written is still there, and Python would try again at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return code


def _complain(text: str) -> None:
    try:
        sys.stderr.write(text)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _run(words: list[str]) -> int:
    """Loads the rest and runs it. Until then nothing has begun, and Ctrl-C ends the process silently."""
    import signal  # what follows needs it too

    has_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if has_default:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Without typing_extensions, which msgspec loads where it is installed: 3 ms that give nothing.
    is_loaded = "typing_extensions" in sys.modules
    if not is_loaded:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # an import of it fails
    try:
        import msgspec  # noqa: F401
    finally:
        if not is_loaded:
            del sys.modules["typing_extensions"]
    from mngr.cli.app import run

    if has_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run(words)


if __name__ == "__main__":
    sys.exit(main())
