// Bundles each test/*.test.ts with what it imports and runs them with Node's own test runner. VS Code is there as test/fake has it.
//
//   node scripts/test.mjs [FOLDER]    of another folder, such as test/installing, which takes minutes

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import esbuild from "esbuild";

const folder = process.argv[2] ?? "test";
const tests = fs.readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
await esbuild.build({
  entryPoints: tests.map((name) => `${folder}/${name}`),
  outdir: `out/${folder}`,
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  sourcemap: "inline",
  alias: { vscode: "./test/fake/vscode.ts", "vscode-languageclient/node": "./test/fake/languageclient.ts" },
  logLevel: "warning",
});
const files = tests.map((name) => `out/${folder}/${name.replace(/\.ts$/, ".js")}`);
process.exit(spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1);
