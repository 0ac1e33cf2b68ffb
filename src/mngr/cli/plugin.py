"""`mngr plugin`."""

from mngr import registry
from mngr.cli.call import Call
from mngr.cli.screen import columns, visible
from mngr.cli.table import align
from mngr.cli.verb import VerbGroup, verb
from mngr.errors import ExitCode, MngrError

_EXAMPLES = "mngr plugin list\nmngr plugin list --json"


@verb("list", examples=_EXAMPLES)
def list_command(call: Call) -> int:
    """Everything that installed plugins add; one that cannot be loaded says why."""
    records = [
        _examined(entry) for entry in sorted(registry.plugin_entries(), key=lambda entry: entry.distribution)
    ]

    def human() -> str:
        if not records:
            return "No plugins. A plugin is a Python package with entry points mngr.*"
        rows = [[visible(record[key]) for key in ("plugin", "kind", "name", "problem")] for record in records]
        return align([["PLUGIN", "ADDS", "NAME", "PROBLEM"], *rows], columns())

    call.output.many(list(records), human)
    return ExitCode.FAILED if any(record["problem"] for record in records) else ExitCode.DONE


def _examined(entry: registry.Entry) -> dict[str, str]:
    problem = ""
    try:
        registry.load_entry(entry)
    except MngrError as error:
        problem = error.message
    return {
        "plugin": entry.distribution,
        "kind": registry.what(entry.group),
        "name": entry.name,
        "target": entry.target,
        "problem": problem,
    }


command = VerbGroup("plugin", [list_command], help="What plugins add.")
