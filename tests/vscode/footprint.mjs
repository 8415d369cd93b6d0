// The costs of the extension: memory and idle CPU time of its processes, and the time from a key press to its frame.
//
//   node footprint.mjs --vsix FILE --artifacts FOLDER --suites 200 --graders 1000 --keys 50 --idle 20 [--python FILE]
//
// Without --python another extension is installed for comparison. The last line is JSON, in bytes and milliseconds.

import fs from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const TICK_MILLISECONDS = 10; // the kernel counts processor time in these
const IDLE_STRETCHES = 3; // the window that draws rests later than the host, with any extension: the stretch in the middle counts
const MARKER = "keyhere";
const { values: options } = parseArgs({
  options: Object.fromEntries(["vsix", "artifacts", "python", "suites", "graders", "keys", "idle"].map((name) => [name, { type: "string" }])),
});
const [suites, graders, keys, idle] = [options.suites, options.graders, options.keys, options.idle].map(Number);
const workspace = path.join(path.resolve(options.artifacts), "repository");
const config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n";
const grader = (name) => `  - type: text\n    name: ${name}\n    config:\n      contains:\n        - hello\n`;
for (let number = 1; number <= suites; number++) suite(`suites/s${String(number).padStart(3, "0")}`, "speaks", grader("speaks"));
const many = Array.from({ length: graders }, (_, at) => grader(at === Math.floor(graders / 2) ? MARKER : `grader-${at}`)).join("");
suite("big", "big", many);

await play(scenario, { ...options, workspace, userSettings: { "editor.wordBasedSuggestions": "off" }, limit: 880_000 });

async function scenario(page) {
  const found = {};

  await step("the large file and the Test Explorer open", async () => {
    await editor.openFile(page, "big/eval.yaml", "graders:");
    if (options.python === undefined) return; // without tests there is no such tree
    // First, while the file has the focus: VS Code does not request lenses for an editor that has just lost it.
    await page.locator(".codelens-decoration a", { hasText: "Run suite" }).first().waitFor();
    await editor.command(page, "Testing: Focus on Test Explorer View");
    await page.locator(".test-explorer .monaco-list-row").nth(10).waitFor();
  });

  await step("the cursor is in the middle of the file", async () => {
    const line = many.slice(0, many.indexOf(`name: ${MARKER}`)).split("\n").length + 7;
    const go = async () => {
      await page.locator(".editor-instance .view-line").first().click();
      await page.keyboard.press("Control+G");
      await page.locator(".quick-input-widget input:not([type=checkbox])").fill(`:${line}`);
      await page.keyboard.press("Enter");
    };
    await editor.repeatUntil(page, "the middle", go, () => page.locator(".editor-instance .view-line", { hasText: MARKER }).first().isVisible());
    const box = await editor.boxOf(page, MARKER, MARKER);
    await page.mouse.click(box.x + box.width - 2, box.y + box.height / 2);
    await page.keyboard.press("End");
  });

  await step("all processes are idle", () => settled());
  await step("measure while idle", async () => {
    found.idle = [];
    while (found.idle.length < IDLE_STRETCHES) {
      const before = processorTimes();
      await pause(idle * 1_000);
      found.idle.push(spent(before));
    }
  });
  await step("measure while typing", async () => {
    const before = processorTimes();
    found.keys = await timed(page);
    found.typing = spent(before);
  });
  await step("all processes are idle again", () => settled());
  found.memory = memory();
  console.log(JSON.stringify(found));
}

