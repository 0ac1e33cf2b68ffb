"""The branch pushed and a pull request opened with `gh`. The token is in the environment of those two programs only."""

import os
import re
import tempfile
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

import mngr
from mngr_lib.git import git_argv, git_env
from mngr_lib.safe_text import plain
from mngr_tmr.git import AS_IT_IS, OBJECTS_ONLY
from mngr_tmr.integrate.publish.pull_request import pr_title
from mngr_tmr.model.integration import Integration

TOKEN_NAMES = ("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
_DEADLINE_S = 300.0
_TOKEN = "MNGR_PUSH_TOKEN"
_HELPER = f'!f() {{ test "$1" = get && echo username=x-access-token && echo "password=${_TOKEN}"; }}; f'
_PLACE = re.compile(
    r"(?:https?://(?:[^@/]*@)?|ssh://(?:[^@/]*@)?|(?:[^@/:]+@))(?P<host>[\w.-]+)(?::\d+)?[:/]"
    r"(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?"
)
_URL = re.compile(r"https?://\S+/pull/\d+")


class Opened(Struct, frozen=True):
    """What was done; without a forge behind the remote there is a pushed branch and no address."""

    remote: str
    url: str = ""


def find_token(env: Mapping[str, str]) -> str:
    """The token for pushing; empty when none was given."""
    return next((env[name] for name in TOKEN_NAMES if env.get(name)), "")


def open_pr(repo: str, integration: Integration, text: str, *, token: str, remote: str = "origin") -> Opened:
    """Pushes the integrated branch and opens a pull request for it, or finds the one that is open.

    Again is safe: a branch that holds other commits there is refused, not overwritten. The token is in no argument, no
    file and no message.
    """
    if integration.tip == integration.base:
        raise mngr.UsageError("nothing was integrated, so there is nothing to push", hint="see the report")
    url = _git(repo, token, "remote", "get-url", "--push", remote).check(f'no remote "{remote}"').text.strip()
    refspec = f"{integration.tip}:refs/heads/{integration.branch}"
    pushed = _git(repo, token, "push", "--quiet", "--no-follow-tags", remote, refspec)
    if pushed.code:
        raise _refused(f'cannot push to "{remote}"', pushed.complaint, token)
    place = _PLACE.fullmatch(url)
    if place is None:
        return Opened(remote)
    where = f"{place['host']}/{place['owner']}/{place['name']}"
    return Opened(remote, _create(where, integration, text, token))


def publish(repo: str, integration: Integration, text: str, token: str) -> Integration:
    """The integration with the address of its pull request, or with a note why it has none; never an error."""
    try:
        opened = open_pr(repo, integration, text, token=token)
    except mngr.MngrError as error:
        message = (
            f"not pushed: {error.message} ({error.hint})" if error.hint else f"not pushed: {error.message}"
        )
        return replace(integration, notes=(*integration.notes, message))
    if opened.url:
        return replace(integration, pr_url=opened.url)
    note = f'pushed to "{opened.remote}"; it is no forge that gh knows, so there is no pull request'
    return replace(integration, notes=(*integration.notes, note))


def _create(where: str, integration: Integration, text: str, token: str) -> str:
    """The address of the pull request."""
    words = ("--repo", where, "--head", integration.branch, "--title", pr_title(integration))
    argv = ("gh", "pr", "create", *words, "--body-file", "-")
    with tempfile.TemporaryDirectory(prefix="mngr-gh-") as folder:
        homes = ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
        env = {
            **dict.fromkeys(homes, folder),
            "GH_TOKEN": token,
            "GH_ENTERPRISE_TOKEN": token,
            "GH_PROMPT_DISABLED": "1",
            "GH_NO_UPDATE_NOTIFIER": "1",
            "NO_COLOR": "1",
        }
        done = mngr.run_program(argv, stdin=text.encode(), timeout_s=_DEADLINE_S, env=env, cwd=folder)
    found = _URL.search(done.text + os.fsdecode(done.stderr) if done.code else done.text)
    if found and (done.code == 0 or b"already exists" in done.stderr):
        return found[0]
    raise _refused("gh could not open a pull request", done.complaint, token)


def _git(repo: str, token: str, *args: str) -> mngr.Completed:
    credentials = ("credential.helper=", f"credential.helper={_HELPER}", "push.gpgSign=false")
    argv = git_argv("-C", repo, *args, settings=(*OBJECTS_ONLY, *credentials))
    own = {"GIT_ASKPASS": "true", "GIT_SSH_COMMAND": "ssh -o BatchMode=yes", _TOKEN: token}
    return mngr.run_program(argv, timeout_s=_DEADLINE_S, env=git_env({**AS_IT_IS, **own}))


def _refused(doing: str, message: str, token: str) -> mngr.MngrError:
    """An error without the token and without what addresses carry before their @."""
    clean = re.sub(r"(?<=://)[^@/\s]+@", "", message.replace(token, "***") if token else message)
    return mngr.MngrError(
        f"{doing}: {plain(clean)[-2000:]}",
        hint="the branch is in your repository; may the token push and open pull requests there?",
    )
