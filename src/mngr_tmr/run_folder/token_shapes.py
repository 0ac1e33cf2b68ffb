"""Secrets that no variable names: what looks like a token of a well-known service, or is random behind a key word.

Prefixes and lengths are those that the services document and that the rules of gitleaks (config/gitleaks.toml, 8.28)
and detect-secrets (plugins, 1.5) agree on. A shape that needs a key word to be told from other text is no row of its
own: `random_values` finds it.
"""

import binascii
import math
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from mngr_tmr.run_folder.long_runs import BEFORE_VALUE, Joined, Runs


class TokenShape(NamedTuple):
    """How the tokens of a service look. Each begins with one of `anchors`, words that are quick to look for."""

    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(name: str, anchors: str, rest: str) -> TokenShape:
    """The pattern is any of the anchors, not inside a word, and what follows them."""
    words = tuple(anchors.split())
    return TokenShape(
        name, words, re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, words))}){rest}")
    )


_END = "(?![A-Za-z0-9])"
SHAPES = (
    _shape("anthropic-key", "sk-ant-", r"[a-z]{2,8}\d{2}-[\w-]{80,120}"),
    _shape("aws-access-key", "AKIA ASIA ABIA ACCA", rf"[A-Z2-7]{{16}}{_END}"),
    _shape("databricks-token", "dapi", rf"[0-9a-f]{{32}}(?:-\d)?{_END}"),
    _shape("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"[0-9a-f]{{64}}{_END}"),
    _shape("docker-token", "dckr_pat_ dckr_oat_", r"[\w-]{27,32}"),
    _shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"[A-Za-z0-9]{{36,76}}{_END}"),
    _shape("github-fine-grained-token", "github_pat_", r"[A-Za-z0-9]{22}_\w{59}"),
    _shape("gitlab-token", "glpat- gldt- glrt- glptt- glcbt- glft-", r"[\w-]{20,64}"),
    _shape("google-api-key", "AIza", r"[\w-]{35}(?![\w-])"),
    _shape("google-oauth-secret", "GOCSPX-", r"[\w-]{28}(?![\w-])"),
    _shape("google-oauth-token", "ya29.", r"[\w-]{30,500}"),
    _shape("grafana-token", "glsa_", rf"[A-Za-z0-9]{{32}}_[0-9A-Fa-f]{{8}}{_END}"),
    _shape("huggingface-token", "hf_", rf"[A-Za-z]{{34}}{_END}"),
    _shape("json-web-token", "eyJ", r"[\w-]{14,2000}\.eyJ[\w-]{14,4000}\.[\w-]{10,2000}"),
    _shape("linear-key", "lin_api_", rf"[A-Za-z0-9]{{40}}{_END}"),
    _shape("npm-token", "npm_", rf"[A-Za-z0-9]{{36}}{_END}"),
    _shape("openai-key", "sk-", r"(?:(?:proj|svcacct|admin)-)?[\w-]{20,100}T3BlbkFJ[\w-]{20,100}"),
    _shape("openrouter-key", "sk-or-v1-", rf"[0-9a-f]{{64}}{_END}"),
    _shape("pypi-token", "pypi-AgE", r"[\w-]{50,1000}"),
    _shape("sendgrid-key", "SG.", r"[\w-]{22}\.[\w-]{43}(?![\w-])"),
    _shape("shopify-token", "shpat_ shpca_ shppa_ shpss_", rf"[0-9a-fA-F]{{32}}{_END}"),
    _shape("slack-token", "xoxa- xoxb- xoxe- xoxp- xoxr- xoxs- xapp-", r"[\w-]*\d{5,}[\w-]*[A-Za-z0-9]{16,}"),
    _shape("slack-webhook", "services/T", rf"[A-Z0-9]{{8,12}}/B[A-Z0-9]{{8,12}}/[A-Za-z0-9]{{20,28}}{_END}"),
    _shape("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_", rf"[A-Za-z0-9]{{24,128}}{_END}"),
    _shape("vault-token", "hvs. hvb.", r"[\w-]{60,300}"),
    TokenShape("telegram-token", (":AA",), re.compile(r":AA[\w-]{33}(?![\w-])")),
)
_PRIVATE_KEY = TokenShape(
    "private-key",
    ("-----BEGIN",),
    re.compile(
        r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----).){0,400}?[A-Za-z0-9+/]{40}"
        r"(?:(?!-----).){0,16384}(?:-----END [A-Z ]{5,40}-----)?",
        re.DOTALL,
    ),
)
_BY_ANCHOR = tuple((anchor, shape) for shape in SHAPES for anchor in shape.anchors)

