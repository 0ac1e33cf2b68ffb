"""What `create` is asked for: one record whose fields are the long options' names."""

from collections.abc import Mapping
from typing import Any, TypedDict

import msgspec
from msgspec import Struct, field

from mngr.errors import UsageError, did_you_mean


class CreateSpec(Struct, frozen=True, omit_defaults=True):
    """A line of `create -` decodes into this; `source` is called `from` there, as on the command line."""

    name: str = ""
    type: str = ""
    provider: str = ""
    args: tuple[str, ...] = ()
    message: str = ""
    source: str = field(name="from", default="")
    transfer: str = ""
    branch: str = ""
    include_dirty: bool = False
    env: dict[str, str] = {}
    env_file: tuple[str, ...] = ()
    pass_env: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    project: str = ""
    windows: dict[str, str] = {}
    setup: str = ""
    upload: tuple[str, ...] = ()
    template: str = ""
    reuse: bool = False
    snapshot: str = ""
    idle_timeout: str = ""
    lease: str = ""
    timeout: str = ""
    record: bool = False
    isolate: str = ""
    image: str = ""
    cpus: float = 0
    memory: str = ""
    offline: bool = False


class CreateFields(TypedDict, total=False):
    """The same fields as keywords, for `mngr.create("foo", type="command", args=("sleep", "60"))`."""

    type: str
    provider: str
    args: tuple[str, ...]
    message: str
    source: str
    transfer: str
    branch: str
    include_dirty: bool
    env: dict[str, str]
    env_file: tuple[str, ...]
    pass_env: tuple[str, ...]
    labels: dict[str, str]
    project: str
    windows: dict[str, str]
    setup: str
    upload: tuple[str, ...]
    template: str
    reuse: bool
    snapshot: str
    idle_timeout: str
    lease: str
    timeout: str
    record: bool
    isolate: str
    image: str
    cpus: float
    memory: str
    offline: bool


# Fields a provider must be able to honour; each is a field of HostSpec too.
HOST_FIELDS = ("image", "cpus", "memory", "offline", "snapshot", "idle_timeout", "lease", "timeout")


def create_spec(fields: Mapping[str, Any]) -> CreateSpec:
    """A spec from loose data (a JSON line, a template, keywords); a wrong value is a usage error that names it."""
    known = {entry.encode_name for entry in msgspec.structs.fields(CreateSpec)}
    for key in fields:
        if key not in known:
            raise UsageError(f'create has no option "{key}"', hint=did_you_mean(key, known))
    try:
        return msgspec.convert(dict(fields), CreateSpec)
    except msgspec.ValidationError as error:
        raise UsageError(f"create cannot take this: {error}", hint="see: mngr create --help") from None


def with_defaults(spec: CreateSpec, defaults: CreateSpec) -> CreateSpec:
    """`spec`, with `defaults` wherever it says nothing; tables are joined, `spec` winning key by key."""
    blank = CreateSpec()
    merged: dict[str, Any] = {}
    for name in spec.__struct_fields__:
        said, default = getattr(spec, name), getattr(defaults, name)
        if isinstance(said, dict):
            merged[name] = {**default, **said}
        else:
            merged[name] = default if said == getattr(blank, name) else said
    return CreateSpec(**merged)
