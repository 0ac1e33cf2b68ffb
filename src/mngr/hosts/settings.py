"""`[providers.NAME]` as a record."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from mngr.errors import UsageError, did_you_mean

S = TypeVar("S", bound=Struct)


def read_section(provider: str, table: Mapping[str, Any], kind: type[S]) -> S:
    """The settings, or a usage error that names the wrong key."""
    for key in table:
        if key not in kind.__struct_fields__:
            raise UsageError(
                f"[providers.{provider}]: unknown key {key}",
                hint=did_you_mean(key, kind.__struct_fields__),
            )
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"[providers.{provider}]: {error}", hint=f"see: mngr config explain providers.{provider}"
        ) from None
