"""The provider `docker`: containers made, found and ended with nothing but the Docker CLI, so that its contexts,
remote engines and podman work too.

What a container is to us is in its labels: every user of the engine sees the same hosts, also stopped ones.
"""

import os
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from mngr import process
from mngr.errors import (
    MngrError,
    NotFoundError,
    RefusedError,
    TimedOutError,
    UnreachableError,
    UsageError,
    did_you_mean,
)
from mngr.hosts import watchdog
from mngr.hosts.bootstrap import bootstrap
from mngr.hosts.container import HOST_DIR
from mngr.hosts.docker.host import DockerHost, no_client
from mngr.hosts.docker.settings import DEFAULT_IMAGE, DockerSettings, read_settings
from mngr.hosts.labels import AGENT
from mngr.hosts.protocol import Host
from mngr.model.host import HostRef, HostSpec, HostState
from mngr.model.ids import check_name, random_name
from mngr.process import CommandFailedError, Completed, wait_until

NAMESPACE, HOST, CREATION = "mngr.namespace", "mngr.host", "mngr.creation"
SNAPSHOTS, SNAPSHOT, RECORD = "mngr.snapshots", "mngr.snapshot", "mngr.record"
_ASK_S = 20.0
_RUN_S = 120.0
_MAKE_S = 1800.0
_STOP_S = 60.0
# So late an engine may still make what a client that had to be killed had asked it for.
_LATE_S = 5.0
_STATES = {"running": HostState.RUNNING, "paused": HostState.UNREACHABLE, "restarting": HostState.UNREACHABLE}
_SHOWN = f'{{{{.State.Status}}}} {{{{index .Config.Labels "{NAMESPACE}"}}}}'
_EXITED = re.compile(r"Exited \((\d+)\)")
_ENGINE_IS_AWAY = (
    "cannot connect to the docker daemon",
    "error during connect",
    "permission denied while trying to connect",
)


