// Runs a grader module: `node module_grader.mjs FILE` reads one JSON object from standard input, calls the module's `grade`
// with it and prints `{"result": …}`, or `{"fault": "load" | "call", "message": …}`. What the module itself prints goes to
// standard error, so a debug line does not spoil the answer. With `--serve` it answers one request a line, as
// waza_engine/processes/workers.py asks them, and the module is loaded once; a request without input only loads it.
// Graders that compare runs may also be exported as default or as `compare`: their last argument is `compare`.
import { readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [, , file, mode, kind] = process.argv;
const toErrors = (...values) => process.stderr.write(values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(" ") + "\n");
console.log = console.info = console.debug = toErrors;
process.stdout.write = process.stderr.write.bind(process.stderr);

function print(value) {
  const line = Buffer.from(JSON.stringify(value) + "\n");
  for (let written = 0; written < line.length; ) {
    try {
      written += writeSync(1, line, written);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

const said = (error) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));
const failedCall = (error) => ({ fault: "call", message: said(error) });
const reply = (answer) => print(mode === "--serve" ? { exit_code: 0, stdout: JSON.stringify(answer), stderr: "" } : answer);
let fail = (fault) => {
  reply(fault);
  process.exit(0);
};
process.on("uncaughtException", (error) => fail(failedCall(error)));
process.on("unhandledRejection", (error) => fail(failedCall(error)));
// Without anything left to wait for, a promise that never settles would end the process without a word.
process.on("beforeExit", () => fail(failedCall("`grade` never answered")));

async function loaded() {
  let module;
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    return { fault: "load", message: said(error) };
  }
  const others = kind === "compare" ? [module.default, module.compare] : [];
  const grade = [module.grade, module.default?.grade, ...others].find((each) => typeof each === "function");
  return typeof grade === "function" ? grade : { fault: "load", message: "it must export a function named `grade`" };
}

function answerTo(grade, input) {
  if (typeof grade !== "function" || input === undefined) return typeof grade === "function" ? { result: null } : grade;
  const answer = (async () => {
    const result = await grade(input);
    return { result: result === undefined ? null : result };
  })();
  return Promise.race([answer.catch(failedCall), new Promise((resolve) => (fail = resolve))]);
}

if (mode === "--serve") {
  let grade;
  let isFirst = true;
  for await (const line of createInterface({ input: process.stdin })) {
    if (isFirst) {
      isFirst = false;
      continue;
    }
    print({ ready: true });
    grade ??= await loaded();
    const { stdin } = JSON.parse(line);
    reply(await answerTo(grade, stdin === null ? undefined : JSON.parse(stdin)));
  }
} else {
  reply(await answerTo(await loaded(), JSON.parse(readFileSync(0, "utf8"))));
}
process.exit(0);
