"""Record what agent-eval-harness itself answers: `python -m tests.engine.harness.record_theirs BUN CLI_TS`.

Its package on npm is `@plaited/agent-eval-harness`, whose `bin/cli.ts` runs under bun.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.engine.harness.generated import COUNT, generated
from tests.engine.harness.scenarios import SCENARIOS, Scenario, without_times

RECORDED = Path(__file__).with_name("theirs.json")
GENERATED = Path(__file__).with_name("theirs_generated.jsonl")


def main() -> None:
    """Run every scenario and every generated suite, and write what was printed."""
    bun, program = sys.argv[1:]
    found = {name: _answer(scenario, bun, program) for name, scenario in SCENARIOS.items()}
    suites = [_answer(generated(number), bun, program) for number in range(COUNT)]
    write_rows(GENERATED, [rows_of(each["output"]) for each in suites])
    schemas = subprocess.run([bun, program, "schemas", "--json"], capture_output=True, text=True, check=True)
    document = {"scenarios": found, "schemas": json.loads(schemas.stdout)}
    RECORDED.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")


def _answer(scenario: Scenario, bun: str, program: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        scenario.write(Path(folder), python="python3")
        ended = subprocess.run(
            [bun, program, *scenario.arguments(Path(folder))],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        output = (Path(folder) / scenario.output).read_text("utf-8") if scenario.output else ended.stdout
        package = str(Path(program).parents[1])
        errors = ended.stderr.replace(folder, "").replace(package, "").splitlines()[:3]
    return {"exit_code": ended.returncode, "output": output, "errors": errors}


def rows_of(output: str) -> Any:
    """Return printed rows without times, in the order of their ids: theirs is that of their ends."""
    return without_times(sorted(map(json.loads, output.splitlines()), key=lambda row: row["id"]))


def write_rows(path: Path, suites: list[Any]) -> None:
    """Write the rows of the generated suites, a suite a line."""
    written = (json.dumps(rows, ensure_ascii=False, separators=(",", ":")) for rows in suites)
    path.write_text("".join(f"{line}\n" for line in written), "utf-8")


if __name__ == "__main__":
    main()
