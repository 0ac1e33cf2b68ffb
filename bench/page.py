"""The page of many tests: how large it is, how long it takes to build, and how soon Chromium shows it."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median

from bench.artifacts import make_run, size_of
from bench.results import Page
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = "/usr/bin/chromium"
_LOADS = 3
_PATIENCE_MS = 60_000
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
)
_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
_ROWS = "() => window.rowsAt ?? null"
_WATCH = """new MutationObserver((_, watch) => {
    if (!document.querySelector('li.row')) return;
    window.rowsAt = performance.now();
    watch.disconnect();
}).observe(document, { childList: true, subtree: true })"""


class NoPageError(Exception):
    """Why the page cannot be measured here."""


def measure_pages(root: str, sizes: Sequence[int]) -> list[Page]:
    """Builds and opens a page for each number of tests, one after another; leaves nothing."""
    found = []
    with _chromium() as opened:
        for tests in sizes:
            folder = os.path.join(root, f"page-{tests}")
            try:
                found.append(_measure(folder, tests, opened))
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    return found


def _measure(folder: str, tests: int, opened: "Opener") -> Page:
    run, file = make_run(folder, tests), os.path.join(folder, "page.html")
    build_s, peak_kb = _build(run, file)
    looks = [opened.look(file) for _ in range(_LOADS)]
    return Page(
        tests=tests,
        raw_bytes=size_of(run),
        file_bytes=os.path.getsize(file),
        build_s=build_s,
        peak_kb=peak_kb,
        paint_ms=median(paint for paint, _, _ in looks),
        rows_ms=median(rows for _, rows, _ in looks),
        requests=sum(requests for _, _, requests in looks),
    )


def _build(run: str, file: str) -> tuple[float, int]:
    """Seconds and peak memory of the command that users run."""
    argv = [sys.executable, "-m", "mngr", "e2e", "view", run, "--html", file]
    began = time.perf_counter()
    child = subprocess.Popen(
        argv, cwd=os.path.dirname(file), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert child.stderr
    said = child.stderr.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise NoPageError(f"the page was not measured: {said.strip().splitlines()[0]}")
    return time.perf_counter() - began, usage.ru_maxrss


class Opener:
    """A Chromium that opens files."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    def look(self, file: str) -> tuple[float, float, int]:
        """First paint and first row in ms after navigation, and how many requests were made beside the file's own."""
        requests: list[str] = []
        with self._browser.new_context() as context:
            page = context.new_page()
            page.set_default_timeout(_PATIENCE_MS)
            page.add_init_script(_WATCH)
            page.on("request", lambda request: requests.append(request.url))
            page.goto(f"file://{file}")
            rows = page.wait_for_function(_ROWS).json_value()
            paint = page.wait_for_function(_PAINT).json_value()
        return float(paint), float(rows), len([url for url in requests if not url.startswith("data:")]) - 1


@contextmanager
def _chromium() -> Iterator[Opener]:
    if not os.path.exists(CHROMIUM):
        raise NoPageError("the page was not measured: there is no chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_FLAGS))
        try:
            yield Opener(browser)
        finally:
            browser.close()
