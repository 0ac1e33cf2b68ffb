"""What tokens of a model cost, before anything is spent."""

from mngr.actions.manager import Manager, default_manager
from mngr.agents.prices import Price, price_of, with_own

# What the names of the models of an agent type begin with, where it runs those of one maker by default.
_OWN_MODELS = {"claude": "claude-", "codex": "gpt-"}


def model_prices(
    model: str = "", *, agent_type: str = "", manager: Manager | None = None
) -> dict[str, Price]:
    """Prices by model: that of the model, else of every one that has it as a word in its name (`opus`).

    Without a model they are those that the agent type uses by default; empty where no price is known. With neither
    they are all.
    """
    known = with_own(default_manager(manager).config.section("prices"))
    if model:
        price = price_of(model, known)
        found = {name: one for name, one in known.items() if model in name.split("-")}
        return {model: price} if price else found
    if not agent_type:
        return dict(known)
    prefix = _OWN_MODELS.get(agent_type)
    return {name: one for name, one in known.items() if prefix and name.startswith(prefix)}
