"""What stands on Codex's screen when it has no conversation yet: a login, a question about trust, something new."""

from mngr.agents.shared.unknown_screen import end_of

_KNOWN = {
    "Sign in with ChatGPT": "it wants to be logged in: give it a key by name (--pass-env OPENAI_API_KEY), or the"
    " file of a login in MNGR_CODEX_CREDENTIALS",
    "Hooks need review": "its repository has hooks that are not trusted yet: mngr connect, and decide",
    "Trust this folder?": "it asks whether its folder can be trusted: mngr connect, and decide",
}


def unknown_screen_text(screen: str) -> str:
    """What a person has to know: what can be done, where that is known, and the end of the screen."""
    known = next((advice for sign, advice in _KNOWN.items() if sign in screen), "")
    return f"{known or 'its screen shows something unknown'}: {end_of(screen)}"
