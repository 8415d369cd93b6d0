"""What tells a content from all others. Light."""

from __future__ import annotations


def digest(content: bytes) -> str:
    """Return what no other content has."""
    # With the first file that is there. ``hashlib`` would load OpenSSL, which takes two megabytes of memory.
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b

    return blake2b(content, digest_size=32).hexdigest()
