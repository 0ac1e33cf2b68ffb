"""`[NAME][@[HOST][.PROVIDER]][:PATH]`, the one way to say which agent and where."""

import re
from collections.abc import Collection

from msgspec import Struct

from mngr.errors import UsageError, did_you_mean
from mngr.model.ids import check_name, is_agent_id

# Compiled at the first use: most commands need none of it.
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\Z"


class Address(Struct, frozen=True):
    """What the user said; empty fields were left out."""

    name: str = ""
    host: str = ""
    provider: str = ""
    path: str = ""

    @property
    def wants_new_host(self) -> bool:
        """`foo@.docker` asks for a host of that provider without naming one."""
        return bool(self.provider) and not self.host

    def __str__(self) -> str:
        where = self.host + (f".{self.provider}" if self.provider else "")
        return self.name + (f"@{where}" if where else "") + (f":{self.path}" if self.path else "")


def is_host(target: str) -> bool:
    """Whether a target is a host: an address without an agent's name."""
    return target.startswith("@")


def parse_address(text: str, providers: Collection[str]) -> Address:
    """Reads an address. The last label after `@` is a provider only if it is one of `providers`."""
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise UsageError(
            f"address {text!r} holds control characters", hint="an address is NAME@HOST.PROVIDER:PATH"
        )
    head, colon, path = text.partition(":")
    if colon and not path:
        raise UsageError(
            f'address "{text}" ends in ":" with no path', hint=f'leave it out, or write "{text}/some/dir"'
        )
    name, at, where = head.partition("@")
    if at and not where:
        raise UsageError(
            f'address "{text}" has "@" and no host', hint='write "NAME@HOST" or "NAME@.PROVIDER"'
        )
    if name and not is_agent_id(name):
        check_name(name)
    host, provider = _split_where(text, where, providers)
    return Address(name=name, host=host, provider=provider, path=path)


def _split_where(text: str, where: str, providers: Collection[str]) -> tuple[str, str]:
    if not where:
        return "", ""
    host, dot, last = where.rpartition(".")
    if dot and not host and last not in providers:
        raise UsageError(
            f'no provider "{last}" in address "{text}"',
            hint=did_you_mean(last, providers, else_hint=f"installed: {', '.join(sorted(providers))}"),
        )
    if dot and last in providers:
        where, provider = host, last
    else:
        provider = ""
    if where and not re.match(_HOST, where):
        raise UsageError(
            f'"{where}" in address "{text}" is not a host name', hint="letters, digits, dots and dashes"
        )
    return where, provider
