"""Names of tools, which agents call by several."""

from __future__ import annotations

_SAME_TOOLS = {
    **dict.fromkeys(("readfile", "fileread", "view"), "read"),
    **dict.fromkeys(("writefile", "filewrite", "edit"), "write"),
    "runcommand": "bash",
    "web_fetch": "fetch",
}


def names_tool(written: str, called: str) -> bool:
    """Return whether a name in a list of allowed tools means a tool that was called.

    Agents call the same tool by several names. ``builtin:`` before a name is ignored; after ``mcp:`` and
    ``custom:`` the name counts as it is written.
    """
    wanted, actual = written.strip().lower(), called.strip().lower()
    source, _, rest = wanted.partition(":")
    if source in ("mcp", "custom") and ":" not in actual:
        return rest == actual
    return _canonical(wanted) == _canonical(actual)


def _canonical(name: str) -> str:
    plain = name.removeprefix("builtin:")
    return _SAME_TOOLS.get(plain, plain)
