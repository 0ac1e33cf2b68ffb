"""A forge on loopback: git's own HTTP backend over a bare repository, and as much of the API as gh asks for.

Programs reach it as the proxy for http://github.localhost, the one host that gh talks to without TLS.
"""

import base64
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import mngr

REPOSITORY = {
    "id": "R1",
    "name": "app",
    "owner": {"login": "ada"},
    "hasIssuesEnabled": True,
    "viewerPermission": "WRITE",
    "defaultBranchRef": {"name": "main"},
    "parent": None,
}


class Forge:
    """A context manager; `requests` are the pull requests asked for, `tokens` every credential that was shown."""

    def __init__(self, folder: Path, token: str) -> None:
        self.bare, self.token = folder / "ada" / "app.git", token
        self.bare.parent.mkdir(parents=True)
        self.git("init", "-q", "--bare", "-b", "main", str(self.bare))
        self.git("-C", str(self.bare), "config", "http.receivepack", "true")
        self.requests: list[dict[str, Any]] = []
        self.tokens: set[str] = set()
        self.open = False
        self.refusal = ""
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                forge.answer(self)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.proxy = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> "Forge":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def git(self, *args: str) -> str:
        return mngr.run_program(["git", *args], env={"GIT_CONFIG_NOSYSTEM": "1"}).check("git").text

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("content-length", 0)))
        place = request.path.partition("://")[2]
        host, _, path = place.partition("/")
        said = request.headers.get("authorization", "")
        shown = (
            base64.b64decode(said[6:]).decode().partition(":")[2]
            if said.startswith("Basic")
            else said.partition(" ")[2]
        )
        self.tokens |= {shown} if shown else set()
        if shown != self.token:
            request.send_response(401)
            request.send_header("www-authenticate", 'Basic realm="forge"')
            request.end_headers()
        elif host == "api.github.localhost":
            self._api(request, json.loads(body))
        else:
            self._backend(request, path, body)

    def _api(self, request: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        query = asked["query"]
        data: dict[str, Any] = {"repository": REPOSITORY}
        if "PullRequestForBranch" in query:
            head = {
                "state": "OPEN",
                "baseRefName": "main",
                "isCrossRepository": False,
                "number": 7,
                "id": "P",
            }
            owner = {"headRepositoryOwner": {"login": "ada"}, "url": "http://github.localhost/ada/app/pull/7"}
            there = [{**head, **owner, "headRefName": asked["variables"]["headRefName"]}] if self.open else []
            data = {"repository": {"pullRequests": {"nodes": there}, "defaultBranchRef": {"name": "main"}}}
        elif "PullRequestCreate" in query:
            if self.refusal:
                said = {"errors": [{"message": self.refusal}]}
                return _reply(request, 200, {"content-type": "application/json"}, json.dumps(said).encode())
            self.requests.append(asked["variables"]["input"])
            self.open = True
            made = {"id": "P", "url": "http://github.localhost/ada/app/pull/7"}
            data = {"createPullRequest": {"pullRequest": made}}
        _reply(request, 200, {"content-type": "application/json"}, json.dumps({"data": data}).encode())

    def _backend(self, request: BaseHTTPRequestHandler, path: str, body: bytes) -> None:
        path, _, query = path.partition("?")
        env = {
            "GIT_PROJECT_ROOT": str(self.bare.parent.parent),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": f"/{path}",
            "QUERY_STRING": query,
            "REQUEST_METHOD": request.command,
            "CONTENT_TYPE": request.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_USER": "ada",
            "PATH": os.environ["PATH"],
        }
        if request.headers.get("content-encoding"):
            env["HTTP_CONTENT_ENCODING"] = request.headers["content-encoding"]
        done = mngr.run_program(["git", "http-backend"], stdin=body, env=env)
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        _reply(request, int(headers.pop("Status", "200").split()[0]), headers, rest)


def _reply(request: BaseHTTPRequestHandler, code: int, headers: dict[str, str], body: bytes) -> None:
    request.send_response(code)
    for name, value in headers.items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(body)
