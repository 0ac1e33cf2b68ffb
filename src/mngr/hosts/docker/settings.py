"""`[providers.docker]`: which engine, which image, and what every container is given."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from mngr.hosts.settings import read_section

DEFAULT_IMAGE = "debian:stable-slim"


class DockerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole section. What is left out is what the Docker CLI does by itself."""

    command: str = "docker"
    """The client: docker, or podman."""
    context: str = ""
    """A context of the client, where it is not the current one."""
    host: str = ""
    """The engine's address (as in DOCKER_HOST), where no context names it."""
    image: str = ""
    """A name in a registry, or a folder or Dockerfile to build: a path that begins with `.` or `/`."""
    build_args: dict[str, str] = {}
    cpus: float = 0
    memory: str = ""
    network: str = ""
    """As in `docker run --network`; `--offline` means none."""
    run_args: tuple[str, ...] = ()
    """Further words for `docker run`."""
    bootstrap: bool | None = None
    """Whether missing tmux and git are installed; unless said, where no image is set here."""
    namespace: str = "mngr"
    """Containers are called NAMESPACE-HOST; those of other namespaces are not seen."""

    @property
    def is_bootstrapping(self) -> bool:
        return not self.image if self.bootstrap is None else self.bootstrap

    @property
    def client(self) -> tuple[str, ...]:
        """The words that every call of the client begins with."""
        context = ("--context", self.context) if self.context else ()
        return (self.command, *context, *(("--host", self.host) if self.host else ()))


def read_settings(table: Mapping[str, Any]) -> DockerSettings:
    return read_section("docker", table, DockerSettings)
