"""A server that speaks as much of S3 as a store needs, with faults; and the stores that tests compare."""

import email.utils
import hashlib
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import pytest

BUCKET = "s3://runs"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "somebody",
    "AWS_SECRET_ACCESS_KEY": "not-for-anybody-else",
    "AWS_REGION": "eu-central-1",
    "AWS_ALLOW_HTTP": "true",
}


class ObjectServer(ThreadingHTTPServer):
    """Objects by their names, ``/bucket/key``, each with when it was written.

    ``drops`` answers to further conditional requests are lost after they were executed. ``is_broken`` fails
    all requests, ``is_lax`` ignores conditions, ``is_closed`` refuses all credentials.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, tuple[bytes, float]] = {}
        self.lock = threading.Lock()
        self.drops = 0
        self.is_broken = self.is_lax = self.is_closed = False
        self.bodies: list[bytes] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def own(self) -> ObjectServer:
        assert isinstance(self.server, ObjectServer)
        return self.server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        pass

    def do_PUT(self) -> None:
        body = self._body()
        self.own.bodies.append(body)
        name, conditional = self._name(), self.headers.get("If-None-Match") == "*"
        with self.own.lock:
            if self._refused():
                return
            if conditional and not self.own.is_lax and name in self.own.objects:
                self._answer(412)
                return
            self.own.objects[name] = body, time.time()
            if conditional and self.own.drops:
                self.own.drops -= 1
                self._answer(500)
                return
        self._answer(200, headers={"ETag": f'"{hashlib.md5(body).hexdigest()}"'})

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        with self.own.lock:
            if self._refused():
                return
            if "list-type" in query:
                self._list(parts.path.strip("/"), query.get("prefix", [""])[0])
                return
            found = self.own.objects.get(self._name())
        if found is None:
            self._answer(404)
            return
        content, written = found
        headers = {"ETag": '"x"', "Last-Modified": email.utils.formatdate(written, usegmt=True)}
        self._answer(200, content, headers)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_DELETE(self) -> None:
        with self.own.lock:
            self.own.objects.pop(self._name(), None)
        self._answer(204)

    def do_POST(self) -> None:
        bucket = urlsplit(self.path).path.strip("/")
        named = ElementTree.fromstring(self._body())
        keys = [element.text for element in named.iter() if element.tag.endswith("Key")]
        with self.own.lock:
            for key in keys:
                self.own.objects.pop(f"/{bucket}/{key}", None)
        deleted = "".join(f"<Deleted><Key>{escape(key or '')}</Key></Deleted>" for key in keys)
        self._answer(200, f"<DeleteResult>{deleted}</DeleteResult>".encode())

    def _list(self, bucket: str, prefix: str) -> None:
        start = f"/{bucket}/"
        listed = "".join(
            f"<Contents><Key>{escape(name.removeprefix(start))}</Key><Size>{len(content)}</Size>"
            f"<ETag>x</ETag><LastModified>{time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(written))}"
            "</LastModified></Contents>"
            for name, (content, written) in sorted(self.own.objects.items())
            if name.startswith(start + prefix)
        )
        self._answer(200, f"<ListBucketResult>{listed}</ListBucketResult>".encode())

    def _refused(self) -> bool:
        if self.own.is_broken or self.own.is_closed:
            self._answer(503 if self.own.is_broken else 403)
            return True
        return False

    def _name(self) -> str:
        return unquote(urlsplit(self.path).path)

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _answer(self, status: int, content: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


@contextmanager
def object_server(monkeypatch: pytest.MonkeyPatch) -> Generator[ObjectServer]:
    """Run a server, to which this process and those that it starts send what goes to ``BUCKET``."""
    with ObjectServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": server.address}.items():
            monkeypatch.setenv(name, value)
        yield server
        server.shutdown()