class DockerProvider:
    """Containers of one engine and namespace."""

    name = "docker"
    options = frozenset({"image", "cpus", "memory", "offline", "snapshot"}) | watchdog.OPTIONS

    def __init__(self, _host_dir: str) -> None:
        """It keeps nothing on this machine."""
        self._settings = DockerSettings()

    def configure(self, settings: Mapping[str, Any]) -> None:
        self._settings = read_settings(settings)

    def create(self, spec: HostSpec) -> DockerHost:
        name = check_name(spec.name or random_name(), "host name")
        image = self._image(spec)
        creation = os.urandom(8).hex()
        try:
            self._run(name, image, spec, creation)
        except BaseException as error:
            if not isinstance(error, RefusedError):
                was_answered = isinstance(error, MngrError) and not isinstance(error, TimedOutError)
                self._take_back(creation, 0.0 if was_answered else _LATE_S)
            raise
        return self._host(name)

    def open(self, name: str) -> DockerHost:
        state = self._state(name)
        if state != "running":
            raise UnreachableError(
                f'container "{name}" is {state}', hint="starting one of its agents starts it again"
            )
        return self._host(name)

    def hosts(self) -> list[HostRef]:
        shown = ("--format", "{{.Names}}\t{{.State}}\t{{.Status}}")
        done = self._ask("ps", "-a", "--filter", f"label={NAMESPACE}={self._settings.namespace}", *shown)
        lines = (line.split("\t") for line in done.check("cannot list containers").text.splitlines())
        before, found = self._container(""), []
        for name, state, status in lines:
            if name.startswith(before) and state != "removing":
                exited = _EXITED.match(status)
                why = watchdog.why_ended(int(exited[1])) if exited else ""
                own = name.removeprefix(before)
                found.append(HostRef(own, self.name, _STATES.get(state, HostState.STOPPED), why))
        return found

    def stop(self, name: str) -> None:
        self._state(name)
        self._ask("stop", "-t", "5", self._container(name), timeout_s=_STOP_S).check(f'cannot stop "{name}"')

    def start(self, name: str) -> DockerHost:
        if self._state(name) == "paused":
            self._ask("unpause", self._container(name)).check(f'cannot wake "{name}"')
        self._ask("start", self._container(name), timeout_s=_STOP_S).check(f'cannot start "{name}"')
        return self._host(name)

    def destroy(self, name: str) -> None:
        self._state(name)
        self._ask("rm", "-f", "-v", self._container(name), timeout_s=_STOP_S).check(f'cannot remove "{name}"')

    def prepare(self, host: Host) -> None:
        if self._settings.is_bootstrapping:
            as_root = DockerHost(host.name, self._container(host.name), self._settings.client, user="0")
            bootstrap(as_root)

    def tags(self, name: str) -> dict[str, str]:
        state, shown = self._state(name), ("--format", "{{json .Config.Labels}}")
        done = self._ask("container", "inspect", *shown, self._container(name))
        found = msgspec.json.decode(
            done.check(f'cannot read the labels of "{name}"').stdout, type=dict[str, str]
        )
        # One that never ran has no agent, whatever it was meant for.
        return {key: value for key, value in found.items() if state != "created" or key != AGENT}

    def keep(self, host: str, snapshot: str, record: bytes) -> None:
        self._state(host)
        if snapshot in self.kept():
            raise RefusedError(f'a snapshot "{snapshot}" is there already', hint="choose another name")
        labels = {SNAPSHOTS: self._settings.namespace, SNAPSHOT: snapshot, RECORD: record.hex()}
        flags = [word for label in labels.items() for word in ("--change", "LABEL " + "=".join(label))]
        words = ("commit", *flags, self._container(host), self._snapshot(snapshot))
        self._ask(*words, timeout_s=_MAKE_S).check(f'cannot keep container "{host}"')

    def kept(self) -> dict[str, bytes]:
        mine = ("--filter", f"label={SNAPSHOTS}={self._settings.namespace}")
        listed = self._ask("images", *mine, "--format", "{{.Tag}} {{.ID}}").check("cannot list images")
        # One that was dropped has no name any more, and stays as long as a container needs it.
        found = [line.split()[-1] for line in listed.text.splitlines() if not line.startswith("<none>")]
        if not found:
            return {}
        shown = " ".join(f'{{{{index .Config.Labels "{label}"}}}}' for label in (SNAPSHOT, RECORD))
        done = self._ask("image", "inspect", "--format", shown, *dict.fromkeys(found))
        pairs = (line.split() for line in done.check("cannot read images").text.splitlines())
        return {pair[0]: bytes.fromhex(pair[1]) for pair in pairs if len(pair) == 2}

    def drop(self, snapshot: str) -> None:
        self._ask("rmi", "-f", self._snapshot(snapshot)).check(f'cannot remove snapshot "{snapshot}"')

    def _run(self, name: str, image: str, spec: HostSpec, creation: str) -> None:
        # A snapshot's image has the labels of the container it was: none of them may shine through.
        blank = dict.fromkeys((AGENT, SNAPSHOTS, SNAPSHOT, RECORD), "") if spec.snapshot else {}
        own = {NAMESPACE: self._settings.namespace, HOST: name, CREATION: creation}
        labels = {**blank, **own, **spec.tags}
        flags = [word for label, value in labels.items() for word in ("--label", f"{label}={value}")]
        cpus, memory = spec.cpus or self._settings.cpus, spec.memory or self._settings.memory
        flags += ["--cpus", f"{cpus:g}"] if cpus else []
        flags += ["--memory", memory] if memory else []
        network = "none" if spec.offline else self._settings.network
        flags += ["--network", network] if network else []
        flags += self._settings.run_args
        first, *rest = watchdog.watchdog_argv(spec, HOST_DIR)
        init = ("--entrypoint", first, image, *rest)
        # Without a pull it is short, so an interruption waits for its end: whether there is a container is known then.
        argv = ("run", "-d", "--pull", "never", "--name", self._container(name), *flags, *init)
        done = self._ask(*argv, timeout_s=_RUN_S, defer_signals=True)
        # Docker and podman have their own words for it.
        complaint = done.complaint.lower()
        is_image_missing = bool(done.code) and (
            "no such image" in complaint or "image not known" in complaint
        )
        if is_image_missing:
            done = self._ask("pull", "-q", image, timeout_s=_MAKE_S)
            done = done if done.code else self._ask(*argv, timeout_s=_RUN_S, defer_signals=True)
        if "is already in use" in done.complaint:
            raise RefusedError(f'there is a container "{name}" already', hint="choose another name")
        if done.code:
            raise _failed(f'cannot make container "{name}" from {image}', done)

    def _take_back(self, creation: str, within_s: float) -> None:
        """Removes what a creation left: its client may have been killed after the engine had heard it."""
        mine = ("ps", "-aq", "--filter", f"label={CREATION}={creation}")
        found = wait_until(lambda: self._ask(*mine).text.split(), within_s, every_s=0.2)
        if found:
            self._ask("rm", "-f", "-v", *found, timeout_s=_STOP_S)

    def _image(self, spec: HostSpec) -> str:
        if spec.snapshot:
            known = self.kept()
            if spec.snapshot not in known:
                raise NotFoundError(f'no snapshot "{spec.snapshot}"', hint=did_you_mean(spec.snapshot, known))
            return self._snapshot(spec.snapshot)
        image = spec.image or self._settings.image or DEFAULT_IMAGE
        if not image.startswith((".", "/")):
            return image
        path = os.path.abspath(image)
        if not os.path.exists(path):
            raise UsageError(
                f"there is no folder or Dockerfile {image}", hint="an image by name has no . or / in front"
            )
        where = (path,) if os.path.isdir(path) else ("-f", path, os.path.dirname(path))
        given = [
            word for item in self._settings.build_args.items() for word in ("--build-arg", "=".join(item))
        ]
        done = self._ask("build", "-q", *given, *where, timeout_s=_MAKE_S)
        if done.code:
            raise _failed(f"cannot build {image}", done)
        return done.text.split()[-1]

    def _state(self, name: str) -> str:
        """The engine's word for how a container is; NotFoundError when it is none of ours."""
        done = self._ask("container", "inspect", "--format", _SHOWN, self._container(name))
        if done.code and "no such container" not in done.complaint.lower():
            raise _failed(f'cannot ask for container "{name}"', done)
        state, _, namespace = done.text.strip().partition(" ")
        if done.code or namespace != self._settings.namespace:
            raise NotFoundError(f'no container "{name}"', hint=self._known(name))
        return state

    def _known(self, name: str) -> str:
        return did_you_mean(name, [ref.name for ref in self.hosts()], else_hint="see: mngr list --hosts")

    def _container(self, name: str) -> str:
        return f"{self._settings.namespace}-{name}"

    def _snapshot(self, name: str) -> str:
        return f"{self._settings.namespace}-snapshot:{name}"

    def _host(self, name: str) -> DockerHost:
        return DockerHost(name, self._container(name), self._settings.client)

    def _ask(self, *words: str, timeout_s: float = _ASK_S, defer_signals: bool = False) -> Completed:
        """Calls the client; UnreachableError when there is no engine behind it."""
        try:
            argv = (*self._settings.client, *words)
            done = process.run(argv, timeout_s=timeout_s, defer_signals=defer_signals)
        except CommandFailedError as error:
            raise no_client(self._settings.command, error) from None
        except TimedOutError:
            raise UnreachableError(
                f"the Docker engine did not answer within {timeout_s:g} s", hint="is it well? docker version"
            ) from None
        if done.code and any(words in done.complaint.lower() for words in _ENGINE_IS_AWAY):
            raise UnreachableError(
                f"the Docker engine does not answer: {done.complaint.splitlines()[0]}",
                hint="is it running, and may you use it? docker version",
            )
        return done


def _failed(doing: str, done: Completed) -> MngrError:
    lines = [
        line for line in done.complaint.splitlines() if not line.startswith(("Unable to find", "See 'docker"))
    ]
    complaint = " ".join(line.strip() for line in lines[-3:]).removeprefix("docker: ")
    hint = (
        "is its name right, and may this engine pull it?"
        if "pull" in complaint or "No such image" in complaint
        else ""
    )
    return MngrError(f"{doing}: {complaint or done.code}", hint=hint)