_SHORTEST_BASE64, _MOST_BASE64 = 27, 4 << 10
_KEY_WORD = re.compile(
    r"(?:secret|token|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key"
    r"|credentials?|authorization)[\w.-]{0,16}[\"'`\\]{0,4}\s{0,2}(?:=>|:=|[:=])\s{0,2}[\"'`\\]{0,4}"
    r"(?:basic |bearer |token )?\Z",
    re.IGNORECASE,
)
_SIGNS = frozenset("\"'`\\=: >")
_SHORTEST_RANDOM, _LONGEST_RANDOM = 20, 200
_MOST_BITS_OF_WORDS, _MOST_BITS_OF_COUNTERS = 4.0, 3.0
_HEX = re.compile(r"[0-9a-f]{32,128}|[0-9A-F]{32,128}")
_RANDOM = re.compile(rf"(?:{_HEX.pattern})\Z|(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])[^A-Z]*[A-Z]")


def tokens(runs: Runs) -> Iterator[tuple[int, int, str]]:
    """Tokens of well-known shapes, as they are and in base64."""
    text, joined = runs.text, runs.joined
    for anchor, shape in (row for row in _BY_ANCHOR if row[0] in joined.text):
        for at, _ in joined.find(anchor):
            if found := shape.pattern.match(text, at):
                yield found.start(), found.end(), shape.name
    yield from private_keys(text)
    encoded = [run for run in runs.all if run.end - run.start >= _SHORTEST_BASE64]
    mixed = Joined(text, [run for run in encoded if not text[run.start : run.end].islower()])
    for word, shift, skipped, shape in (row for row in _IN_BASE64 if row[0] in mixed.text):
        for at, end in mixed.find(word):
            if size := _length_in_base64(text[at - skipped : end], shift, shape):
                yield at - skipped, at - skipped + size, shape.name


def private_keys(text: str) -> Iterator[tuple[int, int, str]]:
    at = text.find("PRIVATE KEY")
    while at >= 0:
        start = text.rfind("-----BEGIN", max(0, at - 40), at)
        if start >= 0 and (found := _PRIVATE_KEY.pattern.match(text, start)):
            yield found.start(), found.end(), _PRIVATE_KEY.name
        at = text.find("PRIVATE KEY", at + 1)


def random_values(runs: Runs) -> Iterator[tuple[int, int, str]]:
    """Random text that is the value of something called a secret, a token, a password or a key."""
    text = runs.text
    for start, end in runs.all:
        if (
            _SHORTEST_RANDOM <= end - start <= _LONGEST_RANDOM
            and text[start - 1 : start] in _SIGNS
            and _RANDOM.match(text, start, end)
            and _KEY_WORD.search(text[max(0, start - BEFORE_VALUE) : start])
            and _is_random(text[start:end])
        ):
            yield start, end, "random-value"


def _is_random(word: str) -> bool:
    """Whether a character of the word tells as many bits as those of a random one do (Shannon's entropy)."""
    parts = (count / len(word) for count in Counter(word).values())
    bits = -sum(part * math.log2(part) for part in parts)
    return bits > (_MOST_BITS_OF_COUNTERS if _HEX.fullmatch(word) else _MOST_BITS_OF_WORDS)


def _spelt_in_base64() -> Iterator[tuple[str, int, int, TokenShape]]:
    """What an anchor surely is in base64 at each alignment, and how many characters of its group precede that."""
    for anchor, shape in (*_BY_ANCHOR, ("-----BEGIN ", _PRIVATE_KEY)):
        for shift, skipped in ((0, 0), (1, 2), (2, 3)):
            whole = b64encode(bytes(shift) + anchor.encode()).decode()
            yield whole[skipped : 8 * (shift + len(anchor)) // 6], shift, skipped, shape


_IN_BASE64 = tuple(row for row in _spelt_in_base64() if len(row[0]) >= 3)


def _length_in_base64(text: str, shift: int, shape: TokenShape) -> int:
    """How many characters a token takes that is encoded in what begins here; 0 when there is none."""
    text = text[: min(len(text), _MOST_BASE64)].replace("-", "+").replace("_", "/")
    try:
        decoded = binascii.a2b_base64(text + "=" * (-len(text) % 4)).decode("latin-1")
    except binascii.Error:
        return 0
    # What precedes the anchor in its group is of no matter: a NUL stands for it.
    found = shape.pattern.match("\0" * shift + decoded[shift:], shift)
    return min(len(text), -(-8 * found.end() // 6)) if found else 0
