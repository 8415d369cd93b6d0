"""Every diagnostic code: what it means, how bad it is, why, and a file that shows it.

The codes are stable: configuration and ``docs/diagnostics.md`` refer to them. The page is made from this
table, each example drawn by the rules themselves, so it cannot say anything that the editor does not do.
``python -m waza_language_server.analysis.codes_page`` prints it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from waza_language_server.analysis.codes_assertions import ASSERTION_RULES
from waza_language_server.analysis.codes_structure import STRUCTURE_RULES
from waza_language_server.analysis.codes_syntax import SYNTAX_RULES
from waza_language_server.analysis.rule import Rule

GROUPS: Mapping[str, tuple[Rule, ...]] = MappingProxyType(
    {
        "The text of the file": SYNTAX_RULES,
        "Keys, values and graders": STRUCTURE_RULES,
        "Assertions and patterns": ASSERTION_RULES,
    }
)
RULES: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rules in GROUPS.values() for rule in rules})
