"""Every diagnostic code: its meaning, its severity, the reason, and an example file.

The codes are stable: configuration and ``docs/diagnostics.md`` refer to them. The page is generated from this
table, and the rules themselves annotate each example, so it always matches the editor.
``python -m waza_language_server.diagnostics_page`` prints it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from waza_language_server.analysis.codes.assertions import ASSERTION_CODES
from waza_language_server.analysis.codes.code import Code
from waza_language_server.analysis.codes.harness import HARNESS_CODES
from waza_language_server.analysis.codes.sense import SENSE_CODES, SKILL_CODES
from waza_language_server.analysis.codes.structure import STRUCTURE_CODES
from waza_language_server.analysis.codes.suites import SUITE_CODES
from waza_language_server.analysis.codes.syntax import SYNTAX_CODES
from waza_language_server.analysis.codes.vally import VALLY_CODES

GROUPS: Mapping[str, tuple[Code, ...]] = MappingProxyType(
    {
        "The text of the file": SYNTAX_CODES,
        "Keys, values and graders": (*STRUCTURE_CODES, *SUITE_CODES),
        "Values that cannot work": SENSE_CODES,
        "Skills": SKILL_CODES,
        "Assertions and patterns": ASSERTION_CODES,
        "Files of Vally": VALLY_CODES,
        "Files of agent-eval-harness": HARNESS_CODES,
    }
)
CODES: Mapping[str, Code] = MappingProxyType(
    {entry.code: entry for entries in GROUPS.values() for entry in entries}
)
