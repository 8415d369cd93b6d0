// The evals of a skill in a real VS Code: diagnostics, fixes, lenses and verdicts next to VS Code's own JSON support.
//
//   node evals.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, "csv");
fs.mkdirSync(path.join(workspace, "evals"), { recursive: true });
write("SKILL.md", "---\nname: csv\ndescription: Charts of CSV files.\n---\nDraw a chart.\n");
write(
  "evals/evals.json",
  `{
  "skill_name": "csv",
  "evals": [
    {
      "id": 1,
      "promt": "Name the total",
      "expected_output": "The total.",
      "assertions": [
        {"type": "content", "pattern": "tota[l]"},
        {"type": "must_not", "pattern": "Name"}
      ]
    }
  ]
}
`,
);
write(
  "evals/tea.eval.yaml",
  `name: tea
defaults: {executor: mock}
stimuli:
  - name: Brews tea
    prompt: Brew tea.
    constraints:
      max_tool_calls: 0
    graders:
      - type: output-contains
        name: says-tea
        config: {substring: tea}
`,
);
write("package.json", '{\n  "name": "charts",\n  "promt": 1,\n  "evals": [{"prompt": "a"}]\n}\n');

await play(scenario, { ...options, workspace });

async function scenario(page) {
  const hasHint = async (line, pattern) => (await editor.hintsOn(page, line)).some((hint) => pattern.test(hint));
  const hintOn = async (line, pattern) => editor.waitUntil(page, `${pattern} at "${line}"`, () => hasHint(line, pattern));
  const lenses = () => page.locator(".editor-instance .codelens-decoration a");

  await step("a misspelt key is underlined and repaired without other changes", async () => {
    const before = fs.readFileSync(path.join(workspace, "evals/evals.json"), "utf8");
    await editor.openFile(page, "evals.json", '"skill_name"');
    await editor.waitForSquiggle(page, '"promt": "Name', '"promt"');
    await page.screenshot({ path: path.join(artifacts, "mistake.png") });
    await editor.applyQuickFix(page, '"promt": "Name', '"promt"', "Change to `prompt`");
    await editor.waitForLine(page, '"prompt": "Name the total"');
    await page.keyboard.press("Control+S");
    const saved = () => fs.readFileSync(path.join(workspace, "evals/evals.json"), "utf8");
    await editor.waitUntil(page, "the saved file", () => saved() === before.replace("promt", "prompt"));
  });

  await step("a lens runs a case, and each assertion has a verdict", async () => {
    const isRun = () => hasHint('"id": 1', /✗/u);
    await editor.clickLens(page, "Run case", "a run of the case", isRun);
    await hintOn('"pattern": "tota', /^✓/u);
    await hintOn('"pattern": "Name"', /^✗/u);
    await page.screenshot({ path: path.join(artifacts, "verdicts.png") });
  });

  await step("the file is converted after a list of losses, and the new suite opens", async () => {
    await editor.applyQuickFix(page, '"skill_name"', '"skill_name"', "Convert to a Vally eval file");
    const question = page.locator(".monaco-dialog-box", { hasText: "1 part left out" });
    await question.waitFor();
    await page.screenshot({ path: path.join(artifacts, "losses.png") });
    if (fs.existsSync(path.join(workspace, "evals/converted-vally"))) throw new Error("It is written before the answer.");
    await question.locator(".monaco-button", { hasText: /^Convert$/u }).click();
    await editor.waitForLine(page, "stimuli:");
    await page.screenshot({ path: path.join(artifacts, "converted.png") });
  });

  await step("a lens runs a stimulus of Vally, and its grader and constraint have verdicts", async () => {
    await editor.openFile(page, "tea.eval.yaml", "name: tea");
    await editor.clickLens(page, "Run stimulus", "a run of the stimulus", () => hasHint("name: Brews tea", /^✓/u));
    await hintOn("name: says-tea", /✓/u); // of the run, or live
    await hintOn("max_tool_calls: 0", /✓/u);
    await page.screenshot({ path: path.join(artifacts, "vally.png") });
  });

  await step("JSON of another tool has neither problems nor lenses", async () => {
    await editor.openFile(page, "package.json", '"charts"');
    await page.waitForTimeout(3_000);
    if ((await editor.squigglesUnder(page, '"promt": 1', '"promt"')).length > 0) throw new Error("package.json has problems");
    if ((await lenses().count()) > 0) throw new Error("package.json has lenses");
  });
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
