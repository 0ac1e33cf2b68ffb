"""Runs git, here and on hosts, so that nothing but git runs and no configuration changes."""

from collections.abc import Mapping

from mngr import process
from mngr.errors import MngrError
from mngr.hosts.protocol import Host
from mngr.process import CommandFailedError, Completed
from mngr.sh.program import READ_AND_RUN, encode, quote, words
from mngr_lib.git import FOREIGN, ISOLATED_ENV, ISOLATED_SETTINGS, git_argv, git_env

_NO_GIT = 127


def _exports(env: Mapping[str, str]) -> str:
    return "".join(f"export {name}={quote(value)}\n" for name, value in env.items())


_PRELUDE = f"""set -eu
{_exports(git_env())}unset {" ".join(FOREIGN)}
git() {{ command {words(*git_argv())} "$@"; }}
"""
ISOLATE = _exports(ISOLATED_ENV)
"""Shell lines before those in which git works on a repository that an agent can write to."""
NEEDS_GIT = f"command -v git >/dev/null 2>&1 || {{ echo 'git: not found' >&2; exit {_NO_GIT}; }}\n"


def git(
    folder: str,
    *args: str,
    stdin: bytes = b"",
    timeout_s: float = 60,
    env: Mapping[str, str] | None = None,
    isolated: bool = False,
) -> Completed:
    """Runs git in a folder of this machine (a work tree or a git directory); `isolated` in one of an agent's."""
    argv = git_argv("-C", folder, *args, settings=ISOLATED_SETTINGS if isolated else ())
    try:
        return process.run(argv, stdin=stdin, timeout_s=timeout_s, env=git_env(env, isolated=isolated))
    except CommandFailedError as error:
        raise _missing("this machine") from error


def run_script(host: Host, script: str, *, timeout_s: float = 60) -> Completed:
    """Runs shell lines on the host in one go; in them `git` is ours, and the first failure ends it."""
    return check_git(host.run(READ_AND_RUN, stdin=encode(prelude(script)), timeout_s=timeout_s), host)


def run_script_here(script: str, *, timeout_s: float = 60) -> Completed:
    """The same on this machine."""
    return process.run(READ_AND_RUN, stdin=encode(prelude(script)), timeout_s=timeout_s)


def prelude(script: str) -> str:
    """Shell lines in which `git` is ours, and the first failure is the end."""
    return _PRELUDE + script


def check_git(done: Completed, host: Host) -> Completed:
    """Itself, unless what failed is that the host has no git: then the error that says so."""
    if done.code == _NO_GIT and b"git: not found" in done.stderr:
        raise _missing(f'host "{host.name}"', host.provider)
    return done


def failed(doing: str, done: Completed, hint: str) -> CommandFailedError:
    """An error of a command that ran, with what to do about it."""
    error = CommandFailedError(doing, done)
    error.hint = hint
    return error


def _missing(where: str, provider: str = "local") -> MngrError:
    hint = "install it there (apt install git, apk add git, dnf install git), then try again"
    if provider != "local":
        hint += f"; or set providers.{provider}.bootstrap = true"
    return MngrError(f"{where} has no git", hint=hint)
