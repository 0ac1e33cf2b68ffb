"""Canaries: values that must not get out, the ways in which they might be written, and looking for them."""

import html
import json
import re
import shlex
import unicodedata
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from urllib.parse import quote, unquote

SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": lambda value: json.dumps(value)[1:-1],
    "json in json": lambda value: json.dumps(json.dumps(value))[3:-3],
    "every letter escaped": lambda value: "".join(f"\\u{ord(char):04x}" for char in value),
    "url": lambda value: quote(value, safe=""),
    "url, small letters": lambda value: re.sub("%..", lambda found: found[0].lower(), quote(value, safe="")),
    "every letter in percents": lambda value: "".join(f"%{byte:02X}" for byte in value.encode()),
    "html": html.escape,
    "html in json": lambda value: json.dumps(html.escape(value))[1:-1],
    "json in html": lambda value: html.escape(json.dumps(value)[1:-1]),
    "url in json": lambda value: json.dumps(quote(value, safe="\\"))[1:-1],
    "html in html": lambda value: html.escape(html.escape(value)),
    "entities": lambda value: "".join(f"&#{ord(char)};" for char in value),
    "python": lambda value: repr(value)[1:-1],
    "bytes of python": lambda value: repr(value.encode())[2:-1],
    "git": lambda value: "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\\\' else f"\\{byte:03o}" for byte in value.encode()
    ),
    "shell": shlex.quote,
    "shell, backslashes": lambda value: re.sub(r"(\W)", r"\\\1", value),
    "base64": lambda value: b64encode(value.encode()).decode(),
    "base64 for urls": lambda value: urlsafe_b64encode(b"xx" + value.encode()).decode(),
    "base64, wrapped": lambda value: "\n".join(re.findall(".{1,9}", b64encode(value.encode()).decode())),
    "hex": lambda value: value.encode().hex(),
    "latin-1": lambda value: value.encode("latin-1", "replace").decode(errors="surrogateescape"),
    "colours": lambda value: "\x1b[1m".join(value),
    "colours in json": lambda value: json.dumps("\x1b[1;31m".join(value))[1:-1],
    "a title in it": lambda value: value[:4] + "\x1b]0;title\x07" + value[4:],
    "wrapped": lambda value: f"{value[:4]} \u2502\r\n  \u2502 {value[4:]}",
    "no visible change": lambda value: "\u200b".join(value),
    "no visible change, in json": lambda value: json.dumps("\u200b".join(value))[1:-1],
    "nulls": lambda value: "\0".join(value),
    "an escape before it": lambda value: "\x1b" + value,
}


def holds(text: str, value: str) -> list[str]:
    """The spellings in which a value is in a text; looked for in another way than the redactor does."""
    shown = "".join(char for char in text if unicodedata.category(char)[0] != "C" or char in "\n\t")
    texts = (text, shown, unquote(text), html.unescape(text))
    spelt = {name: spell(value) for name, spell in SPELLINGS.items()}
    return [name for name, one in spelt.items() if len(one) >= 8 and any(one in text for text in texts)]
