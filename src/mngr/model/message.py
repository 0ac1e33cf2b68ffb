"""Messages to agents, what became of them, and what a conversation looks like."""

from enum import StrEnum

from msgspec import Struct

MESSAGE_LIMIT = 64 * 1024


class Delivery(StrEnum):
    DELIVERED = "delivered"
    QUEUED = "queued"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"


class Receipt(Struct, frozen=True):
    """What became of a message, and the evidence."""

    status: Delivery
    why: str = ""
    at: float = 0.0


class Turn(Struct, frozen=True):
    """One entry of a conversation, the same for every agent type."""

    role: str
    """user, agent or tool"""
    text: str
    at: float = 0.0


class Usage(Struct, frozen=True):
    """Tokens and money an agent used so far, from its own records."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    model: str = ""


class Spending(Struct, frozen=True):
    """One answer of a model: when, which, and how many tokens of each kind."""

    at: float
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    own_cost_usd: float | None = None
    """What the program itself reckoned; it counts where the price is not known."""
