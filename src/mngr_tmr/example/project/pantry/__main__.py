"""The command line."""

import argparse
import sys

from pantry import files, money, shelf
from pantry.browse import browse

VERSION = "1.0"


def parser():
    top = argparse.ArgumentParser(prog="pantry", description="What is on the shelf.")
    top.add_argument("--version", action="version", version=f"pantry {VERSION}")
    verbs = top.add_subparsers(dest="verb", required=True)
    add = verbs.add_parser("add", help="put something on the shelf")
    add.add_argument("name")
    add.add_argument("amount", type=int)
    add.add_argument("--price", type=float, default=0.0)
    take = verbs.add_parser("take", help="use some of it")
    take.add_argument("name")
    take.add_argument("amount", type=int)
    rename = verbs.add_parser("rename", help="call it something else")
    rename.add_argument("old")
    rename.add_argument("new")
    show = verbs.add_parser("list", help="see what is there")
    show.add_argument("--json", action="store_true")
    total = verbs.add_parser("total", help="what it is worth")
    total.add_argument("--currency", default="USD")
    for verb in ("export", "import"):
        verbs.add_parser(verb, help=f"{verb} a CSV file").add_argument("path")
    verbs.add_parser("sync", help="send it to the server")
    verbs.add_parser("browse", help="the whole screen")
    return top


def show_list(as_json):
    found = shelf.load()
    if as_json:
        print(found)
        return
    for name in sorted(found):
        print(f"{name} {found[name]['amount']}")


def main():
    words = parser().parse_args()
    actions = {
        "add": lambda: shelf.add(words.name, words.amount, words.price),
        "take": lambda: shelf.take(words.name, words.amount),
        "rename": lambda: shelf.rename(words.old, words.new),
        "list": lambda: show_list(words.json),
        "total": lambda: print(money.total(shelf.load(), words.currency)),
        "export": lambda: files.write_csv(words.path),
        "import": lambda: files.read_csv(words.path),
        "sync": files.sync,
        "browse": browse,
    }
    try:
        actions[words.verb]()
    except shelf.PantryError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
