"""A browser for the tests of the page."""

from tests.support.browser import browser, context

__all__ = ["browser", "context"]
