"""Many at once."""

import errno
import threading
from collections.abc import Iterator

import pytest

from mngr.actions.many import run_many
from mngr.errors import MngrError


def test_results_come_out_while_the_items_are_still_awaited() -> None:
    gate = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        assert gate.wait(90)
        yield 2

    results = run_many(items(), lambda item: item * 10, jobs=4)
    assert next(results) == (1, 10)
    gate.set()
    assert list(results) == [(2, 20)]


def test_no_more_than_so_many_run_at_once() -> None:
    lock, running, most, three = threading.Lock(), 0, 0, threading.Event()

    def work(_: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            if running == 3:
                three.set()
        three.wait(60)
        threading.Event().wait(0.01)
        with lock:
            running -= 1

    assert len(list(run_many(range(20), work, jobs=3))) == 20
    assert most == 3


def test_an_error_of_ours_is_a_result_and_any_other_is_raised_after_all_have_ended() -> None:
    ended = []

    def work(item: str) -> str:
        if item == "ours":
            raise MngrError("no")
        if item == "bug":
            raise ZeroDivisionError
        threading.Event().wait(0.05)
        ended.append(item)
        return item

    found = dict(run_many(["ours", "fine"], work, jobs=2))
    assert isinstance(found["ours"], MngrError)
    assert found["fine"] == "fine"
    gate = threading.Event()

    def waiting() -> Iterator[str]:
        yield from ("slow", "bug")
        gate.wait(60)  # a pipe that nobody writes to any more

    with pytest.raises(ZeroDivisionError):
        list(run_many(waiting(), work, jobs=4))
    gate.set()
    assert ended == ["fine", "slow"]


def test_what_was_begun_beside_an_error_that_is_none_of_ours_still_comes_out() -> None:
    def work(item: str) -> str:
        if item == "bug":
            raise ZeroDivisionError
        threading.Event().wait(0.05)
        return item

    results = run_many(["slow", "bug"], work, jobs=2)
    assert next(results) == ("slow", "slow")
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_what_the_system_refuses_is_the_result_of_one_item() -> None:
    def work(item: int) -> int:
        if item == 1:
            raise OSError(errno.EMFILE, "Too many open files", "/x")
        return item

    found = dict(run_many(range(3), work, jobs=2))
    assert isinstance(found[1], MngrError)
    assert (found[1].message, found[1].hint) == ("Too many open files: /x", "raise it with ulimit -n")
    assert (found[0], found[2]) == (0, 2)


def test_what_goes_wrong_while_taking_items_is_raised() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise MngrError("the pipe broke")

    with pytest.raises(MngrError, match="pipe"):
        list(run_many(items(), lambda item: item, jobs=2))


def test_closing_starts_nothing_more() -> None:
    started = []

    def work(item: int) -> int:
        started.append(item)
        return item

    results = run_many(iter(range(1000)), work, jobs=1)
    next(results)
    results.close()  # type: ignore[attr-defined]
    before = len(started)
    threading.Event().wait(0.05)
    assert len(started) == before < 1000
