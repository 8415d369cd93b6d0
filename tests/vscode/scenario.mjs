// A scenario: steps in its own workbench. On failure the message, a screenshot and all logs are in the artifacts folder.

import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as editor from "./editor.mjs";
import { installVSCodeUnderTest } from "./install.mjs";
import { openWorkbench, processesOf } from "./workbench.mjs";

const started = Date.now();
let going = "the start";

/**
 * Opens `workspace` with the extension and plays `scenario(page)`; the exit code is 0 if every step succeeded.
 *
 * @param options `vsix` and `artifacts`; `python`, the interpreter for the setting `waza.interpreter`; `environment`, variables that
 *   differ from those of this process; `userSettings`; `limit`, a timeout in milliseconds that reports the active step, shorter than
 *   that of the caller
 */
export async function play(scenario, { vsix, artifacts, workspace, python, environment, userSettings, limit = 280_000 }) {
  const run = path.join(path.resolve(artifacts), "home");
  fs.mkdirSync(run, { recursive: true });
  const workbench = await openWorkbench({
    tools: installVSCodeUnderTest(),
    run,
    workspace,
    vsix: path.resolve(vsix),
    machineSettings: python === undefined ? {} : { "waza.interpreter": path.resolve(python) },
    userSettings,
    environment,
    width: 1280,
    height: 1000,
  });
  try {
    await Promise.race([scenario(workbench.page), overdue(limit)]);
  } catch (error) {
    await workbench.page.screenshot({ path: path.join(artifacts, "failure.png"), timeout: 5_000 }).catch(() => {});
    fs.writeFileSync(path.join(artifacts, "failure.log"), workbench.logs());
    const notifications = await editor.notificationsSeen(workbench.page).catch(() => []);
    console.error(`${error.stack}\n\nNotifications: ${JSON.stringify(notifications)}\nScreenshot and all logs: ${artifacts}\n${workbench.logs(/Waza/)}`);
    process.exitCode = 1;
  } finally {
    await workbench.close();
  }
  if (processesOf(run).length > 0) {
    console.error(`Still running after the window was closed: ${processesOf(run).join(", ")}`);
    process.exitCode = 1;
  }
}

async function overdue(limit) {
  await sleep(limit - (Date.now() - started), undefined, { ref: false });
  throw new Error(`The scenario did not end within ${limit / 1000} s: it was at "${going}".`);
}

export async function step(name, action) {
  const begun = Date.now();
  going = name;
  try {
    await action();
  } catch (error) {
    error.message = `${name}: ${error.message}`;
    console.error(`not ok  ${name}`);
    throw error;
  }
  console.log(`ok  ${name} (${Date.now() - begun} ms, ${((Date.now() - started) / 1000).toFixed(1)} s)`);
}
