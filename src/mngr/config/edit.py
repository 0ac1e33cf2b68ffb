"""Sets and unsets one key in the config file of a scope, under a lock, and keeps trust in step."""

import os
from collections.abc import Callable

from msgspec import Struct

from mngr.config.files import directory_lock, read_file, write_file
from mngr.config.keys import Key, join_key, parse_key
from mngr.config.layers import word_value
from mngr.config.lines import set_key, unset_key
from mngr.config.locate import ConfigDirs
from mngr.config.schema import KNOWN, Schema, canonical, canonical_key, check, nested
from mngr.config.toml import check_bounds, decode
from mngr.config.trust import trust_own_edit
from mngr.errors import RefusedError, UsageError, did_you_mean

SCOPES = ("user", "project", "local")


class Edited(Struct, frozen=True):
    """What an edit did. Without `trusted`, part of the file has no effect before `mngr config trust`."""

    path: str
    key: str
    changed: bool
    trusted: bool


def file_for(places: ConfigDirs, scope: str) -> str:
    """The file that a scope means: `user`, `project` (committed) or `local` (this checkout)."""
    if scope not in SCOPES:
        raise UsageError(f'no config scope "{scope}"', hint=did_you_mean(scope, SCOPES))
    if scope == "user":
        return places.user_file
    if not places.repo_root:
        raise UsageError(
            f"there is no repository here, so no {scope} config", hint="go into one, or set it for the user"
        )
    return places.project_file if scope == "project" else places.local_file


def set_value(places: ConfigDirs, scope: str, dotted: str, text: str, schema: Schema = KNOWN) -> Edited:
    """Sets a key in the file of a scope; the text means what it means after `-S`."""
    key = canonical_key(parse_key(dotted))
    words = dotted + text
    try:
        words.encode()
    except UnicodeEncodeError:
        raise UsageError("a TOML file holds UTF-8 text, and this is not", hint="give it in UTF-8") from None
    value = word_value(key, text, schema)
    check_bounds(nested(key, value), "the value")
    check(canonical(nested(key, value), "the value"), "cannot set that", schema)
    return _edit(places, scope, key, lambda before, path: set_key(before, key, value, path))


def unset_value(places: ConfigDirs, scope: str, dotted: str) -> Edited:
    """Removes a key from the file of a scope; a key that is not there is no error and no change."""
    key = canonical_key(parse_key(dotted))
    return _edit(places, scope, key, lambda before, path: unset_key(before, key, path))


def _edit(places: ConfigDirs, scope: str, key: Key, change: Callable[[str, str], str]) -> Edited:
    path, is_user = file_for(places, scope), scope == "user"
    folder = os.path.dirname(path)
    if not is_user:
        # A repository could link its config to any file of the user's and have us write there.
        own = os.path.join(os.path.realpath(places.repo_root), ".mngr", os.path.basename(path))
        if os.path.realpath(path) != own:
            raise RefusedError(
                f"{path} leads out of the repository through a link", hint="replace it by a plain file"
            )
    with directory_lock(folder, 0o700 if is_user else 0o777):
        before = read_file(path)
        old = before or b""
        new = change(decode(old, path), path).encode()
        if new != old:
            write_file(path, new, 0o666 if scope == "project" else 0o600)
        if scope == "local" and before is None and new:
            ignored = os.path.join(folder, ".gitignore")
            if not os.path.lexists(ignored):
                write_file(ignored, b"/.gitignore\n/settings.local.toml\n", 0o666)
    trusted = is_user or trust_own_edit(path, before, new, places.host_dir)
    return Edited(path, join_key(key), new != old, trusted)
