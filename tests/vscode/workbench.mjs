// A real VS Code in a headless browser, with its own home, settings and extensions.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { installVSCodeUnderTest } from "./install.mjs";

/** The default timeout of a page in milliseconds: a busy machine draws late. */
export const PATIENCE = 60_000;

const USER_SETTINGS = {
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "chat.disableAIFeatures": true,
  "extensions.autoUpdate": "off",
  "extensions.ignoreRecommendations": true,
  "files.autoSave": "off", // on in a browser unless switched off; saving before a run must be the extension's work
  "git.enabled": false,
  "window.restoreWindows": "none",
  "workbench.startupEditor": "none",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.reduceMotion": "on",
  "workbench.tips.enabled": false,
  "workbench.colorTheme": "Default Dark Modern",
  "editor.minimap.enabled": false,
  "editor.fontFamily": "DejaVu Sans Mono",
  "editor.fontSize": 13,
  "breadcrumbs.enabled": false,
  "testing.automaticallyOpenPeekView": "never", // older ones open the file that failed
};

const BROWSER_ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
];

/**
 * Opens `workspace`, a folder or a `.code-workspace` file with several, in a window of `width` x `height` pixels.
 *
 * @param tools what install.mjs returns
 * @param run an empty folder: home of the user, settings, logs; every process started here has it as HOME
 * @param vsix the extension: its package, or a folder of installed extensions
 * @param machineSettings settings of the machine, such as interpreter paths (a browser window counts as remote)
 * @param userSettings user settings that override those above
 * @param environment variables that differ from those of this process
 * @returns `{page, logs(wanted?), close()}`; `wanted` is a pattern on the name of a log
 */
export async function openWorkbench({ tools, run, workspace, vsix, machineSettings, userSettings, environment: changes, width, height }) {
  writeJson(path.join(run, "data", "User", "settings.json"), { ...USER_SETTINGS, ...userSettings });
  writeJson(path.join(run, "data", "Machine", "settings.json"), machineSettings);
  const installed = fs.statSync(vsix).isDirectory() ? vsix : installExtension(tools, vsix, run);
  const server = startServer(tools, foldersIn(run, installed), workspace, { ...environmentIn(run), ...changes });
  let browser;
  const messages = [];
  const close = async () => {
    await browser?.close().catch(() => {});
    await endProcesses(server.child, run);
  };
  const everything = () => [`--- code-server\n${server.output()}`, `--- browser\n${messages.join("\n")}`, ...logFiles(run)];
  const logs = (wanted = /^/) => everything().filter((log) => wanted.test(log.split("\n", 1)[0])).join("\n");
  try {
    const address = await server.address();
    const { chromium } = createRequire(import.meta.url)(tools.playwright);
    browser = await chromium.launch({ executablePath: tools.browser, headless: true, args: BROWSER_ARGUMENTS });
    const page = await browser.newPage({ viewport: { width, height } });
    page.setDefaultTimeout(PATIENCE);
    page.on("console", (message) => messages.push(`${message.type()}: ${message.text()}`));
    const kind = workspace.endsWith(".code-workspace") ? "workspace" : "folder";
    await page.goto(`${address}/?${kind}=${encodeURIComponent(workspace)}`);
    await page.locator(".monaco-workbench .part.statusbar").waitFor({ timeout: 60_000 });
    return { page, logs, close };
  } catch (error) {
    error.message += `\n${logs()}`;
    await close();
    throw error;
  }
}

/** Returns the running processes that were started for `run`: each has it as HOME. */
export function processesOf(run, words = []) {
  const marker = `HOME=${run}\0`;
  return fs.readdirSync("/proc").filter((entry) => {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) return false;
    try {
      if (!`${fs.readFileSync(`/proc/${entry}/environ`, "latin1")}\0`.includes(marker)) return false;
      const command = fs.readFileSync(`/proc/${entry}/cmdline`, "latin1");
      return words.every((word) => command.includes(word));
    } catch {
      return false; // it ended meanwhile, or belongs to somebody else
    }
  });
}

/** Installs a package below `run`; returns the folder of extensions, which several windows may use. */
function installExtension(tools, vsix, run) {
  const extensions = path.join(run, "extensions");
  const args = [tools.codeServer, ...foldersIn(run, extensions), "--install-extension", vsix];
  const done = spawnSync(tools.node, args, { env: environmentIn(run), encoding: "utf8", timeout: 60_000 });
  if (done.status !== 0) throw new Error(`Installing ${vsix} failed:\n${done.stdout}${done.stderr}`);
  return extensions;
}

function foldersIn(run, extensions) {
  const config = path.join(run, "config.yaml");
  fs.writeFileSync(config, "");
  return ["--config", config, "--user-data-dir", path.join(run, "data"), "--extensions-dir", extensions];
}

function environmentIn(run) {
  const environment = { ...process.env, HOME: run, EXTENSIONS_GALLERY: "{}" };
  delete environment.VSCODE_IPC_HOOK_CLI; // set in a terminal of VS Code, where it would redirect all this there
  return environment;
}

function startServer(tools, folders, workspace, environment) {
  const args = [tools.codeServer, ...folders, "--auth", "none", "--disable-telemetry", "--disable-update-check"];
  args.push("--disable-getting-started-override", "--bind-addr", "127.0.0.1:0", workspace);
  const child = spawn(tools.node, args, { env: environment, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const listening = new Promise((resolve, reject) => {
    const read = (data) => {
      text += data;
      const found = /HTTP server listening on (http:\/\/[\d.:]+)/.exec(text);
      if (found) resolve(found[1]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => reject(new Error(`code-server ended with exit code ${code}:\n${text}`)));
  });
  listening.catch(() => {}); // it is awaited below; an exit after that is the close
  return { child, output: () => text, address: () => withDeadline(listening, 30_000, "code-server did not start to listen") };
}

/** Ends the process group of `child`, and processes that have left it. */
async function endProcesses(child, run) {
  if (child.exitCode === null) {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    signal(-child.pid, "SIGTERM");
    await Promise.race([ended, pause(5_000, undefined, { ref: false })]);
  }
  signal(-child.pid, "SIGKILL");
  for (const pid of processesOf(run)) signal(Number(pid), "SIGKILL");
  // Killed processes end a moment later.
  for (let waited = 0; processesOf(run).length > 0 && waited < 10_000; waited += 50) await pause(50);
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // already gone
  }
}

function logFiles(run) {
  const root = path.join(run, "data", "logs");
  if (!fs.existsSync(root)) return [];
  const wanted = fs.readdirSync(root, { recursive: true }).filter((name) => /(exthost|Waza).*\.log$/.test(name));
  return wanted.map((name) => `--- ${name}\n${fs.readFileSync(path.join(root, name), "utf8").slice(-8_000)}`);
}

function writeJson(file, value) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, JSON.stringify(value, null, 2));
}

async function withDeadline(promise, milliseconds, message) {
  const late = pause(milliseconds, undefined, { ref: false }).then(() => {
    throw new Error(`${message} within ${milliseconds / 1000} s`);
  });
  return Promise.race([promise, late]);
}

// node workbench.mjs FILE FOLDER installs a package below a folder, for several windows
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [vsix, folder] = process.argv.slice(2);
  process.stdout.write(`${installExtension(installVSCodeUnderTest(), vsix, folder)}\n`);
}
