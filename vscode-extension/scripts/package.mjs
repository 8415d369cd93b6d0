// Packages the extension as a .vsix, with the wheel of the server. Version and addresses of the manifest are those of the Python
// package: they are written into package.json first, so that they have one home.
//
//   node scripts/package.mjs [OPTIONS OF VSCE]

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";

const [, repository] = /^Repository = "(.+)"$/m.exec(fs.readFileSync("../pyproject.toml", "utf8"));
const [, version] = /^__version__ = "(.+)"$/m.exec(fs.readFileSync("../waza_engine/version.py", "utf8"));

const written = fs.readFileSync("package.json", "utf8");
const manifest = JSON.parse(written);
Object.assign(manifest, {
  version,
  repository: { type: "git", url: `${repository}.git`, directory: "vscode-extension" },
  homepage: `${repository}#readme`,
  bugs: { url: `${repository}/issues` },
});
const text = `${JSON.stringify(manifest, null, 2)}\n`;
if (text !== written) fs.writeFileSync("package.json", text);

fs.copyFileSync("../CHANGELOG.md", "CHANGELOG.md");
run("scripts/build.mjs");
run("scripts/wheel.mjs");
const addresses = ["--baseContentUrl", `${repository}/blob/HEAD/vscode-extension`, "--baseImagesUrl", `${repository}/raw/HEAD/vscode-extension`];
run(createRequire(import.meta.url).resolve("@vscode/vsce/vsce"), "package", "--no-dependencies", ...addresses, ...process.argv.slice(2));

function run(...command) {
  const { status } = spawnSync(process.execPath, command, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
