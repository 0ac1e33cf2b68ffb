"""What every verb needs: where we are, the config, and the hosts and agent types by name."""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from mngr import registry
from mngr.agents.protocol import AgentType
from mngr.config.layers import Config, load_config
from mngr.config.locate import policy_files
from mngr.errors import NotFoundError, UnreachableError, UsageError, did_you_mean
from mngr.hosts.local import LocalProvider
from mngr.hosts.protocol import Bounded, Configurable, Host, Meets, Pool, Provider, Warns
from mngr.model.address import Address, parse_address
from mngr.model.agent import AgentSpec
from mngr.store.probe import Evidence
from mngr.store.state import Phase

# A host says its time in whole seconds, and its answer takes a while.
_CLOCKS_AGREE_S = 3.0


class Manager:
    """One view of the world, for one command or one program. Safe to share between threads."""

    def __init__(
        self,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        overrides: Sequence[str] = (),
        providers: Mapping[str, Provider] | None = None,
    ) -> None:
        """`providers` stand in front of the installed ones of the same name."""
        self.cwd = cwd or os.getcwd()
        self.env = os.environ if env is None else env
        self.warnings: list[str] = []
        self._overrides = tuple(overrides)
        self._given = dict(providers or {})
        self._providers: dict[str, Provider] = dict(self._given)
        self._types: dict[str, AgentType] = {}
        self._clocks: dict[tuple[str, str], float] = {}
        self._lock = threading.RLock()
        # Its own: a config that warns while it loads is waited for by the holder of the other.
        self._warnings_lock = threading.Lock()

    @cached_property
    def config(self) -> Config:
        extra = registry.entries(registry.COMMANDS)
        loaded = load_config(self.cwd, self.env, self._overrides, extra_sections=tuple(extra))
        for note in loaded.ignored:
            self.warn(note)
        return loaded

    @property
    def host_dir(self) -> str:
        return self.config.host_dir

    @property
    def prefix(self) -> str:
        return str(self.config.get("prefix", "mngr-"))

    @property
    def local(self) -> Host:
        return self.provider("local").open("local")

    def warn(self, text: str) -> None:
        with self._warnings_lock:
            if text not in self.warnings:
                self.warnings.append(text)

    def provider_names(self) -> tuple[str, ...]:
        return tuple({**registry.entries(registry.PROVIDERS), **self._given})

    def used_providers(self) -> tuple[str, ...]:
        """Providers worth asking: our own, those given or configured, and those that made a host from here."""
        try:
            used = set(os.listdir(f"{self.host_dir}/providers"))
        except OSError:
            used = set()
        worth = {"local", *self._given, *used, *self.config.section("providers")}
        return tuple(name for name in self.provider_names() if name in worth)

    def provider(self, name: str) -> Provider:
        with self._lock:
            if name not in self._providers:
                make = LocalProvider if name == "local" else registry.load(registry.PROVIDERS, name)
                made = make(self.host_dir)
                if isinstance(made, Configurable):
                    made.configure(self.config.section(f"providers.{name}"))
                if isinstance(made, Warns):
                    made.warn_by(self.warn)
                self._providers[name] = made
            return self._providers[name]

    def makes_hosts(self, provider: str) -> bool:
        """Whether agents of this provider get a host of their own, which is made for them and ends with them."""
        return provider not in ("", "local") and not isinstance(self.provider(provider), Pool)

    def host_limit(self, provider: str) -> int:
        """How many hosts of it may be live at once, as far as the provider says; 0 where it does not."""
        found = self.provider(provider or "local")
        return found.max_hosts if isinstance(found, Bounded) else 0

    def open_host(self, name: str, provider: str = "") -> Host:
        """The host of that name; every provider is asked when none is named."""
        return self.provider(provider or self.provider_of(name)).open(name)

    def provider_of(self, host: str) -> str:
        """Who has a host of that name, or could reach one that the user's own setup names."""
        if host in ("", "local", "localhost"):
            return "local"
        known: list[str] = []
        for candidate in self.used_providers():
            try:
                found = [ref.name for ref in self.provider(candidate).hosts()]
            except UnreachableError as error:
                self.warn(error.message)
                continue
            if host in found:
                return candidate
            known += found
        for candidate in {*self.used_providers(), "ssh"}:
            provider = self.provider(candidate)
            if isinstance(provider, Meets) and provider.knows(host):
                return candidate
        raise NotFoundError(f'no host "{host}"', hint=did_you_mean(host, known))

    def check_policy(
        self, what: str, spec: AgentSpec, provider: str, host: str = "", files: Sequence[str] = ()
    ) -> None:
        """Refuses to send what the policy forbids, and records what is sent; nothing is loaded without a policy."""
        if self.config.section("policy") or policy_files(self.env):
            registry.load_policy()(self).check(what, spec, provider, host, files)

    def check_launch(self, type: str, args: Sequence[str], provider: str) -> None:
        """Refuses what the policy forbids before many agents of a type are made from the repository we are in."""
        source = self.config.repo_root or self.cwd
        spec = AgentSpec(
            id="", name="", type=type, argv=tuple(args), work_dir="", created_at=0.0, source=source
        )
        self.check_policy("launch", spec, provider)

    def note_clock(self, host: Host, seconds: float) -> None:
        """Remembers how far a host's clock, which says `seconds` now, is from ours."""
        ahead = seconds - time.time()
        self._clocks[host.provider, host.name] = ahead if abs(ahead) > _CLOCKS_AGREE_S else 0.0

    def time_on(self, host: Host) -> float:
        """Now, by the clock of that host as far as we know it, so that events of both sides can be compared."""
        return time.time() + self._clocks.get((host.provider, host.name), 0.0)

    def address(self, text: str) -> Address:
        return parse_address(text, self.provider_names())

    def agent_type(self, name: str) -> AgentType:
        """A type by name: one of ours, a plugin's, or one from `[agent_types.NAME]` in the config."""
        with self._lock:
            if name not in self._types:
                self._types[name] = self._load_type(name)
            return self._types[name]

    def phase(self, type_name: str, evidence: Evidence, now: float) -> Phase:
        """What a living agent of this type is doing. Of a built-in type nothing else is loaded."""
        parent = self.config.section(f"agent_types.{type_name}").get("parent", type_name)
        ask = registry.load_phase(str(parent)) or self.agent_type(type_name).phase
        return cast(Phase, ask(evidence, now))

    def _load_type(self, name: str) -> AgentType:
        custom = self.config.section(f"agent_types.{name}")
        if custom:
            from mngr.agents.custom import custom_type

            return custom_type(name, custom, self.agent_type)
        known = registry.entries(registry.AGENT_TYPES)
        if name not in known:
            names = [*known, *self.config.section("agent_types")]
            raise UsageError(
                f'no agent type "{name}"',
                hint=did_you_mean(name, names) + f" To run a program: mngr create NAME -- {name}",
            )
        return cast(AgentType, registry.load(registry.AGENT_TYPES, name)())

    def hook(self, moment: str, **arguments: Any) -> None:
        """Tells plugins of a moment. An error in `before_create` refuses; anywhere else it becomes a warning."""
        if not registry.entries(registry.HOOKS):
            return
        from mngr.actions.hooks import call

        call(moment, arguments, self.warn)


_default: Manager | None = None


def default_manager(manager: Manager | None) -> Manager:
    """The given manager, or the one of this process."""
    global _default
    if manager is None and _default is None:
        _default = Manager()
    return manager or cast(Manager, _default)
