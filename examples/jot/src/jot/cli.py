"""The command `jot`."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from jot import store


def main(argv: Sequence[str] | None = None) -> int:
    """0 when it worked, 1 when it could not, 2 for a wrong call."""
    options = _parser().parse_args(argv)
    try:
        return int(options.run(options) or 0)
    except store.JotError as error:
        print(f"error: {error}\nhint: {error.hint}", file=sys.stderr)
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
    except KeyboardInterrupt:
        pass
    return 1


def _add(options: argparse.Namespace) -> None:
    if options.words == ["-"]:
        texts = [line.strip() for line in sys.stdin if line.strip()]
    else:
        texts = [" ".join(options.words)]
    for text in texts:
        note = store.add(text, options.tag)
        print(f"added {note.id}: {note.text}")


def _list(options: argparse.Namespace) -> None:
    notes = [note for note in store.load() if options.all or not note.done]
    notes = [note for note in notes if options.tag in ("", note.tag)]
    if options.json:
        print(json.dumps([asdict(note) for note in notes]))
    else:
        _print(notes)


def _find(options: argparse.Namespace) -> int:
    found = [note for note in store.load() if options.word.lower() in note.text.lower()]
    _print(found)
    return 0 if found else 1


def _done(options: argparse.Namespace) -> None:
    for number in options.numbers:
        print(f"done: {store.mark(number, done=True).text}")


def _undo(options: argparse.Namespace) -> None:
    print(f"to do again: {store.mark(options.number, done=False).text}")


def _rm(options: argparse.Namespace) -> None:
    print(f"removed: {store.remove(options.number).text}")


def _export(options: argparse.Namespace) -> None:
    Path(options.file).write_text(store.as_markdown(store.load()), encoding="utf-8")


def _mirror(options: argparse.Namespace) -> None:
    written = None
    while True:
        text = store.as_markdown(store.load())
        if text != written:
            Path(options.file).write_text(text, encoding="utf-8")
            written = text
        time.sleep(0.2)


def _board(_: argparse.Namespace) -> None:
    from jot import board

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise store.JotError("the board needs a terminal", "for scripts there is: jot list --json")
    board.show()


def _print(notes: Sequence[store.Note]) -> None:
    for note in notes:
        tag = f"  #{note.tag}" if note.tag else ""
        print(f"{note.id:3} [{'x' if note.done else ' '}] {note.text}{tag}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="jot", description="A list of things to do.")
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(name: str, run: object, help_text: str) -> argparse.ArgumentParser:
        made = verbs.add_parser(name, help=help_text, description=help_text)
        made.set_defaults(run=run)
        return made

    add = verb("add", _add, "Add a note; with - one for each line of stdin.")
    add.add_argument("--tag", default="", help="what it belongs to")
    add.add_argument("words", nargs="+")
    listed = verb("list", _list, "What is there to do.")
    listed.add_argument("--all", action="store_true", help="also what is done")
    listed.add_argument("--tag", default="", help="only these")
    listed.add_argument("--json", action="store_true", help="for programs")
    verb("find", _find, "Notes with a word in them.").add_argument("word")
    verb("done", _done, "Mark notes as done.").add_argument("numbers", nargs="+", type=int, metavar="NUMBER")
    verb("undo", _undo, "It is not done after all.").add_argument("number", type=int)
    verb("rm", _rm, "Throw a note away.").add_argument("number", type=int)
    verb("export", _export, "Write the list as Markdown.").add_argument("file")
    verb("mirror", _mirror, "Keep a Markdown file up to date, until Ctrl-C.").add_argument("file")
    verb("board", _board, "The list on the whole screen.")
    return parser
