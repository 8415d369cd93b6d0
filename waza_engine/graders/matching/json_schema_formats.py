"""The ``format`` values of JSON Schemas, as upstream's validator checks them.

Its list is the same for every draft: it has ``uuid``, ``duration``, ``period`` and ``semver``, and nothing
that begins with ``idn-``. Most are checked by a library; those that it lacks or checks differently are
implemented here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import jsonschema_rs

_OF_THE_LIBRARY = (
    "date",
    "date-time",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
)
_LABEL = re.compile(r"(?!-)[a-zA-Z0-9-]{1,63}(?<!-)")
_LONGEST_HOSTNAME = 253
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DURATION = re.compile(
    r"P([0-9]+W|(?=.)([0-9]+Y)?([0-9]+M)?([0-9]+D)?(T(?=.)([0-9]+H)?([0-9]+M)?([0-9]+S)?)?)"
)
_NUMBER, _WORD = "(0|[1-9][0-9]*)", "[0-9A-Za-z-]+"
_BEFORE_RELEASE = "(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    rf"(-{_BEFORE_RELEASE}(\.{_BEFORE_RELEASE})*)?(\+{_WORD}(\.{_WORD})*)?"
)


def _is_hostname(text: str) -> bool:
    """Return whether a string is a hostname; a trailing dot is allowed."""
    name = text.removesuffix(".")
    return len(name) <= _LONGEST_HOSTNAME and all(_LABEL.fullmatch(label) for label in name.split("."))


def _is_email(text: str) -> bool:
    """Return whether a string is an email address; its domain may end with a dot, as a hostname may."""
    local, _, domain = text.rpartition("@")
    if domain.startswith("["):
        return _by_library("email", text)
    return _by_library("email", f"{local}@example.com") and len(text) <= 254 and _is_hostname(domain)


def _is_period(text: str) -> bool:
    """Return whether a string is two moments, or a moment and a duration, separated by a slash."""
    start, slash, end = text.partition("/")
    if not slash:
        return False
    if start.startswith("P"):
        return _is_duration(start) and _by_library("date-time", end)
    known = _is_duration(end) if end.startswith("P") else _by_library("date-time", end)
    return known and _by_library("date-time", start)


def _is_duration(text: str) -> bool:
    return _DURATION.fullmatch(text) is not None


def _by_library(name: str, text: str) -> bool:
    return _validator(name).is_valid(text)


@functools.cache
def _validator(name: str) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator({"format": name}, validate_formats=True)


FORMATS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        **{name: functools.partial(_by_library, name) for name in _OF_THE_LIBRARY},
        "duration": _is_duration,
        "email": _is_email,
        "hostname": _is_hostname,
        "period": _is_period,
        "semver": lambda text: _SEMVER.fullmatch(text) is not None,
        "uuid": lambda text: _UUID.fullmatch(text) is not None,
    }
)
"""Checks of strings by the name of the format; ``regex`` is checked with the patterns."""
