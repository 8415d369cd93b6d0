"""The address of this project, which its package names once."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata


def project_page() -> str:
    """Return the address of the repository, "" when the package is not installed."""
    try:
        urls: list[str] = metadata("waza-language-server").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    return dict(url.split(", ", 1) for url in urls).get("Repository", "")
