"""The part of ``pylsp_jsonrpc`` that is used here; the package carries no types."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

class Endpoint:
    def __init__(
        self,
        dispatcher: Mapping[str, Callable[[Any], Any]],
        consumer: Callable[[dict[str, Any]], object],
        id_generator: Callable[[], str] = ...,
        max_workers: int = ...,
    ) -> None: ...
    def consume(self, message: Mapping[str, Any]) -> None: ...
    def notify(self, method: str, params: Any = ...) -> None: ...
    def request(self, method: str, params: Any = ...) -> Future[Any]: ...
    def shutdown(self) -> None: ...
