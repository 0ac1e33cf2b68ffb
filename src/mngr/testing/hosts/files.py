"""`Host.read` and `Host.write`."""

import os
import threading
from functools import partial

from mngr.errors import MngrError
from mngr.hosts.protocol import Host
from mngr.testing.hosts.witness import ODD_NAMES, names_in, raising, raw
from mngr_lib.threads import run_all


class FileConformance:
    """`Host.read` and `Host.write`."""

    def test_files_are_exact(self, host: Host) -> None:
        for data in (b"", b"\0", b"no newline", b"\r\n\n", bytes(range(256)), os.urandom(1 << 20)):
            host.write(f"{host.dir}/file", data)
            assert host.read(f"{host.dir}/file") == data

    def test_a_file_is_the_hosts_file(self, host: Host) -> None:
        path = f"{host.dir}/seen by commands"
        host.write(path, b"one")
        assert host.run(["cat", path]).stdout == b"one"
        host.run(["sh", "-c", 'printf two >"$1"', "sh", path])
        assert host.read(path) == b"two"

    def test_a_missing_file_is_file_not_found(self, host: Host) -> None:
        host.write(f"{host.dir}/file", b"")
        for path in ("nothing", "no/directory", "file/below a file"):
            with raising(FileNotFoundError):
                host.read(f"{host.dir}/{path}")

    def test_a_directory_is_neither_read_nor_replaced(self, host: Host) -> None:
        host.write(f"{host.dir}/folder/file", b"kept")
        with raising(MngrError):
            host.read(f"{host.dir}/folder")
        with raising(MngrError):
            host.write(f"{host.dir}/folder", b"new")
        with raising(MngrError):
            host.write(f"{host.dir}/folder/file/below a file", b"new")
        assert names_in(host, f"{host.dir}/folder") == ["file"]
        assert host.read(f"{host.dir}/folder/file") == b"kept"

    def test_modes_are_as_asked_also_when_replacing(self, host: Host) -> None:
        path = f"{host.dir}/file"
        for mode, shown in ((0o600, "-rw-------"), (0o755, "-rwxr-xr-x"), (0o666, "-rw-rw-rw-")):
            host.write(path, b"x", mode)
            assert host.run(["ls", "-ld", path]).text[:10] == shown
        host.write(path, b"x")
        assert host.run(["ls", "-ld", path]).text[:10] == "-rw-------"

    def test_paths_may_be_odd_and_directories_are_made(self, host: Host) -> None:
        for name in ODD_NAMES:
            path = f"{host.dir}/odd/{name}/{name}"
            host.write(path, raw(name))
            assert host.read(path) == raw(name)
        count = host.run(["sh", "-c", 'set -- "$1"/*; echo $#', "sh", f"{host.dir}/odd"]).text.strip()
        assert count == str(len(ODD_NAMES))

    def test_a_reader_sees_the_old_file_or_the_new_one(self, host: Host) -> None:
        path, versions = f"{host.dir}/busy/file", [bytes([number]) * 300_000 for number in (1, 2)]
        host.write(path, versions[0])
        done = threading.Event()

        def use(number: int) -> bool:
            if number == 0:
                for turn in range(20):
                    host.write(path, versions[turn % 2])
                done.set()
                return True
            seen = []
            while not done.is_set():
                seen.append(host.read(path) in versions)
            return all(seen)

        assert run_all([partial(use, number) for number in range(3)]) == [True] * 3
        assert names_in(host, f"{host.dir}/busy") == ["file"]
