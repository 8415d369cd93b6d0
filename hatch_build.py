"""The README as package indexes show it: they resolve no relative links."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINKS = re.compile(
    r'(?P<before>\]\(|(?P<image>!\[[^\]]*\]\(|(?:src|srcset)="))(?P<target>(?!https?://|#)[^)"\s]+)'
)


class IndexReadme(MetadataHookInterface):
    """Adds the README with absolute links below ``Repository`` of ``[project.urls]``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set ``readme``, which ``dynamic`` names."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_absolute_links(text, metadata["urls"]["Repository"]),
        }


def with_absolute_links(text: str, repository: str) -> str:
    """Return Markdown with each relative link and image below the repository's default branch."""

    def absolute(found: re.Match[str]) -> str:
        kind = "raw" if found["image"] else "blob"
        return f"{found['before']}{repository}/{kind}/HEAD/{found['target']}"

    return _LINKS.sub(absolute, text)
