"""Which words can be the name of a file on every system."""

import pytest

from waza_language_server.text.workspace_edit import is_file_name


@pytest.mark.parametrize("name", ["first", "a.b", "größe", "console", "com10", "1", "a b", "a" * 200])
def test_names_of_files(name: str) -> None:
    assert is_file_name(name)


@pytest.mark.parametrize(
    "name",
    ["", "a/b", "a\\b", "a:b", "a?", "-a", ".a", "a.", "a ", "con", "NUL", "nul.v2", "Com1", "é" * 101],
)
def test_names_that_some_system_refuses(name: str) -> None:
    assert not is_file_name(name)
