"""Refuses to build a distribution without the page, which `mngr e2e view` and the reports of the pipeline are."""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "src/mngr_view/static/page.html"
ANYWAY = "MNGR_BUILD_WITHOUT_PAGE"
_HINT = f"""\
error: the page is not built: {PAGE}
hint: make web builds it (with Node from the PATH, or from PyPI), then again; to develop: pip install -e .
      Without the page, and so without mngr e2e view and report.html: {ANYWAY}=1 pip install ."""


class PageHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """An editable install uses the page from the checkout, once it is there."""
        del build_data
        if version == "editable" or os.environ.get(ANYWAY) or os.path.exists(os.path.join(self.root, PAGE)):
            return
        self.app.abort(_HINT)
