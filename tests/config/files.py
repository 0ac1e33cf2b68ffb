"""A home and a repository of the test's own, and a short way to load config there."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mngr.config.layers import Config, load_config
from mngr.config.locate import ConfigDirs


class ConfigFiles:
    """Where one test's config files are."""

    def __init__(self, folder: Path) -> None:
        self.places = ConfigDirs(str(folder / "home/.mngr"), str(folder / "repo"))
        os.makedirs(self.places.host_dir)
        os.makedirs(folder / "repo/.git")
        os.makedirs(folder / "repo/.mngr")
        self.env = {"HOME": str(folder / "home")}

    @property
    def user(self) -> Path:
        return Path(self.places.user_file)

    @property
    def project(self) -> Path:
        return Path(self.places.project_file)

    @property
    def local(self) -> Path:
        return Path(self.places.local_file)

    def load(self, *overrides: str, env: Mapping[str, str] | None = None, **more: Any) -> Config:
        return load_config(self.places.repo_root, {**self.env, **(env or {})}, overrides, **more)
