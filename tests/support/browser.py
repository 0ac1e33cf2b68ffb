"""A real Chromium for the page's tests: headless, a fresh profile, no background networking."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright
from tests.support.needs import needs

from mngr.process import wait_until
from mngr_view.page import write_page
from mngr_view.records import Index

CHROMIUM = "/usr/bin/chromium"
PATIENCE_MS = 90_000
expect.set_options(timeout=PATIENCE_MS)
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def launched() -> Iterator[Browser]:
    """A Chromium with a profile of its own."""
    needs("chromium", CHROMIUM, "--version")
    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_FLAGS))
        asyncio._set_running_loop(None)
        yield browser
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture(scope="module")
def browser(chromium: Browser) -> Iterator[Browser]:
    """The worker's Chromium, for the tests of one module.

    Playwright's event loop counts as running in this thread for as long as Playwright is open, and `asyncio.run`
    refuses to start another. So the loop is registered only while tests of the page run.
    """
    asyncio._set_running_loop(chromium._impl_obj._loop)
    yield chromium
    asyncio._set_running_loop(None)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A visit of its own: nothing is remembered from other tests. Motion is reduced, so that frames stand still."""
    with browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce") as context:
        context.set_default_timeout(PATIENCE_MS)
        yield context


class Visit:
    """A page on the screen and everything it asked for or complained about."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}"))

    @property
    def names(self) -> Locator:
        """The tests in the list, from top to bottom."""
        return self.page.locator(".row .name")

    @property
    def heading(self) -> Locator:
        return self.page.locator(".heading h2")

    @property
    def screen(self) -> Locator:
        """What the player's terminal shows."""
        return self.page.locator("pre.ap-term-text")

    @property
    def place(self) -> str:
        return _place(self.page.url)

    def arrive(self, place: str) -> None:
        """Waits until the address names this place: a click is over before the address has changed."""
        self.page.wait_for_url(lambda url: _place(url) == _place(place))


def _place(url: str) -> str:
    return unquote(url.partition("#")[2])


def soon(condition: Callable[[], bool]) -> bool:
    """Whether it comes true. The condition asks the page: Playwright hears of nothing while nobody asks."""
    return bool(wait_until(condition, PATIENCE_MS / 1000))


def visit(context: BrowserContext, address: Path | str, place: str = "") -> Visit:
    """Opens a file as someone who double-clicks it would, or an address; `place` is a deep link."""
    found = Visit(context.new_page())
    found.page.goto((address.as_uri() if isinstance(address, Path) else address) + quote(place, safe="#/%"))
    found.page.locator("header.top").wait_for()
    return found


def page_file(folder: Path, index: Index, chunks: dict[str, bytes]) -> Path:
    """The page as `mngr e2e view --html` writes it."""
    file = folder / "page.html"
    write_page(os.fspath(file), index, chunks.items())
    return file
