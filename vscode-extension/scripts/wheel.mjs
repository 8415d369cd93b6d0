// Builds the Python wheel of this repository into bundled/, for the private environment, with what that installs besides.
//
// Needs no network when the Python named by PYTHON has hatchling; pip then fetches no build backend. It needs the packages of
// requirements.lock in any case: of these it is known what each needs itself.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const extension = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const repository = path.dirname(extension);
const bundled = path.join(extension, "bundled");

const python = absolute(process.env.PYTHON) ?? repositoryPython() ?? (process.platform === "win32" ? "python" : "python3");
const offline = spawnSync(python, ["-c", "import hatchling, pip"], { stdio: "ignore" }).status === 0;

fs.rmSync(bundled, { recursive: true, force: true });
fs.mkdirSync(bundled);
const args = ["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", bundled];
const built = spawnSync(python, [...args, ...(offline ? ["--no-build-isolation"] : []), repository], { stdio: "inherit" });
if (built.status !== 0) {
  console.error(`Building the wheel with ${python} failed; PYTHON names another Python 3.11 or newer with pip.`);
  process.exit(1);
}
const pinned = spawnSync(python, [path.join(extension, "scripts", "requirements.py"), bundled], { stdio: "inherit" });
if (pinned.status !== 0) {
  process.exit(1);
}
console.log(`bundled/${fs.readdirSync(bundled).join(", ")}`);

/** `name` as it is meant in the caller's folder, which npm has changed to the extension's. */
function absolute(name) {
  if (!name) return undefined;
  return name.includes("/") || name.includes(path.sep) ? path.resolve(name) : name;
}

function repositoryPython() {
  const layouts = [path.join("bin", "python"), path.join("Scripts", "python.exe")];
  return layouts.map((layout) => path.join(repository, ".venv", layout)).find((file) => fs.existsSync(file));
}
