"""`mngr gc`."""

from mngr.actions.gc.gc import Garbage, find_garbage, remove_garbage
from mngr.cli.call import Call
from mngr.cli.confirm import confirm
from mngr.cli.options import dry_run_option, yes_option
from mngr.cli.render import say
from mngr.cli.table import align
from mngr.cli.terminal_text import columns
from mngr.cli.verb import verb
from mngr.errors import ExitCode


@verb(
    "gc",
    examples="""
        mngr gc --dry-run
        mngr gc --yes
    """,
)
@yes_option
@dry_run_option
def command(call: Call, *, yes: bool, dry_run: bool) -> int:
    """Remove what no agent owns: working copies, sessions, hosts, sockets, leftovers of a killed create.

    It never acts where a listing failed.
    """
    call.output.check(Garbage)
    found = list(find_garbage(manager=call.manager))

    def human() -> str:
        if not found:
            return "Nothing to remove"
        rows = [[item.kind, item.what, item.why] for item in found]
        return align([["KIND", "WHAT", "WHY"], *rows], columns())

    if dry_run or not found:
        call.output.many(found, human)
        return ExitCode.DONE
    if call.output.is_human:
        say(human())
    confirm(f"remove {len(found)} thing{'' if len(found) == 1 else 's'} without an owner?", yes=yes)
    notes = remove_garbage(found, manager=call.manager)
    for note in notes:
        call.output.note(note)
    if call.output.is_human:
        call.output.note(f"Removed {len(found)}")
    else:
        call.output.many(found, str)
    return ExitCode.DONE