/** Returns the milliseconds from each key press to the frame that shows it. */
async function timed(page) {
  await page.evaluate((marker) => {
    const state = (window.keyTimes = { wanted: marker, pressed: 0, shown: undefined });
    const channel = new MessageChannel(); // its messages come when the frame is done
    channel.port1.onmessage = () => {
      state.shown ??= performance.now();
    };
    const isShown = () => [...document.querySelectorAll(".editor-instance .view-line")].some((line) => line.textContent.includes(state.wanted));
    new MutationObserver(() => {
      if (state.shown === undefined && isShown()) channel.port2.postMessage(0);
    }).observe(document.querySelector(".editor-instance .view-lines"), { subtree: true, childList: true, characterData: true });
    window.addEventListener("keydown", (event) => (state.pressed = event.timeStamp), { capture: true });
  }, MARKER);
  const times = [];
  while (times.length < keys) {
    await page.evaluate(() => {
      window.keyTimes.wanted += "q";
      window.keyTimes.shown = undefined;
    });
    await page.keyboard.press("q");
    await editor.waitUntil(page, "the key to be shown", () => page.evaluate(() => window.keyTimes.shown !== undefined));
    times.push(await page.evaluate(() => window.keyTimes.shown - window.keyTimes.pressed));
    await pause(100 + Math.random() * 60); // as fast as people type, at any moment of a frame
  }
  return times;
}

/** Waits until the extension host and its child processes are idle for two seconds. */
async function settled() {
  const deadline = Date.now() + 180_000;
  for (let quiet = 0; quiet < 2; ) {
    const before = processorTimes();
    await pause(2_000);
    const { host, below } = spent(before);
    quiet = host + below <= 60 ? quiet + 1 : 0;
    if (Date.now() > deadline) throw new Error(`It does not come to rest: ${host + below} ms of processor time in 2 s.`);
  }
}

/** Returns the CPU time since `before` in milliseconds: of the extension host, of its child processes, and of VS Code with its browser. */
function spent(before) {
  const sums = { host: 0, below: 0, all: 0 };
  for (const [pid, { kind, time }] of processorTimes()) {
    const since = time - (before.get(pid)?.time ?? 0);
    sums.all += since;
    if (kind !== "other") sums[kind] += since;
  }
  return sums;
}

function processorTimes() {
  return new Map(processes().map(({ pid, kind, stat }) => [pid, { kind, time: (Number(stat[11]) + Number(stat[12])) * TICK_MILLISECONDS }]));
}

/** Returns the proportional set size of processes, in bytes. */
function memory() {
  const sums = { host: 0, below: 0 };
  for (const { pid, kind } of processes()) {
    if (kind === "other") continue;
    try {
      const found = /^Pss:\s+(\d+) kB/mu.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"));
      sums[kind] += Number(found?.[1] ?? 0) * 1_024;
    } catch {
      // it has ended meanwhile
    }
  }
  return sums;
}

/** Returns all child processes with the fields of /proc/PID/stat after the name, and whether they belong to the extension host. */
function processes() {
  const all = new Map();
  for (const pid of fs.readdirSync("/proc").filter((entry) => /^\d+$/u.test(entry))) {
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /su, "").split(" ");
      const host = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=extensionHost");
      all.set(pid, { pid, parent: stat[1], stat, host });
    } catch {
      // it has ended meanwhile
    }
  }
  const isBelow = (each, wanted) => each !== undefined && (wanted(each) || isBelow(all.get(each.parent), wanted));
  const ours = [...all.values()].filter((each) => isBelow(all.get(each.parent), ({ pid }) => pid === String(process.pid)));
  const kindOf = (each) => (each.host ? "host" : isBelow(all.get(each.parent), ({ host }) => host) ? "below" : "other");
  return ours.map((each) => ({ ...each, kind: kindOf(each) }));
}

function suite(folder, name, graders) {
  const tasks = path.join(workspace, folder, "tasks");
  fs.mkdirSync(tasks, { recursive: true });
  fs.writeFileSync(path.join(workspace, folder, "eval.yaml"), `name: ${name}\nskill: greeter\n${config}tasks:\n  - tasks/*.yaml\ngraders:\n${graders}`);
  for (const id of ["one", "two"]) fs.writeFileSync(path.join(tasks, `${id}.yaml`), `id: ${id}\nname: ${id}\ninputs:\n  prompt: Say hello\n`);
}
