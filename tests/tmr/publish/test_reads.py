"""Access times show what was read, and where they cannot, that is said."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.needs import needs

from mngr_tmr.publish.program import reads
from mngr_tmr.publish.program.reads import AccessTimes

TRY = """
import sys
from mngr_tmr.publish.program.reads import AccessTimes
open(sys.argv[1] + "/a", "w").close()
open(sys.argv[1] + "/b", "w").close()
print(AccessTimes(sys.argv[1], ["a", "b"]).problem())
"""


@pytest.fixture
def times(tmp_path: Path) -> AccessTimes:
    for name in ("one", "inner/two", "inner/empty", "unit.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("" if name == "inner/empty" else "x = 1\n")
    (tmp_path / "link").symlink_to("one")
    found = AccessTimes(str(tmp_path), ("one", "inner/two", "inner/empty", "unit.py", "link"))
    assert found.problem() == ""
    found.take()
    return found


@pytest.mark.accept("O11")
def test_what_is_read_listed_changed_or_removed_is_taken_once(times: AccessTimes, tmp_path: Path) -> None:
    assert times.take() == set()
    (tmp_path / "inner/empty").read_bytes()
    assert times.take() == {"inner/empty"}
    subprocess.run(["cat", tmp_path / "link"], check=True)
    assert times.take() == {"link", "one"}
    subprocess.run(["ls", tmp_path / "inner"], check=True)
    assert times.take() == {"inner"}
    subprocess.run(["sh", "-c", "echo y >>unit.py; rm inner/two"], check=True, cwd=tmp_path)
    assert times.take() == {"unit.py", "inner/two"}
    (tmp_path / "one").stat()
    assert times.take() == {"inner/two"}


@pytest.mark.accept("O11")
def test_a_compiled_module_that_is_read_stands_for_its_source(times: AccessTimes, tmp_path: Path) -> None:
    for expected in ("compiled", "used as it was compiled"):
        subprocess.run([sys.executable, "-c", "import unit"], check=True, env={"PYTHONPATH": str(tmp_path)})
        assert "unit.py" in times.take(), expected
    (tmp_path / "__pycache__").rename(tmp_path / "gone")
    assert times.take() - {""} == set()


@pytest.mark.accept("O11")
def test_a_file_system_without_access_times_is_a_problem(tmp_path: Path) -> None:
    inside = ("unshare", "-m", "-U", "--map-root-user")
    needs("mounts in a namespace", *inside, "mount", "-t", "tmpfs", "-o", "noatime", "x", str(tmp_path))
    script = 'mount -t tmpfs -o "$1" x "$2" && exec "$3" -c "$4" "$2"'
    found = {}
    for mode in ("noatime", "relatime"):
        argv = [*inside, "sh", "-c", script, "sh", mode, str(tmp_path), sys.executable, TRY]
        found[mode] = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()
    assert found == {"noatime": "this file system does not keep access times", "relatime": ""}


def test_too_many_files_are_a_problem(tmp_path: Path) -> None:
    many = [str(number) for number in range(reads.MOST_FILES + 1)]
    assert "more than" in AccessTimes(str(tmp_path), many).problem()
