"""Alerts of a run leave the terminal: a command gets the text, a webhook a JSON document, within a bounded time."""

import shlex

import msgspec

import mngr
from mngr_tmr.model.alerts import AlertTargets
from mngr_tmr.model.entry import Entry
from mngr_tmr.run_folder.redact import Redactor

_DEADLINE_S = 20.0


def send_alert(
    targets: AlertTargets, run: str, redactor: Redactor, intention: Entry, *, deadline_s: float = _DEADLINE_S
) -> None:
    """Gives an alert to both, each within the deadline; the error says what failed, and names no address."""
    text, problems = redactor.text(intention.message), []
    if targets.command:
        words = shlex.split(targets.command)
        try:
            done = mngr.run_program(words, stdin=f"{text}\n".encode(), timeout_s=deadline_s)
            problems += [f"its command ended with {done.code}"] if done.code else []
        except (mngr.MngrError, OSError) as error:
            problems.append(f"its command failed: {type(error).__name__}")
    if targets.webhook:
        fact = msgspec.Raw(redactor.json(intention.fact))
        problem = _posted(
            targets.webhook, msgspec.json.encode({"text": text, "run": run, "alert": fact}), deadline_s
        )
        problems += [f"its webhook {problem}"] if problem else []
    if problems:
        raise mngr.MngrError(f"the alert was not delivered: {'; '.join(problems)}", hint="see [tmr.alert]")


def _posted(address: str, body: bytes, deadline_s: float) -> str:
    """What went wrong with it; empty for nothing."""
    import urllib.error  # 30 ms that only an alert needs
    import urllib.request

    request = urllib.request.Request(address, body, {"Content-Type": "application/json"}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=deadline_s):
            return ""
    except urllib.error.HTTPError as error:
        return f"answered {error.code}"
    except (OSError, ValueError) as error:
        return f"failed: {type(error).__name__}"
