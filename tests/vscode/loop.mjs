// Live verdicts in a real VS Code, without a run: an edit of a pattern changes its verdict, a hover explains it, a fix uses the record,
// and the trial opens. Each step takes screenshots for the animation of the documentation.
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
const SIZE = { width: 1000, height: 560 };
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
  staging: "Deployed to staging.",
  production: "Deployed to production.",
  rollback: "Deployed to staging again.",
};
for (const [id, words] of Object.entries(answers)) write(`tasks/${id}.yaml`, `id: ${id}\nname: Deploys, ${id}\ninputs:\n  prompt: "Say: ${words}"\n`);
const userSettings = {
  "workbench.colorTheme": options.theme === "light" ? "Default Light Modern" : "Default Dark Modern",
  "workbench.activityBar.location": "hidden",
  "workbench.layoutControl.enabled": false,
  "workbench.editor.editorActionsLocation": "hidden",
  "window.commandCenter": false,
  "window.menuBarVisibility": "hidden",
    "editor.hover.delay": 100,
  "waza.lens.more": false,
};

await play(scenario, { ...options, workspace, userSettings });

async function scenario(page) {
  const hasHint = async (line, pattern) => (await editor.hintsOn(page, line)).some((hint) => pattern.test(hint));
  const hintOn = (line, pattern) => editor.waitUntil(page, `${pattern} at "${line}"`, () => hasHint(line, pattern));
  const results = path.join(workspace, ".waza", "results");
  const records = () => (fs.existsSync(results) ? fs.readdirSync(results).filter((name) => name.endsWith(".json")) : []);
  const cancel = page.locator(".codelens-decoration a", { hasText: "Cancel" });
  const frames = new Frames(page, out);
  let recorded = [];
  await page.setViewportSize(SIZE);
  await showPointer(page);

  await step("the suite runs once", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await editor.command(page, "View: Close Primary Side Bar");
    // A single click: a second run would create a second record.
    await editor.clickLens(page, "Run suite", "a run", async () => (await cancel.count()) > 0 || fs.existsSync(results));
    await hintOn("name: says_where", /⚡.✓.3\/3/u);
    await editor.waitUntil(page, "the run to end", async () => (await cancel.count()) === 0);
    recorded = records();
    assert.equal(recorded.length, 1);
    await quiet(page);
    await frames.take(1_500);
  });

  await step("an edit of a pattern changes its hint without a run", async () => {
    const place = await editor.boxOf(page, PATTERN, PATTERN);
    await page.mouse.click(place.x + place.width / 2, place.y + place.height / 2);
    await page.keyboard.press("Home");
    for (let moved = 0; moved < "- '".length; moved += 1) await page.keyboard.press("ArrowRight");
    for (const letter of TYPED) {
      await page.keyboard.type(letter, { delay: 40 });
      await frames.take(90);
    }
    await editor.waitForLine(page, `${TYPED}${PATTERN}`);
    await hintOn("name: says_where", /⚡.✗.3.of.3.·.1\.00.→.0\.00/u);
    await hintOn("name: says_where", /✗/u);
    await frames.take(1_800);
  });

  const failing = `${TYPED}${PATTERN}`;

  await step("the hover shows the nearest match", async () => {
    const text = await editor.hover(page, failing, "deployed", /it.would.match/u, () => frames.take(3_500));
    assert.match(text, /3 of 3/u);
    assert.match(text, /upper and lower case/u);
    assert.match(text, /Deployed.to.(staging|production)/u);
  });

  await step("a fix from the record shows how many trials pass, and changes the hint back", async () => {
    const title = /Loosen the pattern, upper and lower case ignored .passes on 3 of 3 recorded trials, now 0.: /u;
    await editor.applyQuickFix(page, failing, "deployed", title, () => frames.take(2_500));
    await editor.waitForLine(page, `'(?i)${failing}'`);
    await hintOn("name: says_where", /⚡.✓.3\/3/u);
    await quiet(page);
    await frames.take(2_000);
    assert.deepEqual(records(), recorded, "the agent ran again");
  });

  const repaired = `(?i)${failing}`;
  const words = (glyph) => editor.waitUntil(page, `${glyph} behind the answer`, async () => (await afterText(page)).some((text) => text.startsWith(glyph)));

  await step("the hover opens the trial with its match marked", async () => {
    const link = page.locator(".monaco-hover a", { hasText: /Open.✓.production/u }).first();
    const follow = async () => {
      await editor.hover(page, repaired, "deployed", /Open.✓.production/u, async () => {
        const { x, y, width, height } = await link.boundingBox();
        await page.mouse.move(x + width / 2, y + height / 2, { steps: 4 });
        await frames.take(1_500);
        await link.click({ timeout: 5_000 });
      });
    };
    const tab = page.locator(".tab", { hasText: /production, trial 1/u }).first();
    await editor.repeatUntil(page, "the trial", follow, () => tab.isVisible());
    await words("✓");
    await quiet(page);
    await frames.take(3_500);
  });

  await step("the marks follow an edit", async () => {
    const place = await editor.boxOf(page, repaired, "deployed");
    await page.mouse.click(place.x + place.width / 2, place.y + place.height / 2);
    await page.keyboard.press("Control+Z");
    await editor.waitForLine(page, `'${failing}'`);
    await words("≈");
    await hintOn("name: says_where", /⚡.✗.3.of.3/u);
    assert.deepEqual(records(), recorded, "the agent ran again");
    await page.screenshot({ path: path.join(artifacts, "followed.png") });
  });

  await step("a selection in the trial becomes a grader with an immediate verdict", async () => {
    const offered = page.locator(".quick-input-list .monaco-list-row", { hasText: /the answer contains "Deployed".*in the suite.*passes on 3 of 3 recorded trials of 3 tasks/su });
    const ask = async () => {
      await page.keyboard.press("Escape");
      const { x, y, width, height } = await editor.boxOf(page, "Deployed to production.", "Deployed");
      await page.mouse.dblclick(x + width / 2, y + height / 2);
      await page.keyboard.press("Control+.");
    };
    await editor.repeatUntil(page, "the graders that it can become", ask, () => offered.isVisible());
    await page.screenshot({ path: path.join(artifacts, "offered.png") });
    const choose = async () => {
      if (!(await offered.isVisible())) await ask();
      await offered.click({ timeout: 5_000 });
    };
    await editor.repeatUntil(page, "the new grader", choose, async () => (await page.locator(".view-line", { hasText: "name: contains_deployed" }).count()) > 0);
    await editor.waitForLine(page, "name: contains_deployed");
    await hintOn("name: contains_deployed", /⚡.✓.3\/3/u);
    assert.deepEqual(records(), recorded, "the agent ran again");
    await page.screenshot({ path: path.join(artifacts, "made.png") });
  });

  await step("the walkthrough shows the animation", async () => {
    await page.setViewportSize({ width: 1900, height: 900 });
    await editor.command(page, "Welcome: Open Walkthrough...");
    const rows = page.locator(".quick-input-list .monaco-list-row", { hasText: /Waza|agent|eval/u });
    await rows.first().click();
    await page.locator(".getting-started-step", { hasText: "grade again" }).first().click();
    const inside = page.frameLocator("iframe.webview.ready").last().frameLocator("iframe#active-frame").locator("img").first();
    await editor.waitUntil(page, "the picture", () => inside.evaluate((image) => image.complete && image.naturalWidth > 500));
    await page.screenshot({ path: path.join(artifacts, "walkthrough.png") });
  });
}

/** Returns the texts that decorations show after lines. */
function afterText(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll(".editor-instance .view-line span[class*='ced-']")]
      .map((span) => getComputedStyle(span, "::after").content.replaceAll(/^"|"$/gu, "").replaceAll("\u00a0", " "))
      .filter((text) => text !== "none"),
  );
}

/** Clears notifications, moves the mouse away and waits until all popups are closed. */
async function quiet(page) {
  await editor.command(page, "Notifications: Clear All Notifications");
  const toasts = page.locator(".notification-toast");
  const popups = page.locator(".monaco-hover:visible, .quick-input-widget:visible").first();
  const leave = async () => {
    await page.mouse.move(8, 8);
    await page.mouse.move(5, 5);
    await page.keyboard.press("Escape");
  };
  await editor.repeatUntil(page, "everything to be quiet", leave, async () => (await toasts.count()) === 0 && !(await popups.isVisible()));
}

function write(name, text) {
  const file = path.join(workspace, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}
