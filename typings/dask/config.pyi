from collections.abc import Mapping

def set(arg: Mapping[str, object]) -> object: ...  # noqa: A001 - its name
