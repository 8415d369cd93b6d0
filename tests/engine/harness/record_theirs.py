"""Record what agent-eval-harness itself answers: `python -m tests.engine.harness.record_theirs BUN CLI_TS`.

Its package on npm is `@plaited/agent-eval-harness`, whose `bin/cli.ts` runs under bun.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.engine.harness.scenarios import SCENARIOS

RECORDED = Path(__file__).with_name("theirs.json")


def main() -> None:
    """Run every scenario and write what was printed."""
    bun, program = sys.argv[1:]
    package = Path(program).parents[1]
    found = {}
    for name, scenario in SCENARIOS.items():
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
            errors = ended.stderr.replace(folder, "").replace(str(package), "").splitlines()[:3]
        found[name] = {"exit_code": ended.returncode, "output": output, "errors": errors}
    schemas = subprocess.run([bun, program, "schemas", "--json"], capture_output=True, text=True, check=True)
    document = {"scenarios": found, "schemas": json.loads(schemas.stdout)}
    RECORDED.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    main()
