"""What may go where: `[policy]` of the user's config and of an organisation's file. Loaded only where one is set."""

import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from mngr.actions.audit import AuditLine, append_line, now, user_name
from mngr.config.files import read_file
from mngr.config.locate import main_root, policy_files
from mngr.config.toml import parse_document
from mngr.errors import RefusedError, UsageError
from mngr.model.agent import AgentSpec
from mngr.transfer.git import git

if TYPE_CHECKING:
    from mngr.actions.manager import Manager

_MODEL_FLAGS = ("--model", "-m")


class Leaving:
    """What is about to be sent, and what git says about it once a rule asks."""

    def __init__(self, spec: AgentSpec, files: Sequence[str]) -> None:
        self.spec, self.files = spec, tuple(files)
        self.root = main_root(spec.source) if spec.source else ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The repository by its paths, and as `host/owner/name` by its remotes."""
        here = {self.spec.source, os.path.realpath(self.spec.source), self.root} if self.root else {""}
        return (*here, *map(remote_name, self._ask("config", "--get-regexp", r"^remote\..*\.url$")))

    @cached_property
    def paths(self) -> tuple[str, ...] | None:
        """Files of the commit and of the work tree by their place in it, and those beside; None if git cannot say."""
        commit = self.spec.base_commit or "HEAD"
        listed = [
            *self._ask("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit),
            *self._ask("ls-files", "-z", "-c", "-o", "--exclude-standard", "--full-name", ":/"),
        ]
        beside = (os.path.relpath(file, self.root or "/") for file in self.files)
        return (*dict.fromkeys(listed), *beside) if listed or not self.root else None

    @property
    def model(self) -> str:
        """The model that the agent's arguments ask for; empty where they leave it to the program."""
        words = self.spec.argv
        for number, word in enumerate(words):
            flag, is_joined, value = word.partition("=")
            if flag in _MODEL_FLAGS:
                return value if is_joined else "".join(words[number + 1 : number + 2])
        return ""

    def _ask(self, *words: str) -> list[str]:
        if not os.path.isdir(self.spec.source):
            return []
        done = git(self.spec.source, *words)
        lines = os.fsdecode(done.stdout).split("\0" if "-z" in words else "\n") if done.code == 0 else []
        return [line for line in lines if line]


class PolicyRule(Struct, frozen=True, forbid_unknown_fields=True):
    """Which repositories, or which of them hold certain files, may go to whom. What is left out is everything."""

    repositories: tuple[str, ...] = ("*",)
    paths: tuple[str, ...] = ()
    providers: tuple[str, ...] = ("*",)
    agents: tuple[str, ...] = ("*",)
    models: tuple[str, ...] = ("*",)

    def is_about(self, leaving: Leaving) -> bool:
        patterns = [os.path.expanduser(pattern) for pattern in self.repositories]
        is_named = "*" in patterns or any(
            fnmatchcase(name, one) for name in leaving.names for one in patterns
        )
        if not is_named or not self.paths or leaving.paths is None:
            return is_named
        return any(fnmatchcase(path, pattern) for path in leaving.paths for pattern in self.paths)


class PolicyTable(Struct, frozen=True, forbid_unknown_fields=True):
    """`[policy]` of one file. The first rule about a repository decides; one that no rule is about goes nowhere."""

    local_only: bool = False
    audit: bool = True
    rules: dict[str, PolicyRule] = {}

    def objection(self, leaving: Leaving, provider: str) -> tuple[str, str]:
        """The rule that forbids it, and why; empty texts where none does."""
        where = leaving.spec.source or "what has no repository"
        if self.local_only and provider != "local":
            return "local_only", f'nothing may leave this machine, and provider "{provider}" is not "local"'
        name, rule = next(
            ((name, one) for name, one in self.rules.items() if one.is_about(leaving)), ("", None)
        )
        if rule is None:
            return ("[policy.rules]", f"no rule is about {where}") if self.rules else ("", "")
        asked = (("provider", provider, rule.providers), ("agent type", leaving.spec.type, rule.agents))
        for kind, value, allowed in (*asked, ("model", leaving.model, rule.models)):
            if not any(fnmatchcase(value, pattern) for pattern in allowed):
                named = f'{kind} "{value}"' if value else f"an agent that names no {kind}"
                return f"[policy.rules.{name}]", f"{where} may not go to {named}"
        return "", ""


class Policy:
    """The tables of every file that has one; each must allow what is sent."""

    def __init__(self, manager: "Manager") -> None:
        """RefusedError for a file that cannot be read: nothing is sent then."""
        self._host_dir, self._tables = manager.host_dir, dict(read_tables(manager))

    def check(
        self, what: str, spec: AgentSpec, provider: str, host: str = "", files: Sequence[str] = ()
    ) -> None:
        """Refuses what is forbidden, and records it in the audit log either way."""
        leaving, provider = Leaving(spec, files), provider or "local"
        rule, why = "", ""
        for file, table in self._tables.items():
            rule, why = table.objection(leaving, provider)
            if why:
                rule = f"{rule} of {file}"
                break
        if any(table.audit for table in self._tables.values()):
            append_line(
                self._host_dir,
                AuditLine(
                    at=now(),
                    user=user_name(),
                    what=what,
                    outcome="refused" if why else "allowed",
                    agent=spec.id,
                    type=spec.type,
                    model=leaving.model,
                    provider=provider,
                    host=host,
                    repository=spec.source,
                    commit=spec.base_commit,
                    transfer=spec.transfer,
                    files=leaving.files,
                    rule=rule if why else "",
                ),
            )
        if why:
            raise RefusedError(f"{why}: refused by {rule}", hint="nothing was sent; see: mngr help policy")


def read_tables(manager: "Manager") -> Iterator[tuple[str, PolicyTable]]:
    """Every file with a policy, and what it says."""
    own = manager.config.section("policy")
    if own:
        yield _table(own, manager.config.source("policy"))
    for path in policy_files(manager.env):
        try:
            data = read_file(path)
            document = parse_document(data, path) if data is not None else None
        except UsageError as error:
            raise _unreadable(path, error.message) from None
        if document is None:
            raise _unreadable(path, "there is no such file")
        for name in document.keys() - {"policy"}:
            raise _unreadable(path, f'"{name}" is not [policy]')
        yield _table(document.get("policy", {}), path)


def _table(found: Mapping[str, Any], file: str) -> tuple[str, PolicyTable]:
    try:
        return file, msgspec.convert(found, type=PolicyTable)
    except msgspec.ValidationError as error:
        raise _unreadable(file, str(error)) from None


def _unreadable(file: str, why: str) -> RefusedError:
    return RefusedError(
        f"the policy in {file} cannot be read: {why}",
        hint="nothing is sent until it can be; see: mngr help policy",
    )


def remote_name(line: str) -> str:
    """`remote.origin.url git@host:owner/name.git` as `host/owner/name`, without a user or a password."""
    url = line.partition(" ")[2].partition("://")
    rest = (url[2] or url[0]).rpartition("@")[2].removesuffix("/").removesuffix(".git")
    return rest if url[1] else rest.replace(":", "/", 1)
