// Evaluates JavaScript assertions for `code` graders; started once, used for many graders. It speaks the JSON lines that
// `evaluator.py` describes. One fresh `vm` context serves the assertions of one grader, so declarations persist among them and
// nowhere else; the value of the last statement counts. Replies are written through the descriptor, no name of Node.js is in
// a context, and what an error of Node.js itself leads to is frozen.
"use strict";

const fs = require("node:fs");
const vm = require("node:vm");

const ERROR_CHARACTERS = 500;
let deadlineSeconds;

for (const intrinsic of [Object, Function, Array, Error, TypeError, RangeError, Promise, String, Number, Boolean, RegExp, Map, Set]) {
  Object.freeze(intrinsic.prototype);
  Object.freeze(intrinsic);
}
Object.freeze(JSON);
// A promise that an assertion leaves behind rejected is no business of the next grader.
process.on("unhandledRejection", () => {});

let waiting = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  waiting += chunk;
  for (let end = waiting.indexOf("\n"); end >= 0; end = waiting.indexOf("\n")) {
    const line = waiting.slice(0, end);
    waiting = waiting.slice(end + 1);
    receive(JSON.parse(line));
  }
});
process.stdin.on("end", () => process.exit(0));

function receive(message) {
  if (message.assertions === undefined) {
    deadlineSeconds = message.deadline_seconds;
    return;
  }
  const context = freshContext(message.context);
  reply({ ready: true });
  for (const assertion of message.assertions) {
    reply(evaluate(assertion, context));
  }
}

function freshContext(data) {
  const context = vm.createContext(Object.assign(Object.create(null), { True: true, False: false }), { microtaskMode: "afterEvaluate" });
  vm.runInContext("globalThis.console = Object.freeze({ log() {}, info() {}, warn() {}, error() {}, debug() {} });", context);
  // Objects made outside would bring the outside's constructors along, so the data is made inside.
  vm.runInContext(`{ const data = JSON.parse(${JSON.stringify(JSON.stringify(data))}); Object.assign(globalThis, data); }`, context);
  return context;
}

function evaluate(assertion, context) {
  try {
    return { passed: Boolean(vm.runInContext(assertion, context, { timeout: deadlineSeconds * 1000 })), error: null };
  } catch (error) {
    if (error !== null && typeof error === "object" && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
      return { passed: false, error: `it took longer than ${deadlineSeconds} seconds`, timed_out: true };
    }
    return { passed: false, error: described(error).slice(0, ERROR_CHARACTERS), unusable: !isProgram(assertion) };
  }
}

function isProgram(text) {
  try {
    new vm.Script(text);
    return true;
  } catch {
    return false;
  }
}

function described(error) {
  try {
    return error !== null && typeof error === "object" && error.name ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return "an error that cannot be shown";
  }
}

function reply(message) {
  const line = Buffer.from(JSON.stringify(message) + "\n");
  for (let written = 0; written < line.length; ) {
    try {
      written += fs.writeSync(1, line, written);
    } catch (error) {
      if (error.code !== "EAGAIN") process.exit(1);
    }
  }
}
