"""The command `mngr`. What can be said without importing anything is said before importing anything."""

import sys

from mngr import __version__


def main() -> int:
    """Answers `--version`, help and completion at once; everything else goes to `mngr.cli.app`."""
    words = sys.argv[1:]
    if words in (["--version"], ["-V"]):
        print(f"mngr {__version__}")
        return 0
    if words in ([], ["--help"], ["-h"], ["help"]):
        from mngr.cli.overview import print_overview  # the fast path must not pay for click

        return print_overview()
    if words[0] == "__complete":
        from mngr.cli.complete import print_candidates

        return print_candidates(words[1:])
    from mngr.cli.app import run

    return run(words)


if __name__ == "__main__":
    sys.exit(main())
