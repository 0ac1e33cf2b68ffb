"""Files to and from a host, with agents that mean harm."""

import io
import os
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr.errors import NotFoundError, RefusedError, UsageError
from mngr.hosts.local import LocalHost
from mngr.process import LocalStream
from mngr.testing.transfers import ODD_NAME, make_folder, tree_here
from mngr.transfer.archive import unpack
from mngr.transfer.files import PulledFiles, pull_files, pull_outbox, push_files
from mngr.transfer.safe_paths import Limits, plain_path, stays_inside


class HostileHost(LocalHost):
    """Answers every request for files with an archive of its own."""

    def __init__(self, directory: Path, archive: bytes) -> None:
        super().__init__(str(directory))
        self._archive = directory / "hostile.tar"
        self._archive.write_bytes(archive)

    def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> LocalStream:
        return super().stream(["sh", "-c", 'cat >/dev/null; exec cat "$1"', "sh", str(self._archive)])


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size, info.mode = kind, link, size, 0o4777
    return info


def archive(*members: tarfile.TarInfo) -> bytes:
    """The hostile members between two good files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for info in (member("good one", size=3), *members, member("good two", size=3)):
            tar.addfile(info, io.BytesIO(b"x" * min(info.size, 1 << 20)))
    return out.getvalue()


def sparse(name: str, apparent: int) -> bytes:
    """A GNU sparse member of one hole: ten gigabytes in 512 bytes."""
    header = bytearray(member(name).tobuf(tarfile.GNU_FORMAT))
    header[156:157] = b"S"
    header[386:398] = header[398:410] = b"%011o\0" % 0
    size = apparent.to_bytes(11, "big")
    header[483:495] = b"\x80" + size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def pull(tmp_path: Path, data: bytes, **options: object) -> PulledFiles:
    directory = tmp_path / "host"
    directory.mkdir()
    host = HostileHost(directory, data)
    return pull_files(host, host.dir, ["."], str(tmp_path / "to"), **options)  # type: ignore[arg-type]


HOSTILE: dict[str, tarfile.TarInfo] = {
    "absolute name": member("/etc/evil", size=1),
    "climbing name": member("../evil", size=1),
    "climbing inside a name": member("a/../../evil", size=1),
    "absolute link": member("evil", tarfile.SYMTYPE, "/etc/passwd"),
    "climbing link": member("a/evil", tarfile.SYMTYPE, "../../evil"),
    "link that climbs through a folder": member("evil", tarfile.SYMTYPE, "a/../../x"),
    "hard link to the outside": member("evil", tarfile.LNKTYPE, "/etc/passwd"),
    "hard link upwards": member("evil", tarfile.LNKTYPE, "../host/hostile.tar"),
    "character device": member("evil", tarfile.CHRTYPE),
    "block device": member("evil", tarfile.BLKTYPE),
    "pipe": member("evil", tarfile.FIFOTYPE),
    "escape sequence in a name": member("/\x1b]0;evil\x07", size=1),
    "name longer than a path": member("evil/" * 1000, size=1),
    "hook of a repository": member(".git/hooks/pre-commit", size=1),
    "repository below, in other letters": member("a/.GiT/config", size=1),
    "repository with an invisible letter": member("a/.g\u200cit/config", size=1),
    "repository by its short name": member("GIT~1/config", size=1),
    "repository without a work tree": member("a/HEAD", size=1),
    "link into a repository": member("evil", tarfile.SYMTYPE, ".git/hooks"),
}


@pytest.mark.accept("Q4", "Q5")
@pytest.mark.parametrize("trick", HOSTILE)
def test_a_hostile_member_is_left_out_and_the_good_ones_arrive(tmp_path: Path, trick: str) -> None:
    pulled = pull(tmp_path, archive(HOSTILE[trick]))
    assert pulled.files == ("good one", "good two")
    assert len(pulled.notes) == 1
    assert pulled.notes[0].isprintable()
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert found == {"host", "host/hostile.tar", "to", "to/good one", "to/good two"}


@pytest.mark.accept("Q4", "Q5")
def test_ten_gigabytes_of_nothing_are_left_out(tmp_path: Path) -> None:
    good = archive()
    pulled = pull(tmp_path, good[:1024] + sparse("huge", 10 << 30) + good[1024:])
    assert pulled.files == ("good one", "good two")
    assert "10.0 GB" in pulled.notes[0]


@pytest.mark.accept("Q5")
def test_sizes_and_counts_are_capped(tmp_path: Path) -> None:
    data = archive(member("big", size=5000), *(member(f"n{number}", size=1000) for number in range(9)))
    pulled = pull(tmp_path, data, limits=Limits(file_bytes=4000, total_bytes=3500, files=50))
    assert pulled.files == ("good one", "good two", "n0", "n1", "n2")
    assert "limit of 3.9 KB" in pulled.notes[0]
    assert len(pulled.notes) == 7
    os.rename(tmp_path / "host", tmp_path / "old host")
    assert pull(tmp_path, data, limits=Limits(files=2)).files == ("big", "good one")


def header(kind: bytes, text: bytes) -> bytes:
    """A header that tells something about the next member, or about all that follow."""
    info = member("x", kind, size=len(text))
    return info.tobuf() + text + b"\0" * (-len(text) % 512)


@pytest.mark.accept("Q5")
def test_headers_without_end_are_the_end_of_the_archive(tmp_path: Path) -> None:
    good = archive()
    for number, headers in enumerate(
        (header(tarfile.XGLTYPE, b"12 a=bcdefg\n") * 2000, header(tarfile.XHDTYPE, b"x" * (8 << 20)))
    ):
        pulled = pull(tmp_path, good[:1024] + headers + good[1024:])
        assert pulled.files == ("good one",)
        assert len(pulled.notes) == 1
        os.rename(tmp_path / "host", tmp_path / f"host {number}")


@pytest.mark.accept("Q5")
def test_what_is_left_out_is_counted_too(tmp_path: Path) -> None:
    flood = (member(f"/evil {number}") for number in range(1500))
    pulled = pull(tmp_path, archive(*flood), limits=Limits(files=100))
    assert pulled.files == ("good one",)
    assert len(pulled.notes) <= 1001
    assert "stopped" in pulled.notes[-1]


@pytest.mark.accept("Q5")
def test_an_endless_answer_ends(tmp_path: Path) -> None:
    class Endless(LocalHost):
        def stream(
            self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
        ) -> LocalStream:
            header = str(tmp_path / "header")
            Path(header).write_bytes(archive()[:1024] + member("flood", size=1 << 40).tobuf())
            return super().stream(["sh", "-c", 'cat >/dev/null; cat "$1"; exec cat /dev/zero', "sh", header])

    host = Endless(str(tmp_path))
    limits = Limits(file_bytes=1 << 20, total_bytes=1 << 20)
    pulled = pull_files(host, host.dir, ["."], str(tmp_path / "to"), limits=limits)
    assert pulled.files == ("good one",)
    assert any("stopped" in note for note in pulled.notes)


@pytest.mark.accept("Q5")
def test_a_link_planted_first_is_not_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "door").symlink_to(outside)
    inner = [member("inner", tarfile.SYMTYPE, "sub"), member("inner/x", size=1), member("door/y", size=1)]
    pulled = pull(tmp_path, archive(*inner))
    assert list(outside.iterdir()) == []
    assert {"good one", "good two"} <= set(pulled.files)
    assert any("door/y" in note for note in pulled.notes)


@pytest.mark.accept("Q7")
@given(st.binary(max_size=2000), st.integers(0, 1500))
def test_a_damaged_archive_never_raises(damage: bytes, where: int) -> None:
    data = archive(member("a/b", size=600))
    with tempfile.TemporaryDirectory() as into:
        unpack(io.BytesIO(data[:where] + damage + data[where + len(damage) :]), into, Limits())


@pytest.mark.accept("Q7")
@given(st.lists(st.sampled_from(["..", ".", "", "a", "b"]), max_size=5).map("/".join))
def test_a_path_that_we_call_plain_stays_below(name: str) -> None:
    path = plain_path(name)
    if path is not None:
        assert os.path.normpath(os.path.join("/root", path)).startswith("/root")
    if stays_inside("x/y", name):
        assert os.path.normpath(os.path.join("/root/x", name)).startswith("/root")


@pytest.fixture
def root(host: LocalHost) -> str:
    path = make_folder(Path(host.dir, "work", "one"))
    Path(path, "out.txt").write_text("out\n")
    Path(path, "it's $(x)").write_text("odd\n")
    return path


def test_patterns_choose_files_and_folders(host: LocalHost, root: str, tmp_path: Path) -> None:
    to = str(tmp_path / "to")
    assert pull_files(host, root, ["*.txt", "bin", "it's $(x)"], to).files == (
        "bin/tool",
        "it's $(x)",
        "out.txt",
    )
    assert os.access(f"{to}/bin/tool", os.X_OK)
    assert pull_files(host, root, ["[Ro]*", "b?n/*"], to).files == ("README", "bin/tool", "out.txt")
    assert sorted(os.listdir(to)) == ["README", "bin", "it's $(x)", "out.txt"]


def test_an_outbox_comes_whole(host: LocalHost, root: str, tmp_path: Path) -> None:
    os.link(f"{root}/README", f"{root}/same")
    Path(root, ".hidden").write_text("hidden\n")
    pulled = pull_outbox(host, root, str(tmp_path / "to"))
    assert pulled.notes == ()
    assert tree_here(str(tmp_path / "to")) == tree_here(root)
    assert ODD_NAME in pulled.files
    assert pull_outbox(host, root, str(tmp_path / "to")).files == pulled.files


def test_an_empty_outbox_brings_nothing(host: LocalHost, tmp_path: Path) -> None:
    os.makedirs(f"{host.dir}/outbox")
    assert pull_outbox(host, f"{host.dir}/outbox", str(tmp_path / "to")) == PulledFiles(())


def test_nothing_there_is_an_error_and_partly_there_a_note(
    host: LocalHost, root: str, tmp_path: Path
) -> None:
    to = str(tmp_path / "to")
    with pytest.raises(NotFoundError, match=r"\*\.rs"):
        pull_files(host, root, ["*.rs"], to)
    with pytest.raises(NotFoundError, match="no folder"):
        pull_files(host, f"{root}/nowhere", ["*"], to)
    assert pull_files(host, root, ["*.rs", "*.txt"], to) == PulledFiles(
        ("out.txt",), ("nothing matches *.rs",)
    )


@pytest.mark.parametrize("pattern", ["/etc/passwd", "../*", "a/../../b"])
def test_a_pattern_that_leads_out_is_refused(
    host: LocalHost, root: str, tmp_path: Path, pattern: str
) -> None:
    with pytest.raises(UsageError):
        pull_files(host, root, [pattern], str(tmp_path / "to"))


@pytest.mark.accept("Q4", "Q5")
def test_a_link_on_the_host_is_not_followed(host: LocalHost, root: str, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("secret\n")
    os.symlink(tmp_path / "secret", f"{root}/door")
    pulled = pull_files(host, root, ["door/key", "door", "out.txt"], str(tmp_path / "to"))
    assert pulled.files == ("out.txt",)
    assert len(pulled.notes) == 2


def test_other_versions_are_not_overwritten(host: LocalHost, root: str, tmp_path: Path) -> None:
    to = tmp_path / "to"
    to.mkdir()
    (to / "out.txt").write_text("mine\n")
    (to / "README").write_text("hello\n")
    with pytest.raises(RefusedError, match=r"out\.txt") as caught:
        pull_files(host, root, ["*"], str(to))
    assert "README" not in caught.value.message
    assert sorted(os.listdir(to)) == ["README", "out.txt"]
    assert (to / "out.txt").read_text() == "mine\n"
    assert "out.txt" in pull_files(host, root, ["*"], str(to), force=True).files
    assert (to / "out.txt").read_text() == "out\n"


def test_files_and_folders_are_pushed(host: LocalHost, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / ODD_NAME)
    (tmp_path / "-x").write_text("an option?\n")
    push_files([folder, str(tmp_path / "-x")], host, f"{host.dir}/a b")
    assert host.read(f"{host.dir}/a b/-x") == b"an option?\n"
    assert tree_here(f"{host.dir}/a b/{ODD_NAME}") == tree_here(folder)


@pytest.mark.parametrize("names", [["nowhere"], ["a/x", "b/x"]])
def test_a_push_that_cannot_be_meant_is_refused(host: LocalHost, tmp_path: Path, names: list[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text(name)
    with pytest.raises(UsageError):
        push_files([str(tmp_path / name) for name in names], host, f"{host.dir}/to")


def test_a_push_does_not_write_through_an_agents_link(host: LocalHost, tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", Path(host.dir, "work")
    outside.write_text("mine\n")
    root.mkdir()
    (root / "file").symlink_to(outside)
    (tmp_path / "file").write_text("pushed\n")
    push_files([str(tmp_path / "file")], host, str(root))
    assert outside.read_text() == "mine\n"
    assert (root / "file").read_text() == "pushed\n"
