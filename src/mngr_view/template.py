"""The page without its data: built from `web/`, filled with a policy that lets nothing else run."""

import base64
import html
import os
from hashlib import sha256
from html.parser import HTMLParser

from msgspec import Struct

from mngr_view.errors import ViewError

TEMPLATE = os.path.join(os.path.dirname(__file__), "static", "page.html")
LIVE = '<meta name="mngr-live" content="1">'
_HINT = "build it with `make web` (Node is needed), or install mngr-agents from a wheel, which has it"
_CSP, _TITLE, _DATA = "<!--mngr:csp-->", "<!--mngr:title-->", "<!--mngr:data-->"


class Template(Struct, frozen=True):
    """The parts between the places to be filled, in their order, and what the policy must allow."""

    before_csp: str
    before_title: str
    before_data: str
    rest: str
    script_hash: str
    style_hash: str

    def policy(self, *, is_live: bool) -> str:
        """The content security policy: the page's own script and style, and with a server its data."""
        rules = [
            "default-src 'none'",
            f"script-src '{self.script_hash}' 'wasm-unsafe-eval'",
            f"style-src '{self.style_hash}'",
            "img-src data:",
            "font-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
        return "; ".join([*rules, "connect-src 'self'"] if is_live else rules)

    def head(self, title: str, *, is_live: bool) -> bytes:
        """Everything before the data."""
        policy = self.policy(is_live=is_live)
        meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        shown = html.escape("".join(char if char.isprintable() else " " for char in title))
        page = self.before_csp + meta + self.before_title + shown + self.before_data
        return page.encode(errors="backslashreplace")

    @property
    def tail(self) -> bytes:
        return self.rest.encode()


def read_template(path: str = TEMPLATE) -> Template:
    """Reads the built template; ViewError says how to build it, or what is wrong with it."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        raise ViewError(f"the page is not built: {path} is missing", hint=_HINT) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ViewError(f"cannot read the page's template {path}: {error}", hint=_HINT) from None
    return parse_template(text, path)


def parse_template(text: str, path: str = TEMPLATE) -> Template:
    if [text.count(mark) for mark in (_CSP, _TITLE, _DATA)] != [1, 1, 1]:
        raise ViewError(f"{path} does not have each of {_CSP} {_TITLE} {_DATA} once", hint=_HINT)
    before_csp, rest = text.split(_CSP)
    if not (_TITLE in rest and _DATA in rest.partition(_TITLE)[2]):
        raise ViewError(f"{path} does not have {_CSP} {_TITLE} {_DATA} in this order", hint=_HINT)
    before_title, rest = rest.split(_TITLE)
    before_data, rest = rest.split(_DATA)
    inline = _Inline()
    inline.feed(text)
    inline.close()
    if len(inline.scripts) != 1 or len(inline.styles) != 1:
        raise ViewError(f"{path} does not have one inline <script> and one inline <style>", hint=_HINT)
    return Template(
        before_csp, before_title, before_data, rest, _hash(inline.scripts[0]), _hash(inline.styles[0])
    )


class _Inline(HTMLParser):
    """Collects the text of inline scripts and styles."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self._open: list[str] | None = None

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        self._open = {"script": self.scripts, "style": self.styles}.get(tag)
        if self._open is not None:
            self._open.append("")

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._open[-1] += data

    def handle_endtag(self, _: str) -> None:
        self._open = None


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(sha256(text.encode()).digest()).decode()
