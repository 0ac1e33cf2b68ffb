"""Another local user, who is at work on this machine at the same time."""

import subprocess
import sys
from pathlib import Path

UID = 64_923
"""A user without an account: to the kernel one like any other, and nothing to remove afterwards."""

# $1 a socket, $2 a file: whatever connects is heard out, noted and left without an answer. It becomes the other user by
# itself: root's Python may be where nobody else can start it.
_LISTEN = f"""\
import os, socket, sys
os.setgroups([]); os.setgid({UID}); os.setuid({UID})
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
listening.listen()
print("up", flush=True)
while True:
    there, _ = listening.accept()
    there.settimeout(0.2)
    heard = b"connected\\n"
    try:
        while more := there.recv(65536):
            heard += more
    except OSError:
        pass
    with open(sys.argv[2], "ab") as log:
        log.write(heard)
    there.close()
"""


class Stranger:
    """Acts as another user; made by root only."""

    def __init__(self, folder: Path) -> None:
        """`folder` becomes a directory of theirs that everybody may enter."""
        self.folder = folder
        self._listening: list[subprocess.Popen[bytes]] = []
        folder.mkdir()
        subprocess.run(["chown", str(UID), folder], check=True)
        folder.chmod(0o755)

    @property
    def heard(self) -> bytes:
        """All that was said to their sockets."""
        log = self.folder / "heard"
        return log.read_bytes() if log.exists() else b""

    def run(self, script: str, *arguments: str) -> None:
        argv = ["sh", "-ec", script, "sh", *arguments]
        subprocess.run(argv, cwd="/", user=UID, group=UID, extra_groups=[], check=True)

    def listen(self, path: str) -> None:
        """Waits for connections at that path."""
        child = subprocess.Popen(
            [sys.executable, "-c", _LISTEN, path, str(self.folder / "heard")],
            cwd="/",
            stdout=subprocess.PIPE,
        )
        self._listening.append(child)
        assert child.stdout
        assert child.stdout.readline() == b"up\n"

    def end(self) -> None:
        for child in self._listening:
            child.kill()
            child.communicate()
