"""The page as a file."""

import base64
import os
import re
import stat
import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from tests.support.needs import needs
from tests.view.desk import TEMPLATE, chunks_of

from mngr_view.chunks import encode
from mngr_view.errors import ViewError
from mngr_view.page import write_page
from mngr_view.records import Detail, Index
from mngr_view.template import TEMPLATE as BUILT
from mngr_view.template import parse_template, read_template

INDEX = Index("a title", 5.0, ())
DETAIL = ("detail/1", encode(Detail((), failure="it broke")))


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


@pytest.mark.accept("V4")
def test_the_page_holds_its_data_and_a_policy_for_its_own_script_and_style(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    write_page(str(file), INDEX, [DETAIL, ("cast/1", encode('{"version": 2}\n'))], template=TEMPLATE)
    page = file.read_bytes()
    chunks = chunks_of(page)
    assert list(chunks) == ["index", "detail/1", "cast/1"]
    assert msgspec.convert(chunks["index"], Index) == INDEX
    assert msgspec.convert(chunks["detail/1"], Detail) == Detail((), failure="it broke")
    assert chunks["cast/1"] == '{"version": 2}\n'
    text = page.decode()
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    style = text.partition("<style>")[2].partition("</style>")[0]
    inline = text.partition("</div>\n<script>")[2].partition("</script>")[0]
    assert policy.split("; ") == [
        "default-src 'none'",
        f"script-src {hash_of(inline)} 'wasm-unsafe-eval'",
        f"style-src {hash_of(style)}",
        "img-src data:",
        "font-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert "mngr:" not in text


@pytest.mark.accept("V4", "Q5")
def test_a_hostile_title_is_text(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    title = "</title><script>alert(1)</script><!--mngr:data-->\x00\udcff&"
    write_page(str(file), Index(title, 0.0, ()), [], template=TEMPLATE)
    page = file.read_text()
    assert "<title>&lt;/title&gt;&lt;script&gt;alert(1)" in page
    assert page.count("<script>alert") == 0
    assert list(chunks_of(page.encode())) == ["index"]


def test_a_page_that_cannot_be_finished_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("old")

    def broken() -> Iterator[tuple[str, bytes]]:
        yield DETAIL
        raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError):
        write_page(str(file), INDEX, broken(), template=TEMPLATE)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert file.read_text() == "old"


def test_a_page_is_as_readable_as_other_files_and_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "page.html"
    link.symlink_to("real/page.html")
    write_page(str(link), INDEX, [], template=TEMPLATE)
    (tmp_path / "other").touch()
    assert link.is_symlink()
    assert stat.S_IMODE(link.stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_page(str(pipe), INDEX, [DETAIL], template=TEMPLATE)
    reader.join(90)
    assert list(chunks_of(read[0])) == ["index", "detail/1"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_folder_is_not_overwritten_and_a_missing_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(ViewError, match="is a folder") as caught:
        write_page(str(tmp_path), INDEX, [], template=TEMPLATE)
    assert "report.html" in caught.value.hint
    with pytest.raises(ViewError, match="No such file"):
        write_page(str(tmp_path / "no" / "page.html"), INDEX, [], template=TEMPLATE)


def test_a_template_that_was_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    with pytest.raises(ViewError, match="not built") as caught:
        write_page(str(tmp_path / "page.html"), INDEX, [], template=str(tmp_path / "none.html"))
    assert "make web" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<!--mngr:csp-->", ""),
        ("<!--mngr:data-->", "<!--mngr:data--><!--mngr:data-->"),
        ("<div", "<script src='x'></script><div"),
        ("<style>", "<b>"),
        ("</head>", "</head><style>b</style>"),
    ],
)
def test_a_damaged_template_is_refused(old: str, new: str) -> None:
    text = Path(TEMPLATE).read_text()
    parse_template(text)
    with pytest.raises(ViewError, match="does not have"):
        parse_template(text.replace(old, new, 1))


def test_the_built_template_can_be_filled() -> None:
    needs("the built page (make web)", "test", "-f", BUILT)
    template = read_template()
    assert template.script_hash != template.style_hash
    assert b"Content-Security-Policy" in template.head("x", is_live=True)
    assert "connect-src 'self'" in template.policy(is_live=True)
    assert "connect-src" not in template.policy(is_live=False)
