"""`mngr plugin`."""

from msgspec import Struct

from mngr import registry
from mngr.cli.call import Call
from mngr.cli.table import align
from mngr.cli.terminal_text import columns
from mngr.cli.verb import VerbGroup, verb
from mngr.errors import ExitCode, MngrError

_EXAMPLES = "mngr plugin list\nmngr plugin list --json"


class Addition(Struct, frozen=True):
    """One thing that a plugin adds; `problem` says why it cannot be loaded."""

    plugin: str
    kind: str
    name: str
    target: str
    problem: str


@verb("list", examples=_EXAMPLES)
def list_command(call: Call) -> int:
    """Everything that installed plugins add; one that cannot be loaded says why."""
    records = list[Addition]()
    for entry in sorted(registry.plugin_entries(), key=lambda entry: entry.distribution):
        problem = ""
        try:
            registry.load_entry(entry)
        except MngrError as error:
            problem = error.message
        kind = registry.what(entry.group)
        records.append(Addition(entry.distribution, kind, entry.name, entry.target, problem))

    def human() -> str:
        if not records:
            return "No plugins. A plugin is a Python package with entry points mngr.*"
        rows = [[one.plugin, one.kind, one.name, one.problem] for one in records]
        return align([["PLUGIN", "ADDS", "NAME", "PROBLEM"], *rows], columns())

    call.output.many(list(records), human)
    return ExitCode.FAILED if any(one.problem for one in records) else ExitCode.DONE


command = VerbGroup("plugin", [list_command], help="What plugins add.")
