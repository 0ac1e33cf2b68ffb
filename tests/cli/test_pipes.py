"""Verbs that compose: `-` reads lines, a line comes back for each."""

import os
import shlex
import sys
import threading
import tracemalloc

import msgspec
import pytest
from tests.cli.command import Mngr

from mngr import process
from mngr.cli.stdin import read_items
from mngr.process import OnlyEnv
from mngr.testing.waiting import PATIENCE_S


def shell(mngr: Mngr, command: str, stdin: str = "") -> process.Completed:
    env = OnlyEnv({**mngr.env, "MNGR": f"{shlex.quote(sys.executable)} -m mngr"})
    script = f'mngr() {{ $MNGR "$@"; }}; set -o pipefail; {command}'
    return process.run(
        ["bash", "-c", script],
        stdin=stdin.encode(),
        env=env,
        cwd=str(mngr.world.repo),
        timeout_s=PATIENCE_S * 2,
    )


def lines(data: bytes) -> list[dict[str, object]]:
    return [msgspec.json.decode(line) for line in data.splitlines()]


@pytest.mark.slow
@pytest.mark.accept("K2", "X2")
def test_a_map_reduce_is_one_pipe(mngr: Mngr) -> None:
    work = "echo {n} >part-{n}; git add .; git -c user.name=a -c user.email=a@b commit -qm {n}; sleep 0.1"
    tasks = [{"name": f"n{n}", "args": ["sh", "-c", work.format(n=n)], "task": n} for n in range(4)]
    stdin = "".join(msgspec.json.encode(task).decode() + "\n" for task in tasks)
    done = shell(
        mngr,
        "mngr create - -j 2 --max-running 2 | mngr wait - | mngr pull - | mngr stop - | mngr destroy - -y",
        stdin,
    )
    assert done.code == 0, done
    told = sorted(lines(done.stdout), key=lambda line: str(line["name"]))
    assert [(line["name"], line["task"], line["changed"]) for line in told] == [
        (f"n{n}", n, True) for n in range(4)
    ]
    world = mngr.world
    for n in range(4):
        assert world.git("show", f"mngr/n{n}:part-{n}") == f"{n}\n"
    world.git("merge", "-q", *(f"mngr/n{n}" for n in range(4)))
    assert sorted(path.name for path in world.repo.glob("part-*")) == [f"part-{n}" for n in range(4)]
    assert mngr.ok("list", "--json").json["agents"] == []


@pytest.mark.accept("K2", "Q7")
def test_a_bad_line_fails_alone_and_travels_on(mngr: Mngr) -> None:
    stdin = '{"name": "good", "args": ["sleep", "1000"], "task": 1}\n{"name": "bad", "args": 3, "task": 2}\n{"name":\n'
    made = mngr("create", "-", stdin=stdin)
    assert made.code == 3
    by_name = {line.get("name", ""): line for line in made.lines}
    assert by_name["good"]["changed"] is True
    assert by_name["good"]["task"] == 1
    assert "args" not in by_name["good"]
    assert by_name["bad"] == {**by_name["bad"], "task": 2, "args": 3}
    assert by_name["bad"]["error"]["exit_code"] == 2
    stopped = mngr("stop", "-", stdin=made.stdout)
    assert stopped.code == 3
    after = {line.get("name", ""): line for line in stopped.lines}
    assert (after["good"]["state"], after["good"]["task"]) == ("STOPPED", 1)
    assert after["bad"] == by_name["bad"]


@pytest.mark.accept("K2")
def test_targets_are_records_strings_or_bare_names(mngr: Mngr) -> None:
    for name in ("a", "b", "c"):
        mngr.ok("create", name, "--", "sleep", "1000")
    done = mngr("label", "-", "k=v", stdin='a\n"b"\n{"name": "c", "mine": [1]}\n\nnobody\n')
    assert done.code == 3
    told = {line["name"]: line for line in done.lines}
    assert all(told[name]["labels"] == {"k": "v"} for name in "abc")
    assert told["c"]["mine"] == [1]
    assert told["nobody"]["error"]["exit_code"] == 4
    assert mngr("stop", "-", stdin="nobody\nnothing\n").code == 4
    assert mngr("stop", "-", "a").code == 2
    assert mngr.ok("stop", "-", stdin="").stdout == ""


