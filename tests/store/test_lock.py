"""A lock in a repository is for everybody who may write there, and never a way into another file."""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.needs import needs
from tests.support.stranger import UID

from mngr.errors import MngrError
from mngr.process import run
from mngr.store.lock import locked

# $1 a lock, $2 the directory it is like, $3 the group: takes the lock as another user of that group.
_AS_ANOTHER = f"""\
import os, sys
from mngr.store.lock import locked
os.umask(0o077)
os.setgroups([int(sys.argv[3])]); os.setgid({UID}); os.setuid({UID})
with locked(sys.argv[1], timeout_s=90, like=sys.argv[2]):
    print("taken")
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory that others can reach, as a shared repository is."""
    folder = Path(tempfile.mkdtemp(prefix="mngr-lock-", dir="/tmp"))
    folder.chmod(0o711)
    (folder / "git").mkdir()
    yield folder / "git"
    shutil.rmtree(folder)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.accept("Q16")
@pytest.mark.parametrize(("directory", "lock"), [(0o755, 0o600), (0o2775, 0o660), (0o777, 0o666)])
def test_a_lock_has_the_mode_of_its_directory_whatever_the_umask(
    tmp_path: Path, directory: int, lock: int
) -> None:
    """`.git/mngr.lock` 0600 keeps a second user of a shared repository out."""
    place = tmp_path / "git"
    place.mkdir()
    place.chmod(directory)
    before = os.umask(0o077)
    try:
        with locked(str(place / "mngr.lock"), like=str(place)):
            assert mode_of(place / "mngr.lock") == lock
        (place / "mngr.lock").chmod(0o600)
        with locked(str(place / "mngr.lock"), like=str(place)):
            assert mode_of(place / "mngr.lock") == lock
        with locked(str(place / "own.lock")):
            assert mode_of(place / "own.lock") == 0o600
    finally:
        os.umask(before)


@pytest.mark.accept("Q16")
def test_a_second_user_of_a_shared_repository_takes_the_lock_too(shared: Path) -> None:
    """`.git/mngr.lock` 0600 keeps a second user of a shared repository out."""
    needs("root, to act as another user", "sh", "-c", '[ "$(id -u)" = 0 ]')
    group = UID + 1
    os.chown(shared, -1, group)
    shared.chmod(0o2770)
    with locked(str(shared / "mngr.lock"), like=str(shared)):
        pass
    argv = (sys.executable, "-c", _AS_ANOTHER, str(shared / "mngr.lock"), str(shared), str(group))
    assert run(argv).check("as another user").text == "taken\n"
    (shared / "mngr.lock").unlink()
    assert run(argv).check("as another user").text == "taken\n"
    assert (shared / "mngr.lock").stat().st_gid == group
    assert mode_of(shared / "mngr.lock") == 0o660


@pytest.mark.accept("Q16")
def test_a_link_or_a_pipe_in_place_of_a_lock_is_refused(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    (tmp_path / "link").symlink_to(victim)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(MngrError) as caught, locked(str(tmp_path / name)):
            pass
        assert caught.value.hint
    assert not victim.exists()
