"""Writes the command reference from the commands: `python -m tools.reference [--check] [--out docs]`."""

import os
import sys

import click
from tools.reference_man import command_man, overview_man
from tools.reference_markdown import command_page, index_page, topic_page
from tools.reference_pages import read_pages, read_topics

from mngr.cli.shipped import read_shipped

_MADE_HERE = (("reference", ".md"), ("man", ".1"))


def reference_files() -> dict[str, str]:
    """Every file of the reference: its path below `docs`, its text."""
    pages, topics = read_pages(), read_topics()
    line = read_shipped("help.txt").splitlines()[0].removeprefix("mngr: ").rstrip(".")
    files = {
        "reference/README.md": index_page(pages, topics),
        "man/mngr.1": overview_man(pages, topics, line),
    }
    for page in pages:
        files[f"reference/{page.name}.md"] = command_page(page, topics)
        files[f"man/mngr-{page.name}.1"] = command_man(page, topics)
    return files | {f"reference/topics/{topic.name}.md": topic_page(topic, topics) for topic in topics}


def stale_files(out: str) -> list[str]:
    """What is wrong in a folder, a line each; nothing when it is what the commands say."""
    wanted, found = reference_files(), _files_in(out)
    missing = [f"missing: {os.path.join(out, name)}" for name in wanted if name not in found]
    stale = [
        f"stale: {os.path.join(out, name)}"
        for name in wanted
        if found.get(name, wanted[name]) != wanted[name]
    ]
    extra = [f"extra: {os.path.join(out, name)}" for name in found if name not in wanted]
    return sorted(missing + stale + extra)


def write_files(out: str) -> None:
    """Makes the folder say what the commands say; pages of commands that are gone go too."""
    wanted = reference_files()
    for name in _files_in(out):
        if name not in wanted:
            os.unlink(os.path.join(out, name))
    for name, text in wanted.items():
        path = os.path.join(out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)


def _files_in(out: str) -> dict[str, str]:
    found = {}
    for folder, ending in _MADE_HERE:
        for place, _, names in os.walk(os.path.join(out, folder)):
            for name in names:
                path = os.path.join(place, name)
                if name.endswith(ending):
                    with open(path, encoding="utf-8", newline="", errors="replace") as file:
                        found[os.path.relpath(path, out)] = file.read()
    return found


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; fail when a file is stale, missing or extra.")
@click.option(
    "--out", default="docs", show_default=True, metavar="DIR", help="The folder of the documentation."
)
def main(check: bool, out: str) -> None:
    """Write the manual pages and the command reference."""
    if not check:
        write_files(out)
        return
    problems = stale_files(out)
    if problems:
        again = "make docs" if out == "docs" else f"python -m tools.reference --out {out}"
        click.echo("\n".join([*problems, f"hint: {again}"]), err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
