"""mngr-result: how an agent of a test run looks at its test and hands over its result.

mngr-result check                 is the code under test the code of this working copy?
mngr-result try DESCRIPTION       run the test as the judge will run it; its artifacts are kept as a try
mngr-result write --outcome …     make the result from your commits and tries, and publish it
mngr-result publish FILE|-        publish a result that you wrote yourself, as JSON
mngr-result schema                what a result looks like
mngr-result environment           make the environment of this working copy; its setup does that
"""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from mngr_tmr.publish.program.config import CONFIG, WRONG, ProblemError
from mngr_tmr.publish.program.judging import check, judge, try_test
from mngr_tmr.publish.program.results import publish, write


def arguments(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and what stands after `--`."""
    ours, more = (argv[: argv.index("--")], argv[argv.index("--") + 1 :]) if "--" in argv else (argv, [])
    parser = argparse.ArgumentParser(
        prog="mngr-result", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    verbs.required = True
    for verb in ("check", "schema"):
        verbs.add_parser(verb)
    own = verbs.add_parser("environment")
    own.add_argument("--setup", action="store_true", help="a setup follows, which may not change other ones")
    own.add_argument(
        "--outside", action="store_true", help="make none; print a PATH without virtual environments"
    )
    own.add_argument(
        "--after", action="store_true", help="has the setup changed an environment of another owner?"
    )
    verbs.add_parser("publish").add_argument("file")
    verbs.add_parser("try").add_argument("description", nargs="?", default="")
    verbs.add_parser("judge").add_argument("--timeout", type=float, default=0)
    add = verbs.add_parser("write").add_argument
    add("--outcome", required=True)
    add("--summary", required=True, help="markdown; - reads it from standard input")
    for when in ("before", "after"):
        add(
            "--passed-" + when,
            choices=("yes", "no", "unknown"),
            default="",
            help="default: what your tries say",
        )
    add("--blocked", nargs=3, metavar=("STAGE", "REASON", "NEEDS"))
    add("--escalate", nargs=3, metavar=("KIND", "TITLE", "DETAIL"), action="append", default=[])
    return parser.parse_args(ours), more


def act(options: argparse.Namespace, more: list[str]) -> int:
    if options.verb == "schema":
        print(CONFIG["schema_text"])
    elif options.verb == "publish":
        if options.file == "-":
            publish(sys.stdin.read())
        else:
            with open(options.file, encoding="utf-8") as file:
                publish(file.read())
    elif options.verb == "write":
        write(options)
    elif options.verb == "try":
        return try_test(options.description, more)
    elif options.verb == "judge":
        return judge(options, more)
    elif options.verb == "environment":
        from mngr_tmr.publish.program.environment import environment  # only the setup needs it

        return environment(options)
    else:
        return check()
    return 0


def main() -> NoReturn:
    try:
        sys.exit(act(*arguments(sys.argv[1:])))
    except ProblemError as problem:
        print(f"mngr-result: {problem}", file=sys.stderr)
    except (OSError, ValueError) as error:
        print(f"mngr-result: {error}", file=sys.stderr)
    sys.exit(WRONG)


if __name__ == "__main__":
    main()
