"""`mngr tutorial review`."""

import sys
from typing import Any

import click
import msgspec

import mngr
from mngr_e2e.authoring import text
from mngr_e2e.authoring.drafting.blocks import Draft
from mngr_e2e.authoring.drafting.review import Review
from mngr_e2e.cli.agent_options import material_of, program_option, reference_option
from mngr_e2e.cli.keys import ask_key
from mngr_e2e.cli.output import print_json, print_text
from mngr_e2e.cli.places import find_places, reading
from mngr_lib.safe_text import one_line

_KEYS = "[k]eep  [e]dit  [r]eject  [s]kip  [q]uit? "
_ALL = "all"


@click.command("review")
@click.argument("tutorial", required=False)
@click.option("--list", "only_list", is_flag=True, help="Show the drafts and ask nothing.")
@click.option("--keep", multiple=True, metavar="ID", help="Keep this draft, or all; repeatable.")
@click.option("--reject", multiple=True, metavar="ID", help="Reject this draft, or all; repeatable.")
@click.option("--reason", default="", metavar="TEXT", help="Why; --reject needs it.")
@program_option
@reference_option
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_context
def review_command(
    context: click.Context,
    /,
    tutorial: str | None,
    only_list: bool,
    keep: tuple[str, ...],
    reject: tuple[str, ...],
    reason: str,
    as_json: bool,
    **given: Any,
) -> int:
    """Keep, edit or reject what an agent drafted, one draft at a time.

    A kept draft loses its mark and is a block like any other. A rejected one is taken out, its gap is as it was, and
    the reason is kept as a signal. Without a terminal, say what to do by option.

    \b
    mngr tutorial review
    mngr tutorial review --list
    mngr tutorial review --keep b0123456789 --reject b9876543210 --reason 'not a real use'
    """
    places = find_places(context, tutorial, ())
    review = reading(places, lambda: Review(places.tutorial, material_of(places, given)))
    if keep or reject:
        if reject and not reason.strip():
            raise mngr.UsageError("why are they rejected?", hint="--reason TEXT; it is kept as a signal")
        kept, rejected = _named(review, keep), _named(review, reject)
        if both := {one.id for one in kept} & {one.id for one in rejected}:
            raise mngr.UsageError(f"both kept and rejected: {', '.join(sorted(both))}")
        # From the last to the first: what stands further up keeps its lines, and so its place.
        for draft in sorted((*kept, *rejected), key=lambda one: -one.first_line):
            if draft in kept:
                review.keep(draft.id)
            else:
                review.reject(draft.id, reason.strip())
        left = review.drafts()
        if as_json:
            ids = {"kept": [one.id for one in kept], "rejected": [one.id for one in rejected]}
            print_json({"schema": 1, "tutorial": review.tutorial, **ids, "left": [one.id for one in left]})
        else:
            print_text(f"kept {len(kept)}, rejected {len(rejected)}, {len(left)} left")
        return 0
    if only_list or as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return _list(review, as_json)
    return _ask(review)


def _named(review: Review, ids: tuple[str, ...]) -> list[Draft]:
    if _ALL in ids:
        return list(review.drafts())
    return [review.find(draft_id) for draft_id in dict.fromkeys(ids)]


def _list(review: Review, as_json: bool) -> int:
    found = [(draft, review.proof(draft)) for draft in review.drafts()]
    if as_json:
        drafts = [{**msgspec.to_builtins(draft), **msgspec.to_builtins(proof)} for draft, proof in found]
        for record in drafts:
            del record["block"]
        print_json({"schema": 1, "tutorial": review.tutorial, "drafts": drafts})
    else:
        shown = [text.draft_to_review(review.tutorial, draft, proof) for draft, proof in found]
        print_text("\n\n".join(shown) or "no drafts to review")
    return 0


def _ask(review: Review) -> int:
    """One draft after the other; every answer is written at once."""
    skipped = 0
    while skipped < len(drafts := review.drafts()):
        draft = drafts[skipped]
        place = f"{skipped + 1} of {len(drafts)}  "
        print_text("\n" + text.draft_to_review(review.tutorial, draft, review.proof(draft), place))
        answer = _answer(review, draft)
        if answer == "q":
            break
        skipped += answer == "s"
    left = len(review.drafts())
    print_text(f"{left} left" if left else "all drafts are reviewed")
    return 0


def _answer(review: Review, draft: Draft) -> str:
    while True:
        key = ask_key(_KEYS).lower() or "q"
        click.echo(one_line(key))
        if key == "k":
            review.keep(draft.id)
        elif key == "r":
            if not (reason := click.prompt("why", default="", show_default=False).strip()):
                click.echo("a reason is needed; it is kept as a signal")
                continue
            review.reject(draft.id, reason)
        elif key == "e":
            if (changed := click.edit(draft.text + "\n", extension=".sh")) is None:
                click.echo("nothing was changed")
                continue
            try:
                review.edit(draft.id, changed)
            except mngr.UsageError as error:
                click.echo(one_line(error.message))
                continue
        elif key not in ("s", "q"):
            continue
        return key
