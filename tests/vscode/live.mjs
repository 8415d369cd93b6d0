// A grader that is judged as it is typed, on the answers of the last run, in a real VS Code.
//
//   node live.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const workspace = path.join(path.resolve(options.artifacts), "greeter");
fs.mkdirSync(path.join(workspace, "tasks"), { recursive: true });
const config = "config: {trials_per_task: 2, timeout_seconds: 60, executor: mock, model: none}\n";
const graders = "graders:\n  - type: text\n    name: speaks\n    config:\n      regex_match:\n        - 'hello";
write("SKILL.md", "---\nname: greeter\ndescription: Greets.\n---\nGreet them.\n");
write("eval.yaml", `name: greeter\nskill: greeter\n${config}tasks:\n  - tasks/*.yaml\n${graders}'`);
write("tasks/good.yaml", "id: good\nname: Good\ninputs:\n  prompt: Say hello\n");

await play(scenario, { ...options, workspace });

async function scenario(page) {
  const hasHint = async (line, pattern) => (await editor.hintsOn(page, line)).some((hint) => pattern.test(hint));
  const hintOn = async (line, pattern) => editor.waitUntil(page, `${pattern} at "${line}"`, () => hasHint(line, pattern));
  const results = path.join(workspace, ".waza", "results");
  const records = () => (fs.existsSync(results) ? fs.readdirSync(results) : []);
  let recorded = 0;

  await step("the suite runs once", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await editor.clickLens(page, "Run suite", "a run", () => records().length > 0);
    await hintOn("name: speaks", /⚡.✓.2\/2/u);
    await editor.waitUntil(page, "the run to end", () => records().every((name) => name.endsWith(".json")));
    recorded = records().length;
  });

  await step("a pattern is edited, and its hint flips without a run", async () => {
    await page.keyboard.press("Escape");
    await editor.openFile(page, "eval.yaml", "graders:");
    await page.keyboard.press("Control+End");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.type(" nobody", { delay: 40 });
    await editor.waitForLine(page, "hello nobody");
    await hintOn("name: speaks", /⚡.✗.2.of.2.·.1\.00.→.0\.00/u);
    await page.screenshot({ path: path.join(path.resolve(options.artifacts), "live.png") });
  });

  await step("and back", async () => {
    for (let typed = 0; typed < " nobody".length; typed += 1) await page.keyboard.press("Backspace");
    await hintOn("name: speaks", /⚡.✓.2\/2/u);
    if (records().length !== recorded) throw new Error("the agent ran again");
  });
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
