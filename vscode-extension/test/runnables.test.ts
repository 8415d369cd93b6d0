import assert from "node:assert/strict";
import { test } from "node:test";
import { runnableAt, type Runnable } from "../src/runnables";

const suite = "/suites/deploy/eval.yaml";

function runnable(kind: Runnable["kind"], id: string, line: number, parent: string | null): Runnable {
    const start = { line, character: 0 };
    return { id, kind, label: id, range: { start, end: start }, parent };
}

const evalFile = [
    runnable("suite", suite, 0, null),
    runnable("grader", `${suite}::::short`, 4, suite),
    runnable("task", `${suite}::one`, 8, suite),
];

void test("the runnable at the cursor is the nearest above it", () => {
    assert.equal(runnableAt(evalFile, "cursor", 5), `${suite}::::short`);
    assert.equal(runnableAt(evalFile, "cursor", 8), `${suite}::one`);
    assert.equal(runnableAt(evalFile, "suite", 8), suite);
});

void test("above all runnables it is the suite, also in a task file", () => {
    const taskFile = [runnable("task", `${suite}::one`, 2, suite), runnable("grader", `${suite}::one::short`, 4, `${suite}::one`)];
    assert.equal(runnableAt(taskFile, "cursor", 0), suite);
    assert.equal(runnableAt(taskFile, "suite", 4), suite);
    assert.equal(runnableAt([], "cursor", 0), undefined);
});
