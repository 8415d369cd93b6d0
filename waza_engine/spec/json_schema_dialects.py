"""The dialects of JSON Schema that ``$schema`` names, and the addresses of each. Light."""

from __future__ import annotations

import re

DIALECTS = {
    "json-schema.org/draft/2020-12/schema": "2020-12",
    "json-schema.org/schema": "2020-12",
    "json-schema.org/draft/2019-09/schema": "2019-09",
    "json-schema.org/draft-07/schema": "7",
    "json-schema.org/draft-06/schema": "6",
    "json-schema.org/draft-04/schema": "4",
    "json-schema.org/draft-03/schema": "3",
}
"""The draft by its address without protocol and fragment, which make no difference to upstream either."""


def draft_of(address: str) -> str | None:
    """Return the draft that an address names, as ``7`` or ``2020-12``; None when it is not known."""
    return DIALECTS.get(re.sub("^https?://", "", address).removesuffix("#"))
