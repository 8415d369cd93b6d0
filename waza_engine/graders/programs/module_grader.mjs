// Runs a grader module: `node module_grader.mjs FILE` reads one JSON object from standard input, calls the module's `grade`
// with it and prints `{"result": …}`, or `{"fault": "load" | "call", "message": …}`. What the module itself prints goes to
// standard error, so a debug line does not spoil the answer.
import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const toErrors = (...values) => process.stderr.write(values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(" ") + "\n");
console.log = console.info = console.debug = toErrors;
process.stdout.write = process.stderr.write.bind(process.stderr);

function answer(value) {
  const line = Buffer.from(JSON.stringify(value) + "\n");
  for (let written = 0; written < line.length; ) {
    try {
      written += writeSync(1, line, written);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
  process.exit(0);
}

const said = (error) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));
const input = JSON.parse(readFileSync(0, "utf8"));
let module;
try {
  module = await import(pathToFileURL(process.argv[2]).href);
} catch (error) {
  answer({ fault: "load", message: said(error) });
}
const grade = typeof module.grade === "function" ? module.grade : module.default?.grade;
if (typeof grade !== "function") {
  answer({ fault: "load", message: "it must export a function named `grade`" });
}
process.on("uncaughtException", (error) => answer({ fault: "call", message: said(error) }));
process.on("unhandledRejection", (error) => answer({ fault: "call", message: said(error) }));
// Without anything left to wait for, a promise that never settles would end the process without a word.
process.on("beforeExit", () => answer({ fault: "call", message: "`grade` never answered" }));
try {
  const result = await grade(input);
  answer({ result: result === undefined ? null : result });
} catch (error) {
  answer({ fault: "call", message: said(error) });
}
