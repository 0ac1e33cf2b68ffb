"""Names to things: our own tables and what installed plugins add, found without importing any of it.

A plugin declares entry points in the groups below, and help lines for its commands in a plain text file
`mngr-plugin.txt` inside its package, one `name: help` a line, so that `mngr --help` imports nothing of it.
"""

import os
import sys
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from mngr.errors import MngrError, UsageError, did_you_mean

AGENT_TYPES = "mngr.agent_types"
PROVIDERS = "mngr.providers"
TRANSFERS = "mngr.transfers"
COMMANDS = "mngr.commands"
HOOKS = "mngr.hooks"
GROUPS = (AGENT_TYPES, PROVIDERS, TRANSFERS, COMMANDS, HOOKS)

MANIFEST = "mngr-plugin.txt"

_BUILT_IN: dict[str, dict[str, str]] = {
    AGENT_TYPES: {
        "command": "mngr.agents.command:CommandType",
        "claude": "mngr.agents.claude.type:ClaudeType",
        "claude-headless": "mngr.agents.claude.headless:ClaudeHeadlessType",
        "codex": "mngr.agents.codex.type:CodexType",
        "opencode": "mngr.agents.opencode.type:OpenCodeType",
        "scripted": "mngr.agents.scripted.type:ScriptedType",
    },
    PROVIDERS: {
        "local": "mngr.hosts.local:LocalProvider",
        "faulty": "mngr.testing.faulty.provider:FaultyProvider",
        "ssh": "mngr.hosts.ssh.provider:SshProvider",
        "docker": "mngr.hosts.docker.provider:DockerProvider",
        "modal": "mngr.hosts.modal.provider:ModalProvider",
    },
    TRANSFERS: {
        "worktree": "mngr.transfer.worktree:WorktreeTransfer",
        "mirror": "mngr.transfer.mirror:MirrorTransfer",
        "copy": "mngr.transfer.copy:CopyTransfer",
        "none": "mngr.transfer.no_transfer:NoneTransfer",
    },
    COMMANDS: {},
    HOOKS: {},
}
# What `list` needs of an agent type, without the rest of it. A plugin's type is loaded whole.
_PHASES = {
    "claude": "mngr.agents.claude.phase:phase",
    "claude-headless": "mngr.agents.claude.phase:phase",
    "codex": "mngr.agents.codex.phase:phase",
    "opencode": "mngr.agents.opencode.phase:phase",
    "scripted": "mngr.agents.scripted.phase:phase",
}
_TRANSFER_ALIASES = {"git-worktree": "worktree", "git-mirror": "mirror", "rsync": "copy"}


class PluginError(MngrError):
    """A plugin could not be loaded; everything else goes on without it."""


class RegistryEntry(NamedTuple):
    """One name in one group: where it is loaded from and which distribution it is from ("" for our own)."""

    group: str
    name: str
    target: str
    distribution: str = ""

    @property
    def package(self) -> str:
        return self.target.partition(":")[0].partition(".")[0]


@cache
def entries(group: str) -> dict[str, RegistryEntry]:
    """Every name of a group. A built-in name cannot be taken over by a plugin."""
    found = {entry.name: entry for entry in plugin_entries() if entry.group == group}
    own = {name: RegistryEntry(group, name, target) for name, target in _BUILT_IN[group].items()}
    return found | own


@cache
def plugin_entries() -> tuple[RegistryEntry, ...]:
    """What installed distributions declare, by our own scan: importlib.metadata costs 40 ms. Zips are not seen."""
    found: dict[tuple[str, str], RegistryEntry] = {}
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith(".dist-info"):
                for entry in _read_entries(os.path.join(folder, name)):
                    found.setdefault((entry.group, entry.name), entry)
    return tuple(found.values())


def load(group: str, name: str) -> Any:
    """Imports what a name stands for. An unknown name is a usage error, a broken plugin a PluginError."""
    known = entries(group)
    if name not in known:
        raise UsageError(f'no {what(group)} "{name}"', hint=did_you_mean(name, known))
    return load_entry(known[name])


def load_phase(agent_type: str) -> Any:
    """The function that says what a living agent of a built-in type is doing; None for every other type."""
    target = _PHASES.get(agent_type)
    return load_entry(RegistryEntry(AGENT_TYPES, agent_type, target)) if target else None


def load_policy() -> Any:
    """The class that reads a policy, for those who have one."""
    return load_entry(RegistryEntry("mngr.policies", "policy", "mngr.actions.policy:Policy"))


def load_entry(entry: RegistryEntry) -> Any:
    module, _, attribute = entry.target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # a plugin may fail in any way; all of them mean the same to us
        if not entry.distribution:
            raise
        named = f'{what(entry.group)} "{entry.name}" ({entry.target})'
        gone = (error.name or "") if isinstance(error, ImportError) else ""
        if gone.partition(".")[0] == "mngr":
            face = "mngr.testing" if gone.rpartition(".")[2] in ("conformance", "faulty") else "mngr.plugin"
            raise PluginError(
                f'plugin "{entry.distribution}" is written for another version of mngr: {named} imports what is not '
                f"in {gone} any more",
                hint=f"import it from {face}, whose names stay: CONTRIBUTING.md; "
                f"or: pip uninstall {entry.distribution}",
            ) from error
        raise PluginError(
            f'plugin "{entry.distribution}" is broken: {named}: {type(error).__name__}: {error}',
            hint=f"fix or remove it: pip uninstall {entry.distribution}",
        ) from error


def what(group: str) -> str:
    """A group in a reader's words."""
    return group.removeprefix("mngr.").removesuffix("s").replace("_", " ")


def transfer_name(word: str) -> str:
    """The name of a transfer, from any of the words people use for it."""
    name = _TRANSFER_ALIASES.get(word, word)
    if name not in entries(TRANSFERS):
        raise UsageError(
            f'no transfer "{word}"', hint=did_you_mean(word, [*entries(TRANSFERS), *_TRANSFER_ALIASES])
        )
    return name


def plugin_commands() -> dict[str, str]:
    """Commands that plugins add, with the help line from their manifest."""
    commands = {}
    for name, entry in entries(COMMANDS).items():
        commands[name] = f"(a command of {entry.distribution})"
        for folder in sys.path:
            try:
                path = os.path.join(folder, entry.package, MANIFEST)
                with open(path, encoding="utf-8", errors="replace") as file:
                    lines = file.read().splitlines()
            except OSError:
                continue
            pairs = (line.partition(":") for line in lines if ":" in line and not line.startswith("#"))
            commands[name] = {word.strip(): text.strip() for word, _, text in pairs}.get(name, commands[name])
            break
    return commands


def section_keys(command: str) -> tuple[str, ...] | None:
    """The keys of a plugin's section of the config, by its command's `config_keys()`; None without that method."""
    entry = entries(COMMANDS).get(command)
    try:
        declared = getattr(load_entry(entry), "config_keys", None) if entry else None
    except PluginError:
        return None
    return tuple(declared()) if declared else None


def _read_entries(dist_info: str) -> list[RegistryEntry]:
    try:
        with open(os.path.join(dist_info, "entry_points.txt"), encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return []
    if "[mngr." not in text:
        return []
    distribution = os.path.basename(dist_info).partition("-")[0].replace("_", "-")
    group, found = "", []
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[]").strip()
        elif group in GROUPS and "=" in line:
            name, _, target = line.partition("=")
            found.append(RegistryEntry(group, name.strip(), target.strip(), distribution))
    return found
