# The part of `distributed` that the engine uses; its own annotations leave most of it unknown.
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from distributed.security import Security

class Future:
    status: str
    def exception(self) -> BaseException | None: ...
    def add_done_callback(self, fn: Callable[[Future], None]) -> None: ...
    def release(self) -> None: ...

class Client:
    status: str
    def __init__(
        self,
        address: object,
        *,
        security: Security | None = ...,
        set_as_default: bool = ...,
        timeout: float = ...,
    ) -> None: ...
    def submit(
        self,
        func: Callable[..., object],
        *args: object,
        key: str,
        pure: bool,
        retries: int,
        resources: Mapping[str, float],
        workers: Sequence[str] | None = ...,
    ) -> Future: ...
    def cancel(self, futures: Sequence[Future]) -> None: ...
    def run(
        self,
        function: Callable[..., object],
        *args: object,
        workers: Sequence[str] | None = ...,
        on_error: str = ...,
    ) -> Mapping[str, object]: ...
    def scheduler_info(self, n_workers: int = ...) -> Mapping[str, Any]: ...
    def subscribe_topic(self, topic: str, handler: Callable[[tuple[float, Any]], None]) -> None: ...
    def close(self, timeout: float = ...) -> None: ...

class LocalCluster:
    scheduler_address: str
    def __init__(
        self,
        *,
        n_workers: int,
        host: str,
        protocol: str,
        security: Security | None,
        dashboard_address: str,
        scheduler_kwargs: Mapping[str, object],
        silence_logs: bool,
    ) -> None: ...
    def close(self, timeout: float | None = ...) -> None: ...

class _WorkerState:
    nthreads: int

class Worker:
    address: str
    state: _WorkerState
    async def set_resources(self, **resources: float) -> None: ...
    def __init__(
        self,
        address: str,
        *,
        nthreads: int,
        name: str,
        resources: Mapping[str, float],
        memory_limit: int,
        dashboard_address: str,
        security: Security | None = ...,
        host: str | None = ...,
        local_directory: str = ...,
    ) -> None: ...
    def __await__(self) -> Any: ...
    async def finished(self) -> None: ...
    async def close(self, timeout: float = ...) -> str | None: ...  # noqa: ASYNC109
    def log_event(self, topic: str, msg: object) -> None: ...

class Scheduler:
    address: str
    def __init__(
        self,
        *,
        host: str | None,
        port: int | None,
        protocol: str,
        security: Security | None,
        dashboard: bool,
        dashboard_address: str,
        local_directory: str,
    ) -> None: ...
    def __await__(self) -> Any: ...
    async def close(self) -> None: ...

def get_worker() -> Worker: ...
