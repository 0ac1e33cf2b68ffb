"""`Provider`, and what those add that make hosts."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from mngr.errors import MngrError, NotFoundError, RefusedError, UnreachableError, UsageError
from mngr.hosts.protocol import Host, Provider, Startable
from mngr.model.host import HostSpec, HostState
from mngr.process import wait_until
from mngr.testing.hosts.witness import SLACK_S, raising, streaming


class ProviderConformance:
    """What every provider must do."""

    def test_it_honours_only_options_there_are(self, provider: Provider) -> None:
        assert provider.name
        assert provider.options <= set(HostSpec.__struct_fields__) - {"name", "tags"}

    def test_its_hosts_are_its_own_and_answer(self, provider: Provider) -> None:
        for ref in provider.hosts():
            assert ref.provider == provider.name
            if ref.state is HostState.RUNNING:
                host = provider.open(ref.name)
                assert (host.name, host.provider) == (ref.name, provider.name)
                assert host.run(["echo", "here"]).text == "here\n"

    def test_an_unknown_host_is_not_found(self, provider: Provider) -> None:
        for method in (provider.open, provider.stop, provider.destroy):
            with raising(NotFoundError):
                method("no-such-host")
        if isinstance(provider, Startable):
            with raising(NotFoundError):
                provider.start("no-such-host")


class LifecycleConformance(ProviderConformance):
    """What a provider must do that makes and ends hosts itself. What it makes, it destroys."""

    def test_a_new_host_is_listed_and_found_by_another_process(self, provider: Provider) -> None:
        with _made(provider, "one") as host:
            assert _states(provider)["one"] is HostState.RUNNING
            host.write(f"{host.dir}/file", b"mine")
            assert provider.open("one").read(f"{host.dir}/file") == b"mine"
        assert "one" not in _states(provider)

    def test_a_host_without_a_name_is_given_one(self, provider: Provider) -> None:
        with _made(provider, "") as first, _made(provider, "") as second:
            assert first.name != second.name
            assert {first.name, second.name} <= set(_states(provider))

    def test_a_taken_or_impossible_name_is_refused_and_harms_nothing(self, provider: Provider) -> None:
        with _made(provider, "taken") as host:
            with raising(RefusedError):
                provider.create(HostSpec(name="taken"))
            assert host.run(["true"]).code == 0
        before = _states(provider)
        for name in ("../up", "a b", "-x", ".", "a/b", "x" * 64):
            with raising(UsageError):
                provider.create(HostSpec(name=name))
        assert _states(provider) == before

    def test_two_hosts_share_no_files(self, provider: Provider) -> None:
        with _made(provider, "left") as left, _made(provider, "right") as right:
            left.write(f"{left.dir}/file", b"left")
            with raising(FileNotFoundError):
                right.read(f"{left.dir}/file")

    def test_a_stopped_host_is_unreachable_rather_than_failing(self, provider: Provider) -> None:
        with _made(provider, "quiet") as host:
            with streaming(host, ["sleep", "300"]):
                provider.stop("quiet")
            provider.stop("quiet")
            assert _states(provider)["quiet"] is HostState.STOPPED
            for attempt in (
                lambda: host.run(["true"]),
                lambda: host.stream(["true"]),
                lambda: host.read("/etc/passwd"),
                lambda: host.write(f"{host.dir}/x", b""),
                lambda: provider.open("quiet"),
            ):
                with raising(UnreachableError):
                    attempt()

    def test_a_host_that_ends_in_the_middle_is_unreachable(self, provider: Provider) -> None:
        with _made(provider, "brief") as host:
            path, found = f"{host.dir}/began", list[type[MngrError]]()
            host.write(path, b"")

            def work() -> None:
                try:
                    host.run(["sh", "-c", 'echo yes >"$1"; sleep 300', "sh", path], timeout_s=60)
                except MngrError as error:
                    found.append(type(error))

            worker = threading.Thread(target=work)
            worker.start()
            assert wait_until(lambda: host.read(path) == b"yes\n", SLACK_S)
            provider.stop("brief")
            worker.join(SLACK_S)
            assert found == [UnreachableError]

    def test_a_started_host_has_its_files_and_not_its_processes(self, provider: Provider) -> None:
        if not isinstance(provider, Startable):
            return
        with _made(provider, "again") as host:
            host.write(f"{host.dir}/file", b"kept")
            host.run(["sh", "-c", "sleep 298 >/dev/null 2>&1 </dev/null &"])
            provider.stop("again")
            again = provider.start("again")
            assert _states(provider)["again"] is HostState.RUNNING
            assert again.read(f"{host.dir}/file") == b"kept"
            assert again.run(["sh", "-c", "grep -sl '^sleep.298' /proc/[0-9]*/cmdline"]).stdout == b""
            assert provider.start("again").run(["true"]).code == 0

    def test_a_destroyed_host_is_gone_and_its_name_free(self, provider: Provider) -> None:
        with _made(provider, "gone") as host:
            host.write(f"{host.dir}/file", b"old")
            provider.destroy("gone")
            assert "gone" not in _states(provider)
            with raising(NotFoundError):
                provider.open("gone")
            with raising(UnreachableError, NotFoundError):
                host.run(["true"])
        with _made(provider, "gone") as host, raising(FileNotFoundError):
            host.read(f"{host.dir}/file")


@contextmanager
def _made(provider: Provider, name: str) -> Iterator[Host]:
    """A new host, destroyed with the block unless the block did."""
    host = provider.create(HostSpec(name=name))
    try:
        yield host
    finally:
        try:
            provider.destroy(host.name)
        except NotFoundError:
            pass


def _states(provider: Provider) -> dict[str, HostState]:
    return {ref.name: ref.state for ref in provider.hosts()}
