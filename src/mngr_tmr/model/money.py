"""Amounts of dollars and tokens, read and written: `25usd`, `$1.50`, `3Mtok`, `800k tokens`."""

import re

from msgspec import Struct

import mngr

_NUMBER = re.compile(
    r"\$?\s*(\d{1,12}(?:\.\d{1,9})?|\.\d{1,9})\s*([kKMGB]?)\s*(usd|USD|\$|dollars?|tok|tokens?|)"
)
_SCALE = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "B": 10**9}
_MOST_TOKENS, _MOST_USD = 10**12, 10**6
_HINT = "for example 25usd, 1.50usd, 3Mtok, 800ktok"


class Amount(Struct, frozen=True, omit_defaults=True):
    """Dollars or tokens: one of them is set."""

    usd: float | None = None
    tokens: int | None = None

    @property
    def value(self) -> float:
        """In its own unit."""
        return float(self.tokens or 0) if self.usd is None else self.usd

    def words(self, value: float | None = None) -> str:
        """The amount, or another value in its unit."""
        value = self.value if value is None else value
        return f"{tokens(value)} tokens" if self.usd is None else dollars(value)


class Used(Struct, frozen=True, omit_defaults=True):
    """Tokens, and what they cost."""

    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: "Used") -> "Used":
        return Used(self.tokens + other.tokens, self.usd + other.usd)

    def __mul__(self, factor: float) -> "Used":
        return Used(round(self.tokens * factor), self.usd * factor)

    def most(self, other: "Used") -> "Used":
        """The larger of both tokens and of both dollars."""
        return Used(max(self.tokens, other.tokens), max(self.usd, other.usd))

    def value(self, unit: Amount) -> float:
        """In the unit of an amount."""
        return float(self.tokens) if unit.usd is None else self.usd


def parse_amount(text: str, name: str, unit: str = "") -> Amount:
    """`name` is the flag or key for the error; `unit` ("usd" or "tok") is taken for a number that has none."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        raise mngr.UsageError(f'{name} cannot be "{text}"', hint=_HINT)
    number, scale, word = float(found[1]), _SCALE[found[2]], found[3].lower()
    is_usd = text.strip().startswith("$") or word in ("usd", "$", "dollar", "dollars")
    is_tokens = word.startswith("tok")
    if is_usd and is_tokens:
        raise mngr.UsageError(f'{name} cannot be "{text}": it has two units', hint=_HINT)
    if not (is_usd or is_tokens):
        if not unit:
            raise mngr.UsageError(f'{name} "{text}" has no unit: dollars or tokens?', hint=_HINT)
        is_usd = unit == "usd"
    if unit and is_usd != (unit == "usd"):
        expected = "dollars" if unit == "usd" else "tokens"
        raise mngr.UsageError(f'{name} takes {expected}, found "{text}"', hint=_HINT)
    amount = number * scale if is_usd else round(number * scale)
    if not 0 < amount <= (_MOST_USD if is_usd else _MOST_TOKENS):
        raise mngr.UsageError(f'{name} "{text}" is out of range', hint=_HINT)
    return Amount(usd=amount) if is_usd else Amount(tokens=int(amount))


def dollars(usd: float) -> str:
    """`$0.0042`, `$0.31`, `$12.50`, `$1,204`."""
    if usd and abs(usd) < 0.01:
        return f"${usd:.4f}"
    return f"${usd:,.2f}" if abs(usd) < 1000 else f"${usd:,.0f}"


def tokens(count: float) -> str:
    """`950`, `20k`, `1.2M`."""
    for scale, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= 0.9995 * scale:
            return (
                f"{float(f'{count / scale:.2g}' if count < 10 * scale else f'{count / scale:.0f}'):g}{letter}"
            )
    return f"{count:.0f}"
