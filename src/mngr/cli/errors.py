"""Whatever goes wrong becomes one line, a hint and an exit code."""

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from mngr.cli.render import discard, show_error, show_note
from mngr.cli.shipped import read_equivalents
from mngr.errors import ExitCode, MngrError, UsageError, did_you_mean
from mngr_lib.safe_text import OutputError, SafeStream

_SIGPIPE_CODE = 128 + 13
_reader_is_gone = threading.Event()
_OS_HINTS = {
    errno.ENOSPC: "the disk is full: free some space and try again; mngr gc removes what has no owner",
    errno.EACCES: "look at the permissions of that path",
    errno.EPERM: "look at the permissions of that path",
    errno.EROFS: "that file system is read-only; MNGR_HOST_DIR moves what mngr writes",
    errno.EMFILE: "too many open files: raise it with ulimit -n",
    errno.EAGAIN: "too many processes: raise it with ulimit -u",
}


def guarded(work: Callable[[], Any], *, debug: bool) -> int:
    """Runs a command and turns everything that can leave it into an exit code."""
    # TERM and HUP end a command as Ctrl-C does, with their own exit code.

    def end(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise SystemExit(_leave_quietly() if _reader_is_gone.is_set() else 128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, end)
    with safe_output():
        code = _code_of(work, debug)
        try:
            sys.stdout.flush()
        except OSError as error:
            return _report_unwritten(error)
        return code


@contextmanager
def safe_output() -> Iterator[None]:
    """Makes all text on stdout and stderr safe for a terminal while this context lasts."""
    before = sys.stdout, sys.stderr
    for stream in before:
        if hasattr(stream, "reconfigure"):  # a name that the terminal's encoding lacks must not end a command
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = (SafeStream(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _code_of(work: Callable[[], Any], debug: bool) -> int:
    try:
        code = work()
    except (BrokenPipeError, OutputError) as error:
        return _report_unwritten(error)
    except KeyboardInterrupt as interrupt:
        _show_notes(interrupt)
        return ExitCode.INTERRUPTED
    except SystemExit as end:
        _show_notes(end)
        raise
    except MngrError as error:
        return _report(error)
    except click.UsageError as error:
        return _report(_in_our_words(error))
    except click.ClickException as error:
        return _report(MngrError(error.format_message()))
    except click.exceptions.Exit as error:
        return error.exit_code
    except OSError as error:
        if debug:
            _print_traceback()
        where = f": {os.fsdecode(error.filename)}" if error.filename else ""
        return _report(
            MngrError(f"{error.strerror or error}{where}", hint=_OS_HINTS.get(error.errno or 0, ""))
        )
    except Exception as error:  # the last line of defence: no user shall meet a stack trace unasked
        if debug:
            _print_traceback()
        hint = "" if debug else "run it again with -v (or MNGR_DEBUG=1) to see where"
        return _report(MngrError(f"this is a bug in mngr: {type(error).__name__}: {error}", hint=hint))
    return code if isinstance(code, int) else ExitCode.DONE


def end_for_want_of_a_reader() -> None:
    """Called by another thread: ends the command as TERM does, and its exit code is that of a broken pipe."""
    main = threading.main_thread().ident
    if callable(signal.getsignal(signal.SIGTERM)) and main is not None:
        _reader_is_gone.set()
        signal.pthread_kill(main, signal.SIGTERM)


def _show_notes(interrupt: BaseException) -> None:
    """Prints what an interrupted command has left, unless its reader is gone."""
    if not _reader_is_gone.is_set():
        for note in getattr(interrupt, "__notes__", ()):
            show_note(note)


def _report(error: MngrError) -> int:
    show_error(error)
    return error.exit_code


def _report_unwritten(error: OSError) -> int:
    if isinstance(error, BrokenPipeError):
        return _leave_quietly()
    discard(1)
    return _report(MngrError(f"cannot write the output: {error.strerror}"))


def _print_traceback() -> None:
    from traceback import print_exc

    print_exc()


def _leave_quietly() -> int:
    """The exit code for a reader that is gone; nothing more is written, by Python neither."""
    for number in (1, 2):
        discard(number)
    return _SIGPIPE_CODE


def _in_our_words(error: click.UsageError) -> UsageError:
    context = error.ctx
    path = context.command_path if context else "mngr"
    hint = f"see: {path} --help"
    if isinstance(error, click.NoSuchOption) and context:
        name = error.option_name
        if context.parent is None:
            return UsageError(
                f'no option "{name}"', hint=f"options come after the command: mngr COMMAND {name}"
            )
        known = [word for param in context.command.params for word in (*param.opts, *param.secondary_opts)]
        # Without the two dashes, which would make all of them alike.
        words = [word[2:] for word in known if word.startswith("--")]
        near = did_you_mean(name.lstrip("-"), words, else_hint=hint, form='"--{}"')
        return UsageError(
            f'no option "{name}"', hint=read_equivalents().get(f"{context.command.name} {name}", near)
        )
    message = error.format_message().rstrip(".")
    return UsageError(message[:1].lower() + message[1:], hint=hint)
