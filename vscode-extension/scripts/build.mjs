// Bundles the extension into out/extension.js.  node scripts/build.mjs [--watch]

import esbuild from "esbuild";

const options = {
  entryPoints: ["src/extension.ts"],
  outfile: "out/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  minify: true,
  sourcemap: true,
  legalComments: "linked",
  logLevel: "warning",
};

if (process.argv.includes("--watch")) {
  await (await esbuild.context(options)).watch();
} else {
  await esbuild.build(options);
}
