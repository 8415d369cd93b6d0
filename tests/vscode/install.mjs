// Installs the dependencies of the end-to-end tests once per user: a VS Code server with its own Node, and Playwright.
//
// They are stored in the cache folder of the user, in a folder named after the lock file, so that only the first run takes a minute.
// The folder is filled under another name and then renamed, so it is complete or missing. Two installations at once would damage it:
// `test_real_vscode.py` runs one at a time.
//
//   node tests/vscode/install.mjs        prints the folder

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

// WAZA_VSCODE_UNDER_TEST=oldest uses the oldest supported version instead of the newest.
const OLDEST = process.env.WAZA_VSCODE_UNDER_TEST === "oldest";
const HERE = path.join(path.dirname(fileURLToPath(import.meta.url)), OLDEST ? "oldest" : "");
const MANIFESTS = ["package.json", "package-lock.json", ".npmrc"];

// The browser needs a font.
const DEBIAN_PACKAGES = ["chromium", "fonts-dejavu-core", ...(OLDEST ? ["ripgrep"] : [])];
const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Installs missing parts; returns the absolute paths `{node, codeServer, playwright, browser}`. */
export function installVSCodeUnderTest({ log = (line) => process.stderr.write(`${line}\n`) } = {}) {
  if (process.platform !== "linux" || !["x64", "arm64"].includes(process.arch)) {
    throw new Error(`The VS Code under test exists for Linux on x64 and arm64, not for ${process.platform}-${process.arch}.`);
  }
  const folder = cacheFolder();
  installSystemPackages(log);
  if (!isComplete(folder)) fill(folder, log);
  return { ...contents(folder), browser: findBrowser() };
}

/** `<cache>/waza-language-server/vscode-under-test/<digest of the lock file and the platform>`. */
export function cacheFolder() {
  const digest = createHash("sha256");
  for (const name of MANIFESTS) digest.update(fs.readFileSync(path.join(HERE, name)));
  digest.update(`${process.platform}-${process.arch}`);
  const base = process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");
  return path.join(base, "waza-language-server", "vscode-under-test", digest.digest("hex").slice(0, 16));
}

function contents(folder) {
  const modules = path.join(folder, "node_modules");
  return {
    folder,
    node: path.join(modules, `node-linux-${process.arch}`, "bin", "node"),
    codeServer: path.join(modules, "code-server", "out", "node", "entry.js"),
    playwright: path.join(modules, "playwright-core"),
  };
}

function isComplete(folder) {
  return fs.existsSync(path.join(folder, "complete"));
}

function fill(folder, log) {
  log(`Installing the VS Code under test into ${folder} (once, about a minute) …`);
  const started = Date.now();
  const work = `${folder}.partial`;
  fs.rmSync(work, { recursive: true, force: true });
  fs.mkdirSync(work, { recursive: true });
  for (const name of MANIFESTS) fs.copyFileSync(path.join(HERE, name), path.join(work, name));

  // Without scripts: most of them compile parts for minutes that are not needed here (terminals, sign-in).
  const options = ["--ignore-scripts", "--no-audit", "--no-fund"];
  if (OLDEST) options.push("--legacy-peer-deps"); // its extensions name peers that no longer agree
  run("npm", ["ci", ...options], work);
  const code = path.join(work, "node_modules", "code-server", "lib", "vscode");
  for (const place of [code, path.join(code, "extensions")]) {
    run("npm", ["install", "--omit=dev", ...options], place);
  }
  if (OLDEST) {
    // It starts no extensions without these two modules, which a C++ compiler builds.
    run("npm", ["rebuild", "native-watchdog", "@vscode/spdlog"], code);
    // File search needs a program that an install script would download.
    const ripgrep = path.join(code, "node_modules", "@vscode", "ripgrep", "bin");
    fs.mkdirSync(ripgrep, { recursive: true });
    fs.symlinkSync(find("rg") ?? fail("ripgrep is not on PATH."), path.join(ripgrep, "rg"));
  }

  fs.writeFileSync(path.join(work, "complete"), new Date().toISOString());
  fs.rmSync(folder, { recursive: true, force: true });
  fs.renameSync(work, folder);
  log(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

function installSystemPackages(log) {
  if (findBrowser({ optional: true }) && (!OLDEST || find("rg"))) return;
  if (!find("dpkg-query")) {
    findBrowser();
    return; // it has said what is missing
  }
  const missing = DEBIAN_PACKAGES.filter((name) => {
    const state = spawnSync("dpkg-query", ["-W", "-f=${db:Status-Status}", name], { encoding: "utf8" });
    return state.stdout !== "installed";
  });
  if (missing.length === 0) return;
  if (process.getuid() !== 0) {
    fail(`The test in a real VS Code needs these packages: sudo apt-get install ${missing.join(" ")}`);
  }
  log(`Installing ${missing.join(", ")} with apt-get …`);
  const apt = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const waiting = ["-o", "DPkg::Lock::Timeout=300"]; // other tests may be installing their editors
  const install = ["install", "-y", "-qq", "--no-install-recommends", ...waiting, ...missing];
  if (spawnSync("apt-get", install, { env: apt, stdio: ["ignore", "ignore", "ignore"] }).status !== 0) {
    run("apt-get", ["update", "-qq"], "/", apt); // the package lists were absent or old
    run("apt-get", install, "/", apt);
  }
}

function findBrowser({ optional = false } = {}) {
  const named = process.env.WAZA_CHROMIUM;
  if (named) return fs.existsSync(named) ? named : fail(`WAZA_CHROMIUM names ${named}, which does not exist.`);
  for (const name of BROWSERS) {
    const found = find(name);
    if (found) return found;
  }
  return optional ? undefined : fail("No Chromium on PATH; install chromium or name one in WAZA_CHROMIUM.");
}

function find(command) {
  for (const folder of (process.env.PATH ?? "").split(path.delimiter)) {
    const candidate = path.join(folder, command);
    if (folder && fs.existsSync(candidate)) return candidate;
  }
  return undefined;
}

function run(command, args, cwd, env = process.env) {
  const done = spawnSync(command, args, { cwd, env, encoding: "utf8", maxBuffer: 64 << 20 });
  if (done.status === 0) return;
  const output = `${done.stdout ?? ""}${done.stderr ?? ""}${done.error ?? ""}`.split("\n").slice(-60).join("\n");
  fail(`\`${command} ${args.join(" ")}\` failed in ${cwd} (exit ${done.status}):\n${output}`);
}

function fail(message) {
  throw new Error(message);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.stdout.write(`${installVSCodeUnderTest().folder}\n`);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
