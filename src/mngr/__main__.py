"""The command `mngr`. What can be said without importing anything is said before importing anything."""

import gc
import sys

from mngr import __version__


def main() -> int:
    """Runs the command line of this process, which ends with it."""
    # Nearly all that a command allocates lives until its end: collecting it on the way and on leaving is waste,
    # a seventh of the time of `list`. What runs for hours still collects, rarely.
    gc.set_threshold(100_000, 20, 20)
    try:
        return _answer(sys.argv[1:])
    finally:
        gc.freeze()


def _answer(words: list[str]) -> int:
    """Answers `--version`, help and completion at once; everything else goes to `mngr.cli.app`."""
    if words in (["--version"], ["-V"]):
        print(f"mngr {__version__}")
        return 0
    if words in ([], ["--help"], ["-h"], ["help"]):
        from mngr.cli.overview import print_overview  # the fast path must not pay for click

        return print_overview()
    if words[0] == "__complete":
        from mngr.cli.complete import print_candidates

        return print_candidates(words[1:])
    return _run(words)


def _run(words: list[str]) -> int:
    """Loads the rest and runs it. Before that nothing has begun: Ctrl-C ends us as any program, without a word."""
    import signal  # what follows needs it too

    hears = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if hears:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    _load_msgspec()
    from mngr.cli.app import run

    if hears:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run(words)


def _load_msgspec() -> None:
    """Loads msgspec without typing_extensions: where that is installed it would cost 3 ms and give nothing."""
    if "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # an import of it fails
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]


if __name__ == "__main__":
    sys.exit(main())
