"""Fake secrets of every shape, made when tests run so that no scanner finds one in the repository."""

import random
import string
from base64 import b64encode, urlsafe_b64encode

_WORD = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

# What a token is put together from: a text as it is, or an alphabet and how many characters of it.
_SHAPES: dict[str, tuple[str | tuple[str, int], ...]] = {
    "anthropic-key": ("sk-", "ant-", "api03-", (_WORD + "-_", 93), "AA"),
    "aws-access-key": ("AK", "IA", (_UPPER, 16)),
    "databricks-token": ("da", "pi", (_HEX, 32)),
    "digitalocean-token": ("dop", "_v1_", (_HEX, 64)),
    "docker-token": ("dckr", "_pat_", (_WORD, 27)),
    "github-token": ("gh", "p_", (_WORD, 36)),
    "github-fine-grained-token": ("github", "_pat_", (_WORD, 22), "_", (_WORD, 59)),
    "gitlab-token": ("gl", "pat-", (_WORD, 20)),
    "google-api-key": ("AI", "za", (_WORD + "-_", 35)),
    "google-oauth-secret": ("GOC", "SPX-", (_WORD, 28)),
    "google-oauth-token": ("ya", "29.", (_WORD + "-_", 120)),
    "grafana-token": ("gl", "sa_", (_WORD, 32), "_", (_HEX, 8)),
    "huggingface-token": ("h", "f_", (string.ascii_letters, 34)),
    "linear-key": ("lin", "_api_", (_WORD, 40)),
    "npm-token": ("np", "m_", (_WORD, 36)),
    "openai-key": ("sk-", "proj-", (_WORD, 74), "T3Blbk", "FJ", (_WORD, 74)),
    "openrouter-key": ("sk-", "or-v1-", (_HEX, 64)),
    "pypi-token": ("pypi-", "AgEIcHlwaS5vcmc", (_WORD + "-_", 150)),
    "sendgrid-key": ("S", "G.", (_WORD, 22), ".", (_WORD, 43)),
    "shopify-token": ("shp", "at_", (_HEX, 32)),
    "slack-token": ("xo", "xb-", ("123456789", 12), "-", ("123456789", 12), "-", (_WORD, 24)),
    "slack-webhook": ("serv", "ices/T", (_UPPER, 8), "/B", (_UPPER, 8), "/", (_WORD, 24)),
    "stripe-key": ("sk", "_live_", (_WORD, 24)),
    "telegram-token": ("", ("123456789", 10), ":A", "A", (_WORD, 33)),
    "vault-token": ("hv", "s.", (_WORD, 90)),
}
NAMES = sorted((*_SHAPES, "json-web-token", "private-key"))


def fake(name: str, seed: int) -> str:
    """A secret of a shape that no service ever gave out."""
    chance = random.Random(f"{name} {seed}")
    if name == "json-web-token":
        head, claims = (b64(f'{{"{key}":"{_pick(chance, _WORD, 60)}"}}', True) for key in ("alg", "sub"))
        return f"{head}.{claims}.{_pick(chance, _WORD, 43)}"
    if name == "private-key":
        lines = "\n".join(_pick(chance, _WORD + "+/", 64) for _ in range(20))
        mark = " ".join(("RSA", "PRIVATE", "KEY-----"))
        return f"-----BEGIN {mark}\n{lines}\n-----END {mark}"
    return "".join(one if isinstance(one, str) else _pick(chance, *one) for one in _SHAPES[name])


def b64(text: str, for_urls: bool = False) -> str:
    encode = urlsafe_b64encode if for_urls else b64encode
    return encode(text.encode()).decode().rstrip("=")


def random_word(seed: int, alphabet: str = _WORD, size: int = 40) -> str:
    return _pick(random.Random(seed), alphabet, size)


def _pick(chance: random.Random, alphabet: str, size: int) -> str:
    return "".join(chance.choices(alphabet, k=size))
