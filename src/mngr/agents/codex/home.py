"""Codex's home for one agent: its own directory, so that the user's stays as it is, and how the program is started."""

import os
from collections.abc import Iterator, Sequence

import msgspec

from mngr.agents.codex.hooks import hooks
from mngr.agents.shared.login_file import login_file
from mngr.errors import UsageError
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.finding import ERROR, Finding, LaunchPlan
from mngr.sh.lines import put
from mngr.sh.program import READ_AND_RUN, encode, load, quote, words
from mngr.store.paths import HostPaths

SOCKET = "socket"

_TITLE = 'tui.terminal_title=["activity","app-name","run-state"]'
_SETTINGS = """\
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
daemon_auto_start = false
plugins = false

[notice]
hide_full_access_warning = true
hide_rate_limit_model_nudge = true
"""

_ALL_ALLOWED = ("approval_policy", "never"), ("sandbox_mode", "danger-full-access")
_PERMISSION_WORDS = {
    "--ask-for-approval": "approval_policy",
    "-a": "approval_policy",
    "--sandbox": "sandbox_mode",
    "-s": "sandbox_mode",
}
_SHARED_WORDS = ("-c", "--config", "--enable", "--disable", "-p", "--profile")
_OURS = ("--remote", "-C", "--cd")
_UNATTENDED = ("--dangerously-bypass-approvals-and-sandbox", "--yolo")


def home_of(agent: AgentSpec, host: Host) -> str:
    return f"{HostPaths(host.dir).agent(agent.id).dir}/codex"


def make_home(agent: AgentSpec, host: Host) -> None:
    """Writes hooks, settings and the answers to first-run dialogs; what Codex wrote there is left alone."""
    home = home_of(agent, host)
    # An sh function that calls its first argument with these words before the others.
    own_words = words(*server_words(agent.argv))
    function = f'server_words() {{ called=$1; shift; "$called" {own_words} "$@"; }}\n'
    work_dir = msgspec.json.encode(agent.work_dir).decode()
    files = {
        "hook.sh": load("agents/codex/hook"),
        "trust.sh": load("agents/codex/trust"),
        "launch.sh": function + load("agents/codex/launch"),
        "hooks.json": msgspec.json.encode(hooks()).decode(),
        "first.toml": f'{_SETTINGS}\n[projects.{work_dir}]\ntrust_level = "trusted"\n',
    }
    script = f"umask 077; mkdir -p {quote(home)} || exit\n"
    script += "".join(f"{put(f'{home}/{name}', text)} || exit\n" for name, text in files.items())
    host.run(READ_AND_RUN, stdin=encode(script)).check(f'preparing "{agent.name}"')


def launch_argv(agent: AgentSpec, host: Host, *thread: str) -> tuple[str, ...]:
    """How the program is started, with a thread to go on with it: through a few lines of sh that end in exec."""
    home = home_of(agent, host)
    refuse_ours(agent)
    screen = ("--remote", f"unix://{home}/{SOCKET}", "-C", agent.work_dir, "-c", _TITLE)
    if not thread:
        return ("sh", f"{home}/launch.sh", *screen, *agent.argv)
    # A thread keeps its permissions, and Codex refuses to be told them again.
    return ("sh", f"{home}/launch.sh", "resume", *thread, *screen, *screen_words(agent.argv))


def refuse_ours(agent: AgentSpec) -> None:
    """Raises UsageError for flags that mngr gives to the program itself."""
    for name in (word.partition("=")[0] for word in agent.argv):
        if name in _OURS:
            raise UsageError(
                f'{name} of Codex is set by mngr for every agent, and "{agent.name}" was given another one',
                hint="leave it out; --from and --path of mngr create choose its work dir",
            )


def launch_env(agent: AgentSpec, host: Host) -> dict[str, str]:
    return {"CODEX_HOME": home_of(agent, host)}


def server_words(argv: Sequence[str]) -> tuple[str, ...]:
    """Those words that the app server must know too; permissions become settings."""
    found: list[str] = []
    for name, value in _options(argv):
        if name in _SHARED_WORDS:
            found += (name, value)
        elif name in _PERMISSION_WORDS:
            found += ("-c", _setting(_PERMISSION_WORDS[name], value))
        elif name in _UNATTENDED:
            found += (word for each in _ALL_ALLOWED for word in ("-c", _setting(*each)))
    return tuple(found)


def screen_words(argv: Sequence[str]) -> tuple[str, ...]:
    """The words without permissions."""
    kept: list[str] = []
    for name, value in _options(argv):
        if name not in _PERMISSION_WORDS and name not in _UNATTENDED:
            kept += (name, value) if value else (name,)
    return tuple(kept)


def login_findings(plan: LaunchPlan) -> list[Finding]:
    """Whether an agent would have a login. With a provider of one's own it cannot be told which variable that needs."""
    name = "login of codex"
    if any("model_provider" in word or word == "--oss" for word in plan.argv):
        return []
    if plan.source and os.path.isfile(os.path.join(plan.source, ".codex", "config.toml")):
        return []
    if plan.env.get("OPENAI_API_KEY"):
        return [Finding(name, True, ERROR, "OPENAI_API_KEY is given")]
    if file := login_file(name, "MNGR_CODEX_CREDENTIALS", plan):
        return [file]
    fix = "export OPENAI_API_KEY=... and add --env OPENAI_API_KEY (or a login: MNGR_CODEX_CREDENTIALS)"
    return [Finding(name, False, ERROR, "no key and no login is given to the agents", fix)]


def _options(argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of an option and its value, where it is one that we know to have one; `--name=value` is such a pair."""
    known = (*_SHARED_WORDS, *_PERMISSION_WORDS)
    rest = iter(argv)
    for word in rest:
        name, sign, value = word.partition("=")
        if word in known:
            yield word, next(rest, "")
        elif sign and name in known:
            yield name, value
        else:
            yield word, ""


def _setting(name: str, value: str) -> str:
    return f"{name}={msgspec.json.encode(value).decode()}"
