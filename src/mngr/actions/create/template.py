"""Templates: `[templates.NAME]` of the config as defaults for `create`, wherever the request comes from."""

import msgspec

from mngr.actions.create.request import CreateSpec, read_request, request_keys, split_request, with_defaults
from mngr.config.keys import join_key
from mngr.config.layers import Config
from mngr.errors import UsageError, did_you_mean

# Options of the command that are no part of a request: a template may set them for the command line.
COMMAND_OPTIONS = frozenset(
    "connect foreground connect_command jobs max_running dry_run message_file edit_message "
    "format json quiet verbose".split()
)


def join_requests(*requests: CreateSpec, config: Config) -> CreateSpec:
    """One request of several: an earlier one wins, and the template of each wins over the requests after it."""
    joined = CreateSpec()
    for request in requests:
        joined = with_defaults(joined, msgspec.structs.replace(request, template=""))
        if request.template:
            joined = with_defaults(joined, _read_template(request.template, config))
    return joined


def _read_template(name: str, config: Config) -> CreateSpec:
    table = config.section(join_key(("templates", name)))
    if not table:
        known = config.section("templates")
        hint = did_you_mean(name, known) or "[templates.NAME] in the config"
        raise UsageError(f'no template "{name}"', hint=hint)
    asked, other = split_request(table)
    for key in other:
        if key not in COMMAND_OPTIONS:
            raise UsageError(
                f'template "{name}" has an unknown option "{key}"', hint=did_you_mean(key, request_keys())
            )
    return read_request({**asked, "template": ""})
