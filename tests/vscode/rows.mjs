// Files of agent-eval-harness in a real VS Code: the prompts of a suite, their adapter and grader, and captures.
//
//   node rows.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, "sums");
fs.mkdirSync(path.join(workspace, "graders"), { recursive: true });
write(
  "eval.yaml",
  `name: sums
skill: sums
config:
  executor: command
  adapter: adapter.json
  model: none
  trials_per_task: 1
  timeout_seconds: 30
graders:
  - type: inline
    name: has_hint
    config:
      grader: graders/hint.py
tasks_from: prompts.jsonl
`,
);
const PROMPTS = '{"id": "😀-add", "input": "Add",   "expected": "4"}\r\n\r\n{"id": "say", "input": "Say", "hint": "hello"}\r\n';
write("prompts.jsonl", PROMPTS);
write(
  "adapter.json",
  JSON.stringify({
    version: 1,
    name: "script",
    command: [path.resolve(options.python), path.join(workspace, "agent.py")],
    sessionMode: "iterative",
    prompt: { stdin: true },
    "x-waza": { output_mode: "text" },
  }),
);
write("agent.py", 'import sys\nprint("It is 4" if sys.stdin.read().strip() == "Add" else "I refuse")\n');
write(
  "graders/hint.py",
  `import json, sys
given = json.load(sys.stdin)
passed = (given.get("hint") or "") in given["output"]
print(json.dumps({"pass": passed, "score": float(passed), "reasoning": "looked for the hint"}))
`,
);
write(
  "results.jsonl",
  ["It is 4", "I refuse"]
    .map((output, number) => {
      const timing = { start: 1, end: 2, sessionCreation: 0, total: 1 };
      const score = { pass: number === 0, score: number === 0 ? 1 : 0.25, reasoning: "looked for the hint" };
      return `${JSON.stringify({ id: `r${number}`, input: "Add", output, hint: "4", trajectory: [], metadata: {}, timing, toolErrors: false, score })}\n`;
    })
    .join(""),
);
write("train.jsonl", '{"messages": [], "expected": "4"}\n{"id": "a" "input": 3}\n');

await play(scenario, { ...options, workspace });

async function scenario(page) {
  const hasHint = async (line, pattern) => (await editor.hintsOn(page, line)).some((hint) => pattern.test(hint));
  const hintOn = async (line, pattern) => editor.waitUntil(page, `${pattern} at "${line}"`, () => hasHint(line, pattern));
  const read = (name) => fs.readFileSync(path.join(workspace, name), "utf8");

  await step("a misspelt key of a prompt is underlined and repaired without other changes", async () => {
    await editor.openFile(page, "prompts.jsonl", '"id": "say"');
    await editor.waitForSquiggle(page, '"expected"', '"expected"');
    await page.screenshot({ path: path.join(artifacts, "mistake.png") });
    await editor.applyQuickFix(page, '"expected"', '"expected"', "Change to `hint`");
    await editor.waitForLine(page, '"hint": "4"');
    await page.keyboard.press("Control+S");
    await editor.waitUntil(page, "the saved file", () => read("prompts.jsonl") === PROMPTS.replace("expected", "hint"));
    await editor.waitForNoSquiggle(page, '"hint": "4"', '"hint"');
  });

  await step("the lens of a prompt runs the agent of the suite, and the line shows the result", async () => {
    await editor.clickLens(page, "Run task", "a run of the prompt", () => hasHint('"id": "😀-add"', /✓/u));
    await page.screenshot({ path: path.join(artifacts, "verdict.png") });
    if (await hasHint('"id": "say"', /[✓✗]/u)) throw new Error("The other prompt has a result, too.");
  });

  await step("captures show their verdicts, and a re-grade writes a new file", async () => {
    await editor.openFile(page, "results.jsonl", '"id":"r0"');
    await hintOn('"id":"r0"', /✓ 1\.00/u);
    await hintOn('"id":"r1"', /✗ 0\.25/u);
    await page.locator(".codelens-decoration a", { hasText: "Calibrate 1 failure" }).waitFor();
    await page.screenshot({ path: path.join(artifacts, "captures.png") });
    const before = read("results.jsonl");
    await editor.clickLens(page, "Grade again", "the graded captures", () => fs.existsSync(path.join(workspace, "results.graded.jsonl")));
    await hintOn('"id": "r1"', /✗ 0\.00/u);
    if (read("results.jsonl") !== before) throw new Error("The captures were changed.");
  });

  await step("JSON Lines of another tool have neither problems nor lenses", async () => {
    await editor.openFile(page, "train.jsonl", '"messages"');
    await page.waitForTimeout(2_000);
    if ((await page.locator(".editor-instance [class*='squiggly-']").count()) > 0) throw new Error("train.jsonl has problems");
    if ((await page.locator(".editor-instance .codelens-decoration a").count()) > 0) throw new Error("train.jsonl has lenses");
  });
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
