"""Which image a sandbox starts from: built by Modal once, and from then on there."""

import os
from collections.abc import Mapping
from typing import Any

from mngr.errors import UsageError
from mngr.hosts.bootstrap import NEEDED
from mngr.hosts.modal.call import sdk


def image_of(name: str, build_args: Mapping[str, str]) -> Any:
    """An image by name or from a Dockerfile; without either, Debian with what agents need."""
    images = sdk().Image
    if not name:
        return images.debian_slim().apt_install(*NEEDED)
    if not name.startswith((".", "/")):
        return images.from_registry(name)
    path = os.path.abspath(name)
    if not os.path.exists(path):
        raise UsageError(
            f"there is no folder or Dockerfile {name}", hint="an image by name has no . or / in front"
        )
    file = os.path.join(path, "Dockerfile") if os.path.isdir(path) else path
    return images.from_dockerfile(file, context_dir=os.path.dirname(file), build_args=dict(build_args))
