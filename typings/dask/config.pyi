from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

def get(key: str) -> Any: ...
def set(arg: Mapping[str, object]) -> AbstractContextManager[object]: ...  # noqa: A001 - its name