@pytest.mark.accept("K2")
def test_a_line_comes_back_while_more_may_come(mngr: Mngr) -> None:
    piped = mngr.start("create", "-", "-j", "4")
    assert piped.stdin
    assert piped.stdout
    piped.stdin.write(b'{"name": "a", "args": ["sleep", "1000"]}\n')
    assert msgspec.json.decode(piped.stdout.readline())["name"] == "a"
    piped.stdin.write(b'{"name": "b", "args": ["sh", "-c", "sleep 0.1"]}\n')
    assert msgspec.json.decode(piped.stdout.readline())["name"] == "b"
    piped.stdin.close()
    assert piped.wait(PATIENCE_S) == 0

    waiting = mngr.start("wait", "-", "--until", "done")
    assert waiting.stdin
    assert waiting.stdout
    waiting.stdin.write(b"a\n")
    waiting.stdin.write(b"b\n")
    assert msgspec.json.decode(waiting.stdout.readline())["name"] == "b"
    waiting.stdin.close()
    mngr.ok("stop", "a")
    last = msgspec.json.decode(waiting.stdout.readline())
    assert (last["name"], last["reached"], last["reason"]) == ("a", False, "it is STOPPED")
    assert waiting.wait(PATIENCE_S) == 3
    for ended in (piped, waiting):
        for pipe in (ended.stdout, ended.stderr):
            assert pipe
            pipe.close()


@pytest.mark.accept("K2")
def test_a_line_carries_its_own_message(mngr: Mngr) -> None:
    for name in ("a", "b"):
        mngr.ok("create", name, "--", "sh", "-c", 'read -r x; echo "got $x" >out; sleep 1000')
    done = mngr("message", "-", stdin='{"name": "a", "message": "one"}\n{"name": "b"}\n')
    assert done.code == 3
    told = {line["name"]: line for line in done.lines}
    assert told["a"]["receipt"]["status"] == "delivered"
    assert told["b"]["error"]["exit_code"] == 2


def test_a_word_that_looks_like_an_option_is_worth_a_warning(mngr: Mngr) -> None:
    done = mngr.ok("create", "-", stdin='{"name": "a", "args": ["sleep", "1000"], "mesage": "x"}')
    assert 'did you mean "message"?' in done.stderr
    assert done.lines[0]["mesage"] == "x"


BAD_LINES = {
    "is not UTF-8": b'{"name": "\xff"}',
    "is nested too deeply": b'{"name": "deep", "x": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "is longer than 16 MB": b'{"name": "huge", "x": "' + b"x" * (17 << 20) + b'"}',
    "is too long for a name": b"n" * 70_000,
    "is not a JSON object": b'{"name": "half',
}


@pytest.mark.accept("K2", "Q7")
@pytest.mark.parametrize(
    "words", [("create", "-", "--", "sleep", "1000"), ("label", "-", "k=v"), ("wait", "-")]
)
def test_a_malformed_line_is_one_error_and_the_others_are_done(mngr: Mngr, words: tuple[str, ...]) -> None:
    """TH-M9."""
    good = ("a", "b")
    if words[0] != "create":
        for name in good:
            mngr.ok("create", name, "--", "true")
    done = mngr(
        *words, stdin=b"\n".join([b'{"name": "a"}', *BAD_LINES.values(), b'{"name": "b", "x": [[]]}'])
    )
    assert done.code == 3, done
    assert sorted(line["name"] for line in done.lines if "error" not in line) == ["a", "b"]
    problems = [line["error"]["message"] for line in done.lines if "error" in line]
    assert all(any(why in problem for problem in problems) for why in BAD_LINES), problems
    assert len(problems) == len(BAD_LINES) == done.stderr.count("error: ")


@pytest.mark.accept("K2", "Q7")
def test_a_line_without_an_end_takes_no_more_memory_than_a_long_one() -> None:
    """TH-M9."""
    ours, theirs = os.pipe()
    writer = threading.Thread(target=_write_all, args=(theirs, [b"x" * (1 << 20)] * 64 + [b"\nlast"]))
    writer.start()
    tracemalloc.start()
    try:
        items = [item for group in read_items(ours) for item in group]
        assert tracemalloc.get_traced_memory()[1] < 80 << 20
    finally:
        tracemalloc.stop()
        writer.join()
        os.close(ours)
    assert [(item.target, bool(item.problem)) for item in items] == [("", True), ("last", False)]


def _write_all(fd: int, pieces: list[bytes]) -> None:
    with os.fdopen(fd, "wb") as pipe:
        for piece in pieces:
            pipe.write(piece)
