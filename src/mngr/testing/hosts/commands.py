"""`Host.run` and `Host.attach_argv`."""

import os
import sys
import time
from functools import partial

from mngr import process
from mngr.errors import TimedOutError, UsageError
from mngr.hosts.protocol import Host
from mngr.testing.hosts.witness import (
    HARMLESS_WORDS,
    ODD_NAMES,
    PRINT_ARGS,
    SLACK_S,
    assert_gone,
    is_alive,
    raising,
    raw,
    stdin_holding,
)
from mngr_lib.threads import run_all

_ON_A_TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"


class CommandConformance:
    """`Host.run` and `Host.attach_argv`."""

    def test_it_says_who_it_is(self, host: Host) -> None:
        assert host.name
        assert host.provider
        assert host.dir.startswith("/")

    def test_arguments_arrive_exactly(self, host: Host) -> None:
        done = host.run([*PRINT_ARGS, *HARMLESS_WORDS])
        assert done.stdout.split(b"\0")[:-1] == [raw(word) for word in HARMLESS_WORDS]

    def test_a_long_argument_arrives(self, host: Host) -> None:
        assert host.run([*PRINT_ARGS, "x" * 100_000]).stdout == b"x" * 100_000 + b"\0"

    def test_an_argument_with_a_nul_is_refused(self, host: Host) -> None:
        with raising(UsageError):
            host.run(["echo", "a\0b"])

    def test_stdin_arrives_exactly(self, host: Host) -> None:
        data = os.urandom(1 << 20)
        assert host.run(["cat"], stdin=data).stdout == data

    def test_stdin_arrives_whole_though_the_outputs_are_closed(self, host: Host) -> None:
        data, path = os.urandom(1 << 20), f"{host.dir}/fed"
        host.write(path, b"")
        assert host.run(["sh", "-c", 'exec cat >"$1" 2>/dev/null', "sh", path], stdin=data).code == 0
        assert host.read(path) == data

    def test_stdin_that_is_not_read_does_no_harm(self, host: Host) -> None:
        assert host.run(["true"], stdin=os.urandom(1 << 20)).code == 0

    def test_stdin_is_empty_unless_given(self, host: Host) -> None:
        with stdin_holding(b"not for the command\n") as ours:
            assert host.run(["cat"], timeout_s=SLACK_S).stdout == b""
            assert os.read(ours, 100) == b"not for the command\n"

    def test_both_outputs_are_separate_and_exact(self, host: Host) -> None:
        out, err, path = os.urandom(1 << 20), os.urandom(1 << 20), f"{host.dir}/err"
        host.write(path, err)
        done = host.run(["sh", "-c", 'cat "$1" >&2 & cat; wait', "sh", path], stdin=out)
        assert (done.code, done.stdout == out, done.stderr == err) == (0, True, True)

    def test_exit_codes_are_the_commands_own(self, host: Host) -> None:
        codes = [0, 1, 7, 124, 125, 126, 127, 128, 137, 254, 255]
        assert [host.run(["sh", "-c", f"exit {code}"]).code for code in codes] == codes

    def test_death_by_signal_n_is_128_plus_n(self, host: Host) -> None:
        assert [host.run(["sh", "-c", f"kill -{signal} $$"]).code for signal in (9, 15)] == [137, 143]

    def test_a_missing_program_is_127(self, host: Host) -> None:
        done = host.run(["mngr-no-such-program", "x"])
        assert (done.code, done.stdout) == (127, b"")
        assert b"mngr-no-such-program" in done.stderr
        assert host.run(["/no/such/program"]).code == 127

    def test_a_file_that_is_no_program_is_126(self, host: Host) -> None:
        host.write(f"{host.dir}/plain", b"text", 0o600)
        assert host.run([f"{host.dir}/plain"]).code == 126

    def test_a_deadline_ends_the_command_and_its_children(self, host: Host) -> None:
        path = f"{host.dir}/pids"
        host.write(path, b"")
        began = time.monotonic()
        with raising(TimedOutError):
            host.run(["sh", "-c", 'sleep 300 & echo $$ $! >"$1"; wait', "sh", path], timeout_s=2)
        assert time.monotonic() - began < 2 + SLACK_S
        assert_gone(host, host.read(path).decode().split())

    def test_a_deadline_holds_while_stdin_is_not_read(self, host: Host) -> None:
        began = time.monotonic()
        with raising(TimedOutError):
            host.run(["sleep", "300"], stdin=bytes(1 << 20), timeout_s=0.5)
        assert time.monotonic() - began < 0.5 + SLACK_S

    def test_a_background_child_holds_nothing_up_and_lives_on(self, host: Host) -> None:
        began = time.monotonic()
        done = host.run(["sh", "-c", "sleep 300 & echo $!"], timeout_s=60)
        assert time.monotonic() - began < SLACK_S
        pid = done.text.strip()
        try:
            assert is_alive(host, pid)
        finally:
            host.run(["kill", "-9", pid])
        assert_gone(host, [pid])

    def test_environment_values_arrive_exactly(self, host: Host) -> None:
        for word in HARMLESS_WORDS:
            done = host.run(["sh", "-c", 'printf %s "${MNGR_WORD-unset}"'], env={"MNGR_WORD": word})
            assert done.stdout == raw(word)

    def test_environment_names_may_be_odd(self, host: Host) -> None:
        odd = {"A.B": "1", "a-b": "2", "1N": "3", "OPTIND": "4", "IFS": "5", "ü": "6"}
        lines = host.run(["env"], env=odd).stdout.split(b"\n")
        assert {name for name, value in odd.items() if raw(f"{name}={value}") not in lines} == set()

    def test_a_command_runs_in_its_directory(self, host: Host) -> None:
        for name in ODD_NAMES:
            host.write(f"{host.dir}/cwd/{name}/marker", raw(name))
            assert host.run(["cat", "marker"], cwd=f"{host.dir}/cwd/{name}").stdout == raw(name)

    def test_a_missing_directory_fails_the_command_before_it_runs(self, host: Host) -> None:
        path = f"{host.dir}/ran"
        done = host.run(["sh", "-c", 'echo yes >"$1"', "sh", path], cwd=f"{host.dir}/no/such/dir")
        assert done.code not in (0, 255)
        assert done.stderr
        with raising(FileNotFoundError):
            host.read(path)

    def test_many_threads_may_run_at_once(self, host: Host) -> None:
        def ask(number: int) -> bool:
            data = bytes([number]) * 100_000
            return all(host.run(["cat"], stdin=data).stdout == data for _ in range(4))

        assert run_all([partial(ask, number) for number in range(8)]) == [True] * 8

    def test_an_attached_command_has_our_terminal(self, host: Host) -> None:
        script = (
            'test -t 0 && test -t 1 && test -t 2 && echo "a terminal"; read -r x; echo "heard <$x>"; exit 7'
        )
        argv = host.attach_argv(["sh", "-c", script, *HARMLESS_WORDS])
        done = process.run([sys.executable, "-c", _ON_A_TERMINAL, *argv], stdin=b"hello\n", timeout_s=90)
        assert "a terminal" in done.text
        assert "heard <hello>" in done.text
        assert done.code == 7

    def test_an_attached_command_gets_its_arguments_exactly(self, host: Host) -> None:
        words = [word for word in HARMLESS_WORDS if "\n" not in word]  # a terminal adds returns of its own
        argv = host.attach_argv([*PRINT_ARGS, *words])
        done = process.run([sys.executable, "-c", _ON_A_TERMINAL, *argv], timeout_s=90)
        assert done.stdout.split(b"\0")[:-1] == [raw(word) for word in words]
