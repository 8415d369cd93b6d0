"""Suite files with mistakes in them, written in all the ways that people write YAML.

Every comment is ``# note`` with a number of its own, and no value has such a text: so a comment that gets
lost, or becomes part of a value, is seen. A ``¦`` stands where a comment may; none is within a block scalar.
"""

from __future__ import annotations

import random

_SMILE = "\U0001f600"
_HEADS = """\
name: deploys ¦
=
name: "deploys 😀"  ¦
=
nmae: deploys ¦
=
name: deploys ¦
name: deploys ¦
=
description: >-
  Folded 😀 text
  →with a tab

name: a ¦
=
name: 'a' ¦
version: 1.0 ¦
=
? name ¦
: explicit ¦
=
name: !!str a ¦
=
"name": deploys
  on two lines ¦
tags: [a, 'b', "c"] ¦
=
name: 😀 ¦
descripton: "two
  lines 😀" ¦
author: ¦
  somebody ¦
"""
_SKILLS = """\
skill: deployer ¦
=
skil: deployer ¦
=
'skill': deployer ¦
=
skill:   deployer   ¦
Skill: other ¦
=
skill: ¦
  deployer ¦
"""
_CONFIGS = """\
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none} ¦
=
config: {trials: 1, timeout: 60, executor: mok, paralel: yes} ¦
=
config: { trialsPerTask: '1' , timeout_seconds: 60, # note 0
  executor: mock, model: none } ¦
=
config: ¦
  trials_per_task: -1 ¦
  timeout: 60 ¦
  executor: mock ¦
  model: none ¦
=
config: ¦
    trials_per_task: 1 ¦
    timeout_seconds: 60 ¦
    max_attempt: 2 ¦
    executor: mock ¦
=
config: &config {trials_per_task: 1, timeout: 60, executor: mock, model: none} ¦
=
config: ¦
  executor: mock ¦
  executor: mock ¦
  parallel: 'yes' ¦
  timeout_seconds: "60" ¦
=
base: &base ¦
  timeout: 60 ¦
config: ¦
  <<: *base ¦
  trials_per_task: 1 ¦
  skill_directories: skills ¦
=
trials_per_task: 2 ¦
config: {executor: mock} ¦
=
config: ¦
  config: ¦
      executor: mock ¦

      timeout: 60 ¦
      model: >-
        no
          ne
=
config: config: ¦
  executor: mock ¦
"""
_GRADERS = """\
- type: txt ¦
  name: polite2 ¦
  config: {contains: [please, "😀"]} ¦
=
- {type: text, name: flow, config: {containz: [a]}} ¦
=
- type: text ¦
  name: block ¦
  config: ¦
    contains: ¦
      - |
        please

        →do··
=
- type: code ¦
  name: code1 ¦
  config: ¦
    assertions: ¦
      - output.length > 3 ¦
      - "'😀' in output and len(output) > 1" ¦
=
- type: code ¦
  name: code2 ¦
  config: ¦
    asertions: ¦
      - >-
        len(output) > 3
        && 'a' in output
=
- type: code ¦
  config: ¦
    assertions: len(output) > 3 and output ¦
=
- type: regex ¦
  name: old ¦
  config: ¦
    must_match: ['a+'] ¦
    must_not_match: ['b'] ¦
=
- type: llm ¦
  name: old4 ¦
  config: ¦
    prompt: |
      Is it good?
      →Really?
=
- type: behavior ¦
  name: b ¦
  config: ¦
    max_tool_cals: 3 ¦
    max_tokens: "5" ¦
=
- name: nameless ¦
  config: {contains: [a]} ¦
=
-   type: text ¦
    name: wide ¦
    config: ¦
      contains:  [ a,b , c ]  ¦
      regexMatch: ['x'] ¦
=
- &anchor ¦
  type: text ¦
  name: anchored ¦
  config: &c {contians: [a]} ¦
=
- type: text ¦
  name: alias ¦
  config: ¦
    contains: &words [a, b] ¦
    not_contain: *words ¦
=
- config: ¦
    contains: ¦
    - a ¦
    contain: ¦
    - b ¦
  name: order ¦
  type: text ¦
=
- # a dash alone, note 0
  type: text ¦
  name: below ¦
  contains: [a] ¦
=
- type: text ¦
  name: flowing ¦
  config: { ¦
    contains: [ ¦
      "a", ¦
      'b' ¦
    ], ¦
    regexMatch: ['a{2}', "\\\\d"] ¦
  } ¦
=
- type: code ¦
  name: quoted ¦
  config: ¦
    assertions: ¦
      - "output.includes('a') && true" ¦
      - 'len(output) > 1 and ''a'' in output' ¦
      - output contains: a ¦
=
- type: prompt ¦
  name: judge ¦
  config: ¦
    prompt: Is it good: yes or no? ¦
    model: none ¦
"""
_TASKS = """\
tasks: [tasks/*.yaml] ¦
=
tasks: tasks/*.yaml ¦
=
tasks: ¦
- id: one ¦
  nmae: One ¦
  inputs: {prompt: Go} ¦
- id: a ¦
  name: A ¦
  input: {prompt: Go} ¦
=
tasks: ¦
  - id: one ¦
    name: One ¦
    prompt: |
      Go: on
      →now 😀··

    expected: ¦
      should_triger: yes ¦
=
tasks: ¦
  - id: one ¦
    name: One ¦
    inputs: ¦
      prompt: Do it: now ¦
=
task: ¦
  - tasks/*.yaml ¦
=
tasks: ¦
    - {id: z, name: Z, inputs: {promt: Go}} ¦
    - id: b ¦
      inputs: {prompt: "Go 😀"} ¦
=
tasks: ¦
  - id: two ¦
    name: Two ¦
    config: {timeout_seconds: 5} ¦
    inputs: {prompt: Go} ¦
    expected: ¦
      graders: ¦
        - {type: text, name: inner, config: {contains: [a]}} ¦
      output_contain: a ¦
=
tasks: ¦
  - id: text ¦
    name: Text ¦
    inputs: Go 😀 ¦
  - id: block ¦
    name: Block ¦
    inputs: |
      Go: on

      →now
=
tasks: ¦
   one: ¦
       name: One ¦
       inputs: {prompt: Go} ¦
   "two": {name: Two, inputs: {prompt: Go}} ¦
"""


