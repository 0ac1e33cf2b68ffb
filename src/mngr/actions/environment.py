"""What an agent finds in its environment: a clean base, who it is, and what the user asked for by name."""

import os
from collections.abc import Iterable, Mapping, Sequence

from mngr.errors import UsageError
from mngr.hosts.protocol import Host, shares_files
from mngr.model.agent import AgentSpec
from mngr.sh.program import load
from mngr.store.paths import HostPaths
from mngr.store.runfile import check_env

# Set for a connect command, so that its own `mngr connect` attaches instead of calling it again.
RECURSION_GUARD = "MNGR_CONNECTING"

# What a login would set. Anything else, keys above all, reaches an agent only by name.
_BASE = frozenset(
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR XDG_CONFIG_HOME XDG_DATA_HOME".split()
)


def base_env(env: Mapping[str, str]) -> dict[str, str]:
    """The part of this machine's environment that every agent here gets."""
    return {name: value for name, value in env.items() if name in _BASE or name.startswith("LC_")}


def asked_env(
    env: Mapping[str, str], pass_env: Iterable[str], env_files: Iterable[str], given: Mapping[str, str]
) -> dict[str, str]:
    """`--pass-env`, then `--env-file`, then `--env`: the later wins."""
    asked: dict[str, str] = {}
    for name in pass_env:
        if name not in env:
            raise UsageError(
                f"--pass-env {name}: it is not set here", hint=f"set it, or write --env {name}=VALUE"
            )
        asked[name] = env[name]
    for path in env_files:
        asked.update(read_env_file(path))
    asked.update(given)
    check_env(asked)
    return asked


def read_env_file(path: str) -> dict[str, str]:
    """`NAME=VALUE` lines. Comments, a leading `export` and one pair of quotes are understood, nothing evaluated."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().split("\n")
    except OSError as error:
        raise UsageError(
            f"cannot read env file {path}: {error.strerror}", hint="name a readable file"
        ) from None
    values = {}
    for number, line in enumerate(lines, 1):
        text = line.strip().removeprefix("export ").lstrip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(
                f"{path}, line {number}: no NAME=VALUE", hint="one NAME=VALUE a line; # starts a comment"
            )
        value = value.strip()
        is_quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "'\""
        values[name.rstrip()] = value[1:-1] if is_quoted else value
    return values


def identity_env(spec: AgentSpec, host_dir: str) -> dict[str, str]:
    """The variables that tell an agent who it is and where its files are."""
    agent = HostPaths(host_dir).agent(spec.id)
    return {
        "MNGR_HOST_DIR": host_dir,
        "MNGR_AGENT_ID": spec.id,
        "MNGR_AGENT_NAME": spec.name,
        "MNGR_AGENT_STATE_DIR": agent.dir,
        "MNGR_AGENT_WORK_DIR": spec.work_dir,
        "MNGR_OUTBOX": agent.outbox,
        "MNGR_BASE_COMMIT": spec.base_commit,
    }


def expand_home(path: str, env: Mapping[str, str]) -> str:
    """`~/x` against the HOME of the environment we act for."""
    return (
        env.get("HOME", os.path.expanduser("~")) + path[1:] if path == "~" or path.startswith("~/") else path
    )


def agent_shell_argv(host: Host, agent_id: str, argv: Sequence[str]) -> list[str]:
    """The words that run a command as the agent would.

    On another host nothing of our environment arrives. Here it must not: what is run may be what an agent wrote.
    """
    run = HostPaths(host.dir).agent(agent_id).run
    enter = ["sh", "-c", load("sh/enter"), run] if shares_files(host) else ["sh", run]
    return [*enter, "--", *argv]
