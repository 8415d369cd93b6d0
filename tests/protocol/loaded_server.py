"""A process that has loaded what servers load, and becomes one whenever it is asked for one.

Loading takes a third of a second of processor time, and the tests start hundreds of servers. What they get is
the real one, in a process of its own, with standard streams, a folder and an environment of its own. That a
server loads what it needs when it needs it is tested with those that are started (``raw_client.py``).

    python -m tests.protocol.loaded_server DESCRIPTOR

The descriptor is a socket. Each request is the length of a JSON text, ``{"cwd", "env"}``, in eight bytes, and
the text, with four descriptors: the standard streams of the server, and where its exit code is written, as a
text, when it has ended. The answer is its process id in eight bytes.
"""

import gc
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, NoReturn

from waza_language_server.cli import load_server

if TYPE_CHECKING:
    pass

SUITE = Path(__file__).parents[2] / "examples" / "code-explainer"
LONGEST_REQUEST = 1_000_000
STREAMS = 3


def main() -> None:
    """Serve in the background until the socket is closed."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    if os.fork():
        # The tests look at the children of their process: this is none of them.
        return
    serve = load_server()
    _warm_up()
    gc.freeze()
    ends: dict[int, int] = {}
    ended, wake_up = os.pipe()
    os.set_blocking(wake_up, False)
    signal.signal(signal.SIGCHLD, _nothing)
    signal.set_wakeup_fd(wake_up)
    with selectors.DefaultSelector() as selector:
        selector.register(requests, selectors.EVENT_READ)
        selector.register(ended, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj == ended:
                    os.read(ended, 1_000)
                    _tell_ends(ends)
                    continue
                size = requests.recv(8)
                if not size:
                    return
                pid, end = _start(requests, int.from_bytes(size), serve)
                ends[pid] = end
                requests.sendall(pid.to_bytes(8))


def _warm_up() -> None:
    """Load what servers load sooner or later, look at a suite, and take a client's introduction apart."""
    from lsprotocol import types
    from pytest_lsp import client_capabilities

    import waza_language_server

    for module in walk_packages(waza_language_server.__path__, f"{waza_language_server.__name__}."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    from waza_language_server.check import check_paths
    from waza_language_server.protocol import serving

    assert not any(report.failures for report in check_paths([SUITE]))
    server = serving.create_server()
    introduction = json.loads(
        server.protocol.to_json(types.InitializeParams(client_capabilities("visual-studio-code")))
    )
    message = {"jsonrpc": "2.0", "id": 0, "method": types.INITIALIZE, "params": introduction}
    server.protocol.structure_message(message)
    serving.create_server = lambda: server


def _nothing(_number: int, _frame: object) -> None:
    """Take a signal, so that what it wakes up goes on."""


def _start(requests: socket.socket, size: int, serve: Callable[[int | None], NoReturn]) -> tuple[int, int]:
    """Start a server; return its process id and where its exit code is to be written."""
    message, descriptors, _, _ = socket.recv_fds(requests, LONGEST_REQUEST, STREAMS + 1)
    while len(message) < size:
        message += requests.recv(size - len(message))
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, descriptor in enumerate(descriptors[:STREAMS]):
            os.dup2(descriptor, number)
        os.closerange(STREAMS, os.sysconf("SC_OPEN_MAX"))
        asked = json.loads(message)
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        serve(None)
    for descriptor in descriptors[:STREAMS]:
        os.close(descriptor)
    return pid, descriptors[STREAMS]


def _tell_ends(ends: dict[int, int]) -> None:
    while ends:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        end = ends.pop(pid)
        with suppress(BrokenPipeError):  # nobody waits for it any more
            os.write(end, str(os.waitstatus_to_exitcode(status)).encode())
        os.close(end)


if __name__ == "__main__":
    main()
