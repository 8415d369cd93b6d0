// Evaluates JavaScript assertions for the `code` grader: one JSON request on standard input, one JSON line an assertion on
// standard output. One `vm` context serves all assertions of a grader, so declarations persist; the value of the last
// statement counts. Standard output is written through its descriptor, and no name of Node.js is in the context.
"use strict";

const fs = require("node:fs");
const vm = require("node:vm");

const ERROR_CHARACTERS = 500;
const request = JSON.parse(fs.readFileSync(0, "utf8"));
const sandbox = Object.assign(Object.create(null), { True: true, False: false });
const context = vm.createContext(sandbox, { microtaskMode: "afterEvaluate" });
vm.runInContext("globalThis.console = Object.freeze({ log() {}, info() {}, warn() {}, error() {}, debug() {} });", context);
// Objects made outside would bring the outside's constructors along, so the data is made inside.
vm.runInContext(
  `{ const data = JSON.parse(${JSON.stringify(JSON.stringify(request.context))}); Object.assign(globalThis, data); }`,
  context,
);

for (const assertion of request.assertions) {
  fs.writeSync(1, JSON.stringify(evaluate(assertion)) + "\n");
}
process.exit(0);

function evaluate(assertion) {
  try {
    return { passed: Boolean(vm.runInContext(assertion, context, { timeout: request.deadline_ms })), error: null, timed_out: false };
  } catch (error) {
    if (error !== null && typeof error === "object" && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
      return { passed: false, error: `it took longer than ${request.deadline_ms / 1000} seconds`, timed_out: true };
    }
    return { passed: false, error: described(error).slice(0, ERROR_CHARACTERS), timed_out: false };
  }
}

function described(error) {
  try {
    return error !== null && typeof error === "object" && error.name ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return "an error that cannot be shown";
  }
}
