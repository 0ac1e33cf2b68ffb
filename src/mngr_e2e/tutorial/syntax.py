"""Is the tutorial valid shell? Asked of bash itself, which reads it and runs nothing."""

import os
import re
import subprocess

_TIMEOUT_S = 10.0
_LINE = re.compile(r"bash: (?:line (\d+): )?(.*)")


def syntax_problem(text: str) -> str:
    """What `bash -n` says against a script, as `line N: …`; "" when it is valid or there is no bash."""
    try:
        done = subprocess.run(
            ["bash", "-n"],
            input=text.removeprefix("\ufeff").replace("\r\n", "\n").encode(errors="replace"),
            capture_output=True,
            timeout=_TIMEOUT_S,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
            check=False,
        )
    except FileNotFoundError:
        return ""
    except subprocess.TimeoutExpired:
        return f"bash -n did not answer within {_TIMEOUT_S:.0f} s"
    if done.returncode == 0:
        return ""
    match = _LINE.match(done.stderr.decode(errors="replace"))
    line, problem = match.groups() if match else ("1", f"bash -n ended with {done.returncode}")
    return f"line {line or 1}: {problem}"
