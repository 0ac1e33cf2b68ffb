"""Claude Code's home for one agent: its own config directory, so that the user's stays as it is."""

import msgspec

from mngr.agents.claude.hooks import settings
from mngr.errors import UsageError
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.sh.lines import put
from mngr.sh.program import READ_AND_RUN, encode, load, quote
from mngr.store.paths import HostPaths

_APPROVED_KEY = "@KEY@"

_UNATTENDED = ("--dangerously-skip-permissions", "--permission-mode=bypassPermissions", "bypassPermissions")


def home_of(agent: AgentSpec, host: Host) -> str:
    return f"{HostPaths(host.dir).agent(agent.id).dir}/claude"


def make_home(agent: AgentSpec, host: Host) -> None:
    """Writes hooks, settings and the answers to first-run dialogs; what Claude Code wrote there is left alone."""
    home = home_of(agent, host)
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    first_answers = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "bypassPermissionsModeAccepted": is_unattended(agent),
        "customApiKeyResponses": {"approved": [_APPROVED_KEY], "rejected": []},
        "projects": {agent.work_dir: trusted},
    }
    files = {
        "hook.sh": load("agents/claude/hook"),
        "launch.sh": load("agents/claude/launch"),
        "settings.json": msgspec.json.encode(settings()).decode(),
        "first.json": msgspec.json.encode(first_answers).decode(),
    }
    script = f"umask 077; mkdir -p {quote(home)} || exit\n"
    script += "".join(f"{put(f'{home}/{name}', text)} || exit\n" for name, text in files.items())
    host.run(READ_AND_RUN, stdin=encode(script)).check(f'preparing "{agent.name}"')


def launch_argv(agent: AgentSpec, host: Host, *words: str) -> tuple[str, ...]:
    """How the program is started: through a few lines of sh that end in exec."""
    if any(word == "--settings" or word.startswith("--settings=") for word in agent.argv):
        raise UsageError(
            "--settings is how mngr hears from Claude Code, and it can be given once",
            hint="put yours into .claude/settings.json of the project",
        )
    home = home_of(agent, host)
    return ("sh", f"{home}/launch.sh", "claude", *words, "--settings", f"{home}/settings.json", *agent.argv)


def launch_env(agent: AgentSpec, host: Host) -> dict[str, str]:
    env = {
        "CLAUDE_CONFIG_DIR": home_of(agent, host),
        # It never clears what it puts into the machine's temporary folder.
        "CLAUDE_CODE_TMPDIR": f"{home_of(agent, host)}/tmp",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        # Every new config directory would clone it from the network otherwise.
        "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    }
    # Claude Code refuses to go unattended as root unless it is told that this is meant.
    return {**env, "IS_SANDBOX": "1"} if is_unattended(agent) else env


def is_unattended(agent: AgentSpec) -> bool:
    """Whether the agent was asked to do everything without permission."""
    return any(word in _UNATTENDED for word in agent.argv)
