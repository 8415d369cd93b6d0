// The loop without a run, in a real VS Code: a pattern is edited, its verdict flips; why; a fix from the record; the trial itself.
// Each step leaves what is on the screen: the animated picture of the documentation is made of that.
//
//   node loop.mjs --python FILE --vsix FILE --artifacts FOLDER [--theme dark|light] [--out FOLDER]

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { Frames, showPointer } from "./frames.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({
  options: {
    python: { type: "string" },
    vsix: { type: "string" },
    artifacts: { type: "string" },
    theme: { type: "string", default: "dark" },
    out: { type: "string" },
  },
});
const artifacts = path.resolve(options.artifacts);
const out = path.resolve(options.out ?? path.join(artifacts, "frames"));
const workspace = path.join(artifacts, "shop");
const SIZE = { width: 900, height: 560 };
const PATTERN = "(staging|production)";
const TYPED = "deployed to ";
write("skills/deployer/SKILL.md", "---\nname: deployer\ndescription: Deploys the shop, and says where it went.\n---\nDeploy, then say where.\n");
write("eval.yaml", `name: Deploying the shop
skill: deployer
config:
  trials_per_task: 1
  timeout_seconds: 60
  executor: mock
  model: none
tasks:
  - tasks/*.yaml
graders:
  - type: text
    name: says_where
    config:
      regex_match:
        - '${PATTERN}'
`);
const answers = {
  staging: "Deployed to staging in 41 s, all 12 checks passed.",
  production: "Deployed to production in 95 s, all 30 checks passed.",
  rollback: "One check failed. Deployed to staging again, the version of yesterday.",
};
for (const [id, words] of Object.entries(answers)) write(`tasks/${id}.yaml`, `id: ${id}\nname: Deploys, ${id}\ninputs:\n  prompt: "Say: ${words}"\n`);
const userSettings = {
  "workbench.colorTheme": options.theme === "light" ? "Default Light Modern" : "Default Dark Modern",
  "workbench.activityBar.location": "hidden",
  "workbench.layoutControl.enabled": false,
  "workbench.editor.editorActionsLocation": "hidden",
  "window.commandCenter": false,
  "window.menuBarVisibility": "hidden",
  "editor.fontSize": 14,
  "editor.hover.delay": 100,
  "waza.lens.more": false,
};

await play(scenario, { ...options, workspace, userSettings });

async function scenario(page) {
  const hasHint = async (line, pattern) => (await editor.hintsOn(page, line)).some((hint) => pattern.test(hint));
  const hintOn = (line, pattern) => editor.waitUntil(page, `${pattern} at "${line}"`, () => hasHint(line, pattern));
  const records = () => fs.readdirSync(path.join(workspace, ".waza", "results"));
  const frames = new Frames(page, out);
  let recorded = [];
  await page.setViewportSize(SIZE);
  await showPointer(page);

  await step("the suite runs once", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await editor.command(page, "View: Close Primary Side Bar");
    await editor.clickLens(page, "Run suite", "a run", () => hasHint("name: says_where", /✓/u));
    await hintOn("name: says_where", /⚡.✓.3\/3/u);
    recorded = records();
    await quiet(page);
    await frames.take(1_500);
  });

  await step("a pattern is edited, and its hint flips without a run", async () => {
    const place = await editor.boxOf(page, PATTERN, PATTERN);
    await page.mouse.click(place.x + place.width / 2, place.y + place.height / 2);
    await page.keyboard.press("Home");
    for (let moved = 0; moved < "- '".length; moved += 1) await page.keyboard.press("ArrowRight");
    for (const letter of TYPED) {
      await page.keyboard.type(letter, { delay: 40 });
      await frames.take(90);
    }
    await editor.waitForLine(page, `${TYPED}${PATTERN}`);
    await hintOn("name: says_where", /⚡.✗.0\/3.·.1\.00.→.0\.00/u);
    await hintOn("name: says_where", /✗/u);
    await frames.take(1_800);
  });

  const failing = `${TYPED}${PATTERN}`;

  await step("the hover shows the nearest match", async () => {
    const text = await editor.hover(page, failing, "deployed", /it.would.match/u, () => frames.take(3_500));
    assert.match(text, /0\/3/u);
    assert.match(text, /upper and lower case/u);
    assert.match(text, /Deployed.to.(staging|production)/u);
  });

  await step("a fix from the record says on how many trials it helps, and flips the hint back", async () => {
    const title = /Loosen the pattern, upper and lower case ignored .passes on 3 of 3 recorded trials, now 0.: /u;
    await editor.applyQuickFix(page, failing, "deployed", title, () => frames.take(2_500));
    await editor.waitForLine(page, `'(?i)${failing}'`);
    await hintOn("name: says_where", /⚡.✓.3\/3/u);
    await quiet(page);
    await frames.take(2_000);
    assert.deepEqual(records(), recorded, "the agent ran again");
  });

  await step("the trial itself is opened, with its match marked", async () => {
    await editor.command(page, "Waza: Open Result");
    const frame = page.frameLocator("iframe.webview.ready").last().frameLocator("iframe#active-frame");
    await frame.locator("h2", { hasText: "Deploys" }).first().waitFor();
    await quiet(page);
    await frames.take(3_500);
  });
}

/** Clears messages and waits until nothing pops up. */
async function quiet(page) {
  await editor.command(page, "Notifications: Clear All Notifications");
  await editor.waitUntil(page, "the notifications to go", async () => (await page.locator(".notification-toast").count()) === 0);
  const popups = page.locator(".monaco-hover:visible, .quick-input-widget:visible").first();
  await editor.waitUntil(page, "the popups to go", async () => !(await popups.isVisible()));
}

function write(name, text) {
  const file = path.join(workspace, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}
