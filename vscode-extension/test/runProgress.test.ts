import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import type { RunEvent } from "../src/runEvents";
import { lineOf } from "../src/runLog";
import { isReportedBy, engineOptionsToSettings, reasonFirst } from "../src/reasons";
import { remediesFor, loginRemedies, type Remedy } from "../src/remedies";
import { INTERRUPTED, RunProgress, shortened } from "../src/runProgress";

function after(...events: RunEvent[]): RunProgress {
    const state = new RunProgress();
    events.forEach((event) => {
        state.take(event);
    });
    return state;
}

void test("the progress has the count, the task, the trial, the time and the cost", () => {
    const state = after(
        { kind: "run_started", completed: 0, total: 12 },
        { kind: "started", task: "greets", label: "greets", trial: 2 },
        { kind: "failed", task: "asks", trial: 1, completed: 3, total: 12, cost_usd: 0.224 },
    );
    assert.equal(state.progress(34_000), "3/12 · greets · trial 2 · 0:34 · $0.22");
});

void test("the progress shows whether the answer is being graded", () => {
    const started: RunEvent[] = [{ kind: "run_started", completed: 0, total: 2 }, { kind: "started", task: "greets", label: "greets", trial: 1 }];
    const at = (...kinds: string[]) => after(...started, ...kinds.map((kind) => ({ kind, task: "greets", trial: 1 }))).progress(5_000);
    assert.equal(at("asking"), "0/2 · greets · 0:05");
    assert.equal(at("asking", "output", "grading"), "0/2 · greets · grading · 0:05");
    assert.equal(at("asking", "grading", "asking"), "0/2 · greets · 0:05");
    assert.equal(at("asking", "grading", "passed"), "0/2 · 0:05");
});

void test("the progress names trigger prompts like tasks", () => {
    const prompt = { item: "/eval.yaml::?+Write", label: "Write" };
    const started = [{ kind: "run_started", completed: 2, total: 2 }, { kind: "started", ...prompt }];
    assert.equal(after(...started).progress(5_000), "2/2 · Write · 0:05");
    const long = { ...prompt, label: "Write me a very long text about everything there is" };
    assert.equal(after({ kind: "started", ...long }).progress(5_000), "Write me a very long text about … · 0:05");
    assert.equal(after(...started, { kind: "tried", status: "passed", ...prompt }).progress(5_000), "2/2 · 0:05");
});

void test("a queued run shows what it waits for", () => {
    const waits: RunEvent = { kind: "waits", message: "waits for one of 4 other runs to end" };
    assert.equal(after(waits).progress(5_000), "waits for one of 4 other runs to end · 0:05");
    assert.equal(after(waits, { kind: "run_started", completed: 0, total: 2 }).progress(5_000), "0/2 · 0:05");
});

void test("the summary has the conclusion, the time and the cost", () => {
    const ended: RunEvent = { kind: "ended", conclusion: { verdict: "failed", words: "2 of 3 tasks passed, 1 failed", reasons: ["1 task failed"] } };
    assert.equal(after(ended).summary(61_000), "2 of 3 tasks passed, 1 failed · 1:01");
    assert.equal(after({ kind: "failed", task: "asks", trial: 1, cost_usd: 0.224 }, ended).summary(0), "2 of 3 tasks passed, 1 failed · 0:00 · $0.22");
});

void test("a run whose server has stopped is interrupted", () => {
    assert.equal(
        after(INTERRUPTED).summary(12_000),
        "interrupted: the language server stopped; what was finished is kept · 0:12",
    );
});

void test("a reason in the last event of a run is not reported again", () => {
    const words = "the run was interrupted: the engine was ended by signal 9; what was finished is kept";
    const killed: RunEvent = { kind: "ended", status: "error", conclusion: { verdict: "interrupted", words, reasons: [words] } };
    assert.equal(isReportedBy("The engine was ended by signal 9.", killed), true);
    assert.equal(isReportedBy("The results could not be written.", killed), false);
    assert.equal(isReportedBy("The engine was ended by signal 9.", undefined), false);
});

void test("the buttons of a message fit its reason", () => {
    const shown = (argument: Remedy["argument"]) => (typeof argument === "object" ? [argument.file, argument.line] : [argument]);
    const commands = (reason: string) => remediesFor(reason).map(({ command, argument }) => [command, ...shown(argument)].filter(Boolean).join(" "));
    // The tests of the engine check that these are its messages.
    const cases = JSON.parse(fs.readFileSync(path.join(process.cwd(), "test", "reasons.json"), "utf8")) as { reason: string; buttons: string[] }[];
    cases.forEach(({ reason, buttons }) => {
        assert.deepEqual(commands(reason), buttons);
    });
    assert.deepEqual(commands("the provider at `a.example.com` refused the key (HTTP 401); check `LLM_SECRET`"), ["waza.setProviderKey LLM_SECRET"]);
    assert.deepEqual(commands("the tasks: /suites/a/tasks/one.yaml cannot be read"), ["waza.openFile /suites/a/tasks/one.yaml"]);
    assert.deepEqual(commands("/my suites/a/eval.yaml:17: this line is from a merge with a conflict"), ["waza.openFile /my suites/a/eval.yaml 17"]);
    assert.deepEqual(commands("/a/eval.yaml: /a/agent.json:3: `output` is needed."), ["waza.openFile /a/agent.json 3"]);
    const packages = 'the executor `openai` needs packages that are not installed; `pip install "openai<4"` adds them';
    assert.deepEqual(commands(packages), ['waza.addAgents pip install "openai<4"', "waza.chooseExecutor"]);
    const ofPipx = packages.replace("pip install", "pipx inject waza");
    assert.deepEqual(commands(ofPipx)[0], 'waza.addAgents pipx inject waza "openai<4"');
    assert.deepEqual(commands(packages.replace("pip install", "rm -r")), ["waza.chooseExecutor"]);
    assert.deepEqual(commands("the disk is full"), []);
});

