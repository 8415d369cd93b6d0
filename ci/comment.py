"""Write a report into the one comment that a pull request has for it: ``comment.py PLACE FILE``.

The comment is found again by a hidden marker with the place, so that two uses of the action have one each.
Needs nothing but Python. Without a pull request nothing happens; without the permission there is a warning.
"""

import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

LIMIT = 60_000  # GitHub refuses comments of more than 65,536 characters.
PAGE = 100


def main(place: str, report: Path) -> None:
    """Create or update the comment."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    number = event.get("pull_request", {}).get("number")
    text = report.read_text("utf-8").strip() if report.exists() else ""
    if number is None or not text:
        return
    if len(text) > LIMIT:
        text = f"{text[:LIMIT]}\n\n… The job summary has all of it."
    marker = f"<!-- waza report: {re.sub(r'[^A-Za-z0-9_./ ]', '_', place)} -->"
    comments = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues/{number}/comments"
    body = {"body": f"{marker}\n{text}"}
    try:
        known = _find(comments, marker)
        if known is None:
            _request("POST", comments, body)
        else:
            _request("PATCH", f"{comments.rpartition('/issues/')[0]}/issues/comments/{known}", body)
    except urllib.error.HTTPError as error:
        if error.code not in (401, 403, 404):
            raise
        print("::warning::No comment: the token lacks the permission `pull-requests: write`.")  # noqa: T201


def _find(comments: str, marker: str) -> int | None:
    """Return the id of the comment that starts with a marker, or None."""
    page = 1
    while True:
        found = _request("GET", f"{comments}?per_page={PAGE}&page={page}")
        for comment in found:
            if comment["body"].startswith(marker):
                return comment["id"]
        if len(found) < PAGE:
            return None
        page += 1


def _request(method: str, path: str, body: object = None) -> list[Any]:
    request = urllib.request.Request(
        os.environ.get("GITHUB_API_URL", "https://api.github.com") + path,
        data=None if body is None else json.dumps(body).encode(),
        method=method,
        headers={
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