def adorned(chance: random.Random) -> str:
    """Return an eval file with mistakes, and comments, blanks and endings as they come."""
    indent = chance.choice(["", "  ", "    "])
    items = [row for _ in range(chance.randrange(1, 5)) for row in _piece(_GRADERS, chance)]
    listed = ["graders: ¦", *(f"{indent}{row}" if row.strip() else row for row in items)]
    parts = [*(_piece(each, chance) for each in (_HEADS, _SKILLS, _CONFIGS, _TASKS)), listed]
    if chance.random() < 0.3:
        chance.shuffle(parts)
    rows = _noted([row for part in parts for row in part], chance)
    if chance.random() < 0.2:
        rows.insert(0, "---")
    if chance.random() < 0.1:
        rows += ["---", "name: second", "trial: 1"]
    ending = chance.choice(["\n", "\n", "\r\n"])
    last = chance.choice(["", ending, ending * 2, f"{ending}# note 999", f"{ending}  # note 999{ending}"])
    return chance.choice(["", "", "", "\ufeff"]) + ending.join(rows) + last


def _piece(pieces: str, chance: random.Random) -> list[str]:
    piece = chance.choice(pieces.split("=\n"))
    return piece.replace("😀", _SMILE).replace("→", "\t").replace("·", " ").splitlines()


def _noted(rows: list[str], chance: random.Random) -> list[str]:
    """Return the lines with comments behind them and between them, and blanks at their ends."""
    density = chance.choice([0.0, 0.1, 0.5])
    found: list[str] = []
    for number, row in enumerate(rows, 1):
        if "¦" not in row:
            found.append(row)
            continue
        plain = row.replace("¦", "").rstrip() + chance.choice(["", "", "", "  "])
        if chance.random() < density / 2:
            found.append("")
        if chance.random() < density:
            margin = " " * chance.choice([0, len(row) - len(row.lstrip()), 6])
            found.append(f"{margin}# note {number}a {_SMILE}")
        if chance.random() < density:
            plain = f"{plain.rstrip()} # note {number}b: 'x"
        found.append(plain)
    return found