void test("options become settings, and a judge has its own remedy", () => {
    const reason = "/a/eval.yaml: nobody can judge for `kind`: the executor `mock` has no model; name one with `--judge-executor`, such as `--judge-executor openai`";
    const setting = "waza.run.judgeExecutor";
    assert.equal(reasonFirst(reason), `nobody can judge for \`kind\`: the executor \`mock\` has no model; name one with \`${setting}\`, such as \`${setting}: openai\``);
    assert.deepEqual(remediesFor(reason)[0], { title: "Choose Judge", command: "workbench.action.openSettings", argument: setting });
    assert.equal(reasonFirst("begin the file with `---`, or name it with `--suite`"), "begin the file with `---`, or name it with `--suite`");
    const ended: RunEvent = { kind: "ended", conclusion: { verdict: "errored", words: "name one with `--judge-executor`", reasons: [] } };
    assert.equal(after(ended).summary(0), `name one with \`${setting}\` · 0:00`);
});

void test("options of other programs are kept", () => {
    assert.equal(engineOptionsToSettings("say `npm run --model x` or `--model x`, unless `--judge-executor` names one"), "say `npm run --model x` or `--model x`, unless `waza.run.judgeExecutor` names one");
    assert.equal(engineOptionsToSettings("the agent does not report what it uses, so `--max-cost` cannot be kept"), "the agent does not report what it uses, so `waza.run.maxCost` cannot be kept");
    assert.equal(lineOf({ kind: "warning", message: "warning: name one with `--judge-model gpt-4o`" }), "warning: warning: name one with `waza.run.judgeModel: gpt-4o`");
    const reason = "the run was cancelled; what was finished is kept";
    assert.equal(lineOf({ kind: "ended", message: reason, conclusion: { verdict: "interrupted", reasons: [reason] } }), `ended: ${reason} · interrupted`);
});

void test("a login is offered only for the agent that has one", () => {
    const titles = (reason: string) => loginRemedies(reason).map(({ title }) => title);
    assert.deepEqual(titles("the Copilot agent is not logged in to GitHub; run `/my bin/copilot login` · 0 of 2 tasks passed, 2 in error"), ["Log In", "Choose Executor"]);
    const withoutLogin = "the Copilot agent is not logged in to GitHub; install its login (`npm install -g @github/copilot`), set `COPILOT_GITHUB_TOKEN`";
    assert.deepEqual(titles(withoutLogin), ["Set Key", "Choose Executor"]);
    assert.deepEqual(titles("api.example.com wants a key; name its environment variable"), ["Set Key", "Choose Executor"]);
    assert.deepEqual(titles("the agent ended with exit code 1: not logged in to the shop"), []);
});

void test("a text that is too long for the status bar is cut after a word", () => {
    assert.equal(shortened("greeter: 1 of 2 tasks passed"), "greeter: 1 of 2 tasks passed");
    const cancelled: RunEvent = { kind: "ended", conclusion: { verdict: "interrupted", words: "the run was cancelled; what was finished is kept · 1 of 2 tasks passed, 1 not run", reasons: [] } };
    assert.equal(shortened(`beta: ${after(cancelled).summary(6_000)}`), "beta: cancelled; what was finished is kept · 1 of 2 tasks passed, 1 not run …");
    assert.equal(shortened("greeter: the agent is away · 0 of 2 tasks", 30), "greeter: the agent is away …");
    assert.equal(shortened("x".repeat(40), 20), `${"x".repeat(10)} …`);
    const long = "greeter: the agent ended with exit code 3: the backend is away · 0 of 2 tasks passed, 2 in error · 0:01";
    assert.equal(shortened(long, 80), "greeter: the agent ended with exit … · 0 of 2 tasks passed, 2 in error · 0:01");
});

void test("a message begins with the reason, not with an absolute path", () => {
    assert.equal(reasonFirst("/suites/a/eval.yaml: there is nothing to run."), "there is nothing to run.");
    assert.equal(reasonFirst("/my suites/a/agent.json: nothing answers at `127.0.0.1:9`."), "nothing answers at `127.0.0.1:9`.");
    assert.equal(reasonFirst("/suites/a/eval.yaml:4: the YAML is broken: x."), "the YAML is broken: x. (eval.yaml, line 4)");
    assert.equal(reasonFirst("C:\\suites\\eval.yaml: there is nothing to run."), "there is nothing to run.");
    assert.equal(reasonFirst("/my suites/a/eval.yaml: /my suites/a/../agent.json:1: `output` is needed."), "`output` is needed. (agent.json, line 1)");
    assert.equal(reasonFirst("there is nothing to run."), "there is nothing to run.");
});

void test("an event is one line of the log, with its reason", () => {
    const graded: RunEvent = { kind: "graded", task: "one", trial: 1, grader: "short", status: "graded", passed: false, score: 0, message: "too long" };
    assert.equal(lineOf(graded), "graded one trial 1 short failed 0.00: too long");
    assert.equal(lineOf({ kind: "ended", conclusion: { verdict: "failed", reasons: ["1 task failed"] } }), "ended: failed · 1 task failed");
});
