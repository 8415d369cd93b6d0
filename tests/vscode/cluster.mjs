// Runs on the workers of a cluster in a real VS Code: they are shown and cancelled like local runs.
//
//   node cluster.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, "greeter");
const config = (executor) => `config: {trials_per_task: 1, timeout_seconds: 600, ${executor}, model: none}\n`;
const graders = "graders:\n  - type: text\n    name: speaks\n    config:\n      contains:\n        - Say hello\n";
write("quick/eval.yaml", `name: quick\nskill: greeter\n${config("executor: mock")}tasks:\n  - tasks/*.yaml\n${graders}`);
write("quick/tasks/one.yaml", "id: one\nname: Greets once\ninputs:\n  prompt: Say hello\n");
write("quick/tasks/two.yaml", "id: two\nname: Greets twice\ninputs:\n  prompt: Say nothing\n");
write("slow/eval.yaml", `name: slow\nskill: greeter\n${config("executor: command, adapter: adapter.json")}tasks:\n  - tasks/*.yaml\n${graders}`);
write("slow/tasks/three.yaml", "id: three\nname: Waits\ninputs:\n  prompt: Say hello\n");
const asked = path.join(artifacts, "asked");
write("slow/agent.py", `import os, time\nopen(${JSON.stringify(asked)}, "a").write(f"{os.getpid()}\\n")\ntime.sleep(600)\n`);
write(
  "slow/adapter.json",
  JSON.stringify({ version: 1, name: "slow", command: [options.python, "agent.py"], sessionMode: "iterative", prompt: { stdin: true }, "x-waza": { output_mode: "text" } }),
);

await play(scenario, { ...options, workspace });

async function scenario(page) {
  const row = (text) => page.locator(".test-explorer .monaco-list-row", { hasText: text }).first();
  const hasHint = async (line, pattern) => (await editor.hintsOn(page, line)).some((hint) => pattern.test(hint));
  const hintOn = (line, pattern) => editor.waitUntil(page, `${pattern} at "${line}"`, () => hasHint(line, pattern));
  const lens = (text) => page.locator(".codelens-decoration a", { hasText: text }).first();
  const seen = {};

  for (const cluster of ["", "local:2"]) {
    const where = cluster === "" ? "threads" : cluster;

    await step(`${where}: the hints and the Test Explorer show the verdicts of a run`, async () => {
      write(".vscode/settings.json", JSON.stringify({ "waza.run.cluster": cluster }));
      await editor.openFile(page, "quick/eval.yaml", "name: quick");
      await editor.runByLens(page, "Run suite", path.join(workspace, "quick"));
      // While the run ends, the hint of the previous run is stale.
      await hintOn("name: quick", /^(?!.*stale).*1.of.2/u);
      const hints = await editor.hintsOn(page, "name: quick");
      await editor.command(page, "Testing: Focus on Test Explorer View");
      const expand = async () => {
        await row("quick").click();
        await page.keyboard.press("ArrowRight");
      };
      await editor.repeatUntil(page, "the tasks of the suite", expand, () => row("Greets once").isVisible());
      for (const [text, state] of [["Greets once", "passed"], ["Greets twice", "failed"], ["quick", "failed"]]) {
        await row(text).locator(`.codicon-testing-${state}-icon`).first().waitFor();
      }
      await editor.waitUntil(page, "the row of the suite to say so", async () => /1 of 2 tasks passed, 1 failed/u.test(await row("quick").innerText()));
      seen[where] = hints.join();
      await page.screenshot({ path: path.join(artifacts, `${where.replace(":", "-")}.png`) });
    });

    await step(`${where}: an active run is shown, and cancelling it ends its agent`, async () => {
      fs.rmSync(asked, { force: true });
      const before = results("slow").length;
      await editor.openFile(page, "slow/eval.yaml", "name: slow");
      await editor.clickLens(page, "Run suite", "the agent", () => Promise.resolve(fs.existsSync(asked)));
      await lens("Cancel").waitFor();
      await editor.openFile(page, "slow/tasks/three.yaml", "id: three");
      await hintOn("id: three", /⟳.running/u);
      await editor.openFile(page, "slow/eval.yaml", "name: slow");
      await lens("Cancel").waitFor();
      const clicked = Date.now();
      await lens("Cancel").click();
      await lens("Run suite").waitFor();
      console.log(`    ${where}: ended ${Date.now() - clicked} ms after the click`);
      const [agent] = fs.readFileSync(asked, "utf8").split("\n");
      await editor.waitUntil(page, "the end of the agent", () => Promise.resolve(!fs.existsSync(`/proc/${agent}`)));
      await hintOn("name: slow", /cancelled/u);
      if (results("slow").length !== before + 1) throw new Error("its results are not kept");
    });
  }

  await step("both views are equal", () => {
    if (seen["threads"] !== seen["local:2"]) throw new Error(`${seen["threads"]} is not ${seen["local:2"]}`);
  });
}

function results(suite) {
  const folder = path.join(workspace, suite, ".waza", "results");
  return fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
}

function write(name, text) {
  const file = path.join(workspace, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}
