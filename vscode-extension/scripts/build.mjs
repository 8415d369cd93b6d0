// Bundles the extension into out/extension.js, and the licences of what is bundled into out/THIRD_PARTY_NOTICES.txt.
// Copies the picture of the walkthrough: images of the README are shown from the web alone, those of a walkthrough out of the package.
//
//   node scripts/build.mjs [--watch]

import fs from "node:fs";
import path from "node:path";
import esbuild from "esbuild";

// The memory of the extension host is everybody's. `import * as vscode` makes esbuild copy the whole of VS Code's API, a getter for each
// name, once for each file; and a text with one character that is not Latin-1 takes two bytes for each of its characters.
const sharedApi = {
  name: "shared-api",
  setup({ onLoad, onEnd }) {
    onLoad({ filter: /[\\/]src[\\/][^.]+\.ts$/ }, ({ path: file }) => {
      const source = fs.readFileSync(file, "utf8");
      return { contents: source.replace('import * as vscode from "vscode";', 'import vscode = require("vscode");'), loader: "ts" };
    });
    onEnd(() => {
      const wide = /[^\0-\x7f]/u.exec(fs.readFileSync(options.outfile, "utf8"));
      return { errors: wide === null ? [] : [{ text: `Write ${wide[0]} as an escape where esbuild leaves it, as in patterns.` }] };
    });
  },
};

const options = {
  entryPoints: ["src/extension.ts"],
  outfile: "out/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  minify: true,
  sourcemap: process.argv.includes("--watch"), // the package has no map
  metafile: true,
  plugins: [sharedApi],
  logLevel: "warning",
};

fs.mkdirSync("out", { recursive: true });
fs.rmSync(`${options.outfile}.map`, { force: true });
fs.copyFileSync("../docs/images/loop-dark.png", "out/loop.png");

if (process.argv.includes("--watch")) {
  await (await esbuild.context(options)).watch();
} else {
  const { metafile } = await esbuild.build(options);
  fs.writeFileSync("out/THIRD_PARTY_NOTICES.txt", notices(Object.keys(metafile.inputs)));
}

function notices(files) {
  const packages = new Set(files.map((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]).filter(Boolean));
  return [...packages].sort().map(noticeOf).join(`\n${"-".repeat(80)}\n`);
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  const file = fs.readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? fs.readFileSync(path.join(folder, file), "utf8") : `Licence: ${license}\n`;
  return `${name} ${version}\n\n${text}`;
}
