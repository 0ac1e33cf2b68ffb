"""The likely cause of failures that are alike: code, a rate limit, a dependency or the environment, infrastructure."""

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from mngr_tmr.agent_text import one_line
from mngr_tmr.failures.fingerprint import without_escapes

CauseKind = Literal["code", "rate limit", "dependency or environment", "infrastructure"]

_AT_ONCE_S = 30.0
_SOME = 3
_EVIDENCE = 120
NEXT: dict[CauseKind, str] = {
    "code": "look at one of them: the failure is in the code under test or in its tests",
    "rate limit": "wait, use fewer slots (mngr tmr set slots=N), or raise the limit at the model's provider",
    "dependency or environment": "install or set what is missing in every copy (--setup, --env), then resume",
    "infrastructure": "look at the hosts (mngr list --hosts, df, free), use fewer slots, then resume",
}
# The first rule that finds something decides. A limit is named by its provider, and nothing else says these words; what
# a machine lacks is told by the system in words of its own; then what is not installed or not set.
_RULES: tuple[tuple[CauseKind, re.Pattern[str]], ...] = (
    (
        "rate limit",
        re.compile(
            r"rate[ _-]?limit\w*|request rate|too many (?:requests|tokens)"
            r"|\b(?:HTTP|status|error|code)\W{0,3}(?:429|529)\b"
            r"|\boverloaded\w*"
            r"|\b(?:quota|usage limits?|tokens per minute|requests per minute|spending limits?|request limits?)\b"
            r"|(?:hit|reached|exceeded|exhausted|limiting)\W.{0,40}\b(?:limits?|requests|capacity)\b"
            r"|insufficient_quota|RESOURCE_EXHAUSTED|throttl\w+|retry[- ]after",
            re.I,
        ),
    ),
    (
        "infrastructure",
        re.compile(
            r"no space left on device|ENOSPC|disk quota exceeded|cannot allocate memory|ENOMEM"
            r"|out of memory|OOM[- ]?kill\w*"
            r"|\bMemoryError\b|too many open files|EMFILE|resource temporarily unavailable|input/output error"
            r"|read-only file system|exit(?:ed with)? (?:code|status) 137|\bsignal 9\b|SIGKILL"
            r"|no route to host|network is unreachable|host is down|name resolution|could not resolve host"
            r"|connection (?:refused|reset|closed|timed out|aborted)|ECONNRE\w+|ETIMEDOUT|broken pipe"
            r"|\bunreachable\b"
            r"|kex_exchange|cannot connect to the docker daemon|can't start new thread|lost connection"
            r"|server misbehaving|getaddrinfo|EAI_AGAIN|\bENOTFOUND\b|EHOSTUNREACH|i/o timeout|read timed out"
            r"|handshake timeout|pool timed out|deadline exceeded|disk (?:is )?full|out of disk|\bevicted\b"
            r"|preempted|shutdown signal|the operation was canceled|error response from daemon"
            r"|(?:runner|node|worker|instance|vm) (?:has )?(?:lost|was lost|was terminated|is not ready)"
            r"|(?:connection|socket) (?:was )?(?:terminated|hang up)|socket hang up"
            r"|unable to connect to the server"
            r"|failed to set up container networking|timed out waiting for the condition"
            r"|(?:502|503|504) (?:bad gateway|service unavailable|gateway time-?out)"
            r"|the agent disappeared|no sign of life|no answer within|host (?:is )?(?:gone|lost|silent)"
            r"|machine restarted"
            r"|no server running|(?:dead)?lock(?:ed)? by another process|stale file handle|clock skew",
            re.I,
        ),
    ),
    (
        "dependency or environment",
        re.compile(
            r"\bModuleNotFoundError\b.{0,80}|\bImportError\b.{0,80}|no module named \S+"
            r"|cannot (?:import name|find module) \S+"
            r"|command not found.{0,40}|\S+: not found$|executable \S+ (?:not found|doesn't exist)"
            r"|FileNotFoundError: .{0,30}No such file or directory: '[\w.+-]+'|spawn \S+ ENOENT"
            r"|exit (?:code|status) 127"
            r"|\w*Import\w*Error\b.{0,80}|invalid command 'bdist_wheel'|missing (?:dependenc|librar)\w+"
            r"|DLL load failed|not (?:found )?(?:in|on) PATH"
            r"|PackageNotFoundError|DistributionNotFound|VersionConflict|ERESOLVE|unable to locate package"
            r"|requires .{1,60}(?:but you have|which is not installed)|unrecognized arguments: -\S+"
            r"|fixture '\w+' not found|AttributeError: module '[\w.]+' has no attribute '\w+'"
            r"|cannot open display"
            r"|only supports \w+ version|ChromeDriver|driver version|CUDA driver|forbidden|api[ _-]key"
            r"|not installed|could not find a version|no matching distribution|unsatisfiable|version conflict"
            r"|requires (?:a )?(?:different |newer )?(?:python|node|version)\b.{0,40}"
            r"|incompatible (?:version|architecture)"
            r"|cannot open shared object file|symbol not found|undefined symbol|GLIBC\w*|exec format error"
            r"|(?-i:\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b).{0,20}(?:not set|is unset|is missing|undefined|required|is empty)"
            r"|environment variable.{0,60}|KeyError: '(?-i:[A-Z][A-Z0-9]*_[A-Z0-9_]+)'"
            r"|missing (?:api key|credentials|environment)"
            r"|(?:invalid|incorrect|expired) (?:api[ _-]?key|token|credentials)|unauthori[sz]ed"
            r"|not logged in|authentication \w+"
            r"|permission denied|EACCES|operation not permitted|certificate verify failed"
            r"|unsupported locale|locale\.Error"
            r"|role \"[^\"]+\" does not exist|database \"[^\"]+\" does not exist"
            r"|browser.{0,30}(?:install|not found)"
            r"|setup failed|npm ERR!|pip(?:'s)? dependency resolver",
            re.I | re.M,
        ),
    ),
)
_TIMEOUT = re.compile(r"timed out|timeout|deadline", re.I)
_TEST_STAGES = ("test", "on the branch")


class LikelyCause(Struct, frozen=True):
    """A kind, the words or the circumstance that speak for it, and what to do next."""

    kind: CauseKind
    evidence: str

    @property
    def next_step(self) -> str:
        return NEXT[self.kind]


def likely_cause(
    stage: str, texts: Sequence[str], *, hosts: Sequence[str] = (), times: Sequence[float] = ()
) -> LikelyCause:
    """Of failures at one stage that look alike; `hosts` and `times` are where and when they happened, in order."""
    text = without_escapes("\n".join(texts))
    for kind, pattern in _RULES:
        if found := pattern.search(text):
            return LikelyCause(kind, f'"{one_line(found[0], _EVIDENCE)}"')
    span_s = max(times, default=0.0) - min(times, default=0.0)
    if _TIMEOUT.search(text) and len(times) >= _SOME and span_s <= _AT_ONCE_S:
        return LikelyCause("infrastructure", f"{len(times)} timeouts within {span_s:.0f} s")
    if len(hosts) >= _SOME and len(set(hosts)) == 1 and stage not in _TEST_STAGES:
        return LikelyCause("infrastructure", f"all on the host {hosts[0]}")
    if stage in ("launch", "pull", "stop") or (stage == "watch" and _TIMEOUT.search(text)):
        return LikelyCause("infrastructure", f"the step {stage} failed, not a test")
    return LikelyCause("code", "nothing speaks for limits, the environment or the machines")
