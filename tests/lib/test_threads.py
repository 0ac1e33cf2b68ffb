"""Work in threads: results, errors and deadlines come back to whoever asks."""

import threading
import time
from functools import partial

import pytest

from mngr_lib.threads import Future, FutureTimeoutError, run_all


def answer_after(seconds: float, answer: int) -> int:
    time.sleep(seconds)
    return answer


def fail() -> int:
    raise KeyError("lost")


def test_the_result_comes_back_as_often_as_it_is_asked_for() -> None:
    future = Future(lambda: threading.current_thread().name, "worker")
    assert (future.result(), future.result()) == ("worker", "worker")


def test_an_error_is_raised_where_the_result_is_asked_for() -> None:
    future = Future(fail)
    with pytest.raises(KeyError, match="lost"):
        future.result()
    assert isinstance(future.outcome(), KeyError)


def test_a_result_that_takes_longer_than_its_caller_waits_comes_later() -> None:
    may_end = threading.Event()
    future = Future(lambda: may_end.wait(60))
    with pytest.raises(FutureTimeoutError):
        future.result(0.01)
    may_end.set()
    assert future.result(60)


def test_an_error_of_the_work_is_no_timeout() -> None:
    def time_out() -> None:
        raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        Future(time_out).result(60)


def test_jobs_run_at_the_same_time_and_their_results_are_in_order() -> None:
    both = threading.Barrier(2, timeout=60)
    assert run_all([lambda: both.wait() >= 0, lambda: both.wait() >= 0]) == [True, True]
    assert run_all([partial(answer_after, 0.05, 1), partial(answer_after, 0, 2)]) == [1, 2]
    assert run_all([]) == []


def test_no_more_jobs_than_allowed_run_at_the_same_time() -> None:
    three, fourth = threading.Barrier(3, timeout=60), threading.Event()

    def job(number: int) -> bool:
        if number == 3:
            fourth.set()
            return True
        three.wait()
        is_there = fourth.wait(0.2)
        three.wait()
        return is_there

    jobs = [partial(job, number) for number in range(4)]
    assert run_all(jobs, at_once=3) == [False, False, False, True], "the fourth waits until one has ended"


def test_the_first_error_is_raised_when_all_jobs_have_ended() -> None:
    ended = threading.Event()

    def slow() -> int:
        time.sleep(0.1)
        ended.set()
        return 1

    with pytest.raises(KeyError, match="lost"):
        run_all([fail, slow])
    assert ended.is_set()
