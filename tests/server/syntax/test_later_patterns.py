"""The YAML library is loaded without compiling the patterns of its readers, and works all the same."""

import subprocess
import sys

PROGRAM = """
import re
as_ever = re.compile
from waza_language_server.syntax.tree import parse
import yaml, yaml.reader
assert re.compile is as_ever
assert not isinstance(yaml.reader.Reader.NON_PRINTABLE, re.Pattern)
assert parse("a: [1, 2]").root.to_python() == {"a": [1, 2]}
text = "day: 2026-11-23\\nyes: 0x1f\\nlist: [1.5, ~, on, 12:30:45]\\n"
print(yaml.safe_load(text))
try:
    yaml.safe_load("a: \\x01")
except yaml.YAMLError as error:
    print(type(error).__name__)
"""
AS_EVER = """
import yaml
text = "day: 2026-11-23\\nyes: 0x1f\\nlist: [1.5, ~, on, 12:30:45]\\n"
print(yaml.safe_load(text))
try:
    yaml.safe_load("a: \\x01")
except yaml.YAMLError as error:
    print(type(error).__name__)
"""


def said(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout


def test_what_is_read_with_it_is_what_it_was() -> None:
    assert said(PROGRAM) == said(AS_EVER) != ""
