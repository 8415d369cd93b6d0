import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent } from "../src/runEvents";
import { lineOf } from "../src/runLog";
import { reasonFirst, RunState, waysOut } from "../src/runWords";

function after(...events: RunEvent[]): RunState {
    const state = new RunState();
    events.forEach((event) => {
        state.take(event);
    });
    return state;
}

const tasks = { total: 3, passed: 2, failed: 1, errored: 0, skipped: 0, lost: 0, not_run: 0, flaky: 0 };

void test("while it runs: how much is done, which task and trial, how long, what it has cost", () => {
    const state = after(
        { kind: "run_started", completed: 0, total: 12 },
        { kind: "started", task: "greets", label: "greets", trial: 2 },
        { kind: "failed", task: "asks", trial: 1, completed: 3, total: 12, cost_usd: 0.224 },
    );
    assert.equal(state.progress(34_000), "3/12 · greets · trial 2 · 0:34 · $0.22");
});

void test("at the end: how many tasks passed and failed", () => {
    const state = after({ kind: "ended", conclusion: { verdict: "failed", reasons: ["1 task failed"], tasks } });
    assert.equal(state.ending(61_000), "2 of 3 tasks passed, 1 failed · 1:01");
});

void test("a run that failed for another reason than its tasks says which", () => {
    const reasons = ["trigger_accuracy is 0.50, below 0.9"];
    const state = after({ kind: "ended", conclusion: { verdict: "failed", reasons, tasks: { ...tasks, passed: 3, failed: 0 } } });
    assert.equal(state.ending(0), "3 of 3 tasks passed · trigger_accuracy is 0.50, below 0.9 · 0:00");
});

void test("what broke comes first", () => {
    const state = after(
        { kind: "errored", task: "one", trial: 1, message: "not logged in to GitHub" },
        { kind: "ended", conclusion: { verdict: "errored", reasons: ["3 tasks in error"], tasks: { ...tasks, passed: 0, failed: 0, errored: 3 } } },
    );
    assert.equal(state.ending(0), "not logged in to GitHub · 0 of 3 tasks passed, 3 errored · 0:00");
});

void test("a run whose engine was killed says so, and that what was finished is kept", () => {
    const reason = "the run was interrupted: the engine stopped unexpectedly (exit code -9); what was finished is kept";
    const state = after({ kind: "ended", status: "error", conclusion: { verdict: "interrupted", reasons: [reason] } });
    assert.equal(state.ending(12_000), `${reason} · 0:12`);
});

void test("the buttons of a message fit its reason", () => {
    const commands = (reason: string) => waysOut(reason).map(({ command, argument }) => [command, argument].filter(Boolean).join(" "));
    assert.deepEqual(commands("the Copilot agent is not logged in to GitHub; run `copilot login`"), ["waza.logIn", "waza.chooseExecutor"]);
    assert.deepEqual(commands("the environment variable `OPENAI_API_KEY` is not set"), ["waza.setProviderKey OPENAI_API_KEY"]);
    assert.deepEqual(commands("the tasks: /suites/a/tasks/one.yaml cannot be read"), ["waza.openFile /suites/a/tasks/one.yaml"]);
    assert.deepEqual(commands("the disk is full"), []);
});

void test("a message begins with the reason, not with an absolute path", () => {
    assert.equal(reasonFirst("/suites/a/eval.yaml: there is nothing to run."), "there is nothing to run.");
    assert.equal(reasonFirst("there is nothing to run."), "there is nothing to run.");
});

void test("an event is one line of the log, with its reason", () => {
    const graded: RunEvent = { kind: "graded", task: "one", trial: 1, grader: "short", status: "graded", passed: false, score: 0, message: "too long" };
    assert.equal(lineOf(graded), "graded one trial 1 short failed 0.00: too long");
    assert.equal(lineOf({ kind: "ended", conclusion: { verdict: "failed", reasons: ["1 task failed"] } }), "ended: failed · 1 task failed");
});
