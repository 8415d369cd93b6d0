import assert from "node:assert/strict";
import { test } from "node:test";
import { runnableOf, trialId } from "../src/itemIds";
import type { RunEvent } from "../src/runEvents";
import { affectedAmong, plannedRegrades, plannedRuns, suitesAmong } from "../src/testing/plan";
import { suiteDescription, RunReports, type Report } from "../src/testing/reports";

const suite = "/suites/deploy/eval.yaml";
const task = `${suite}::one`;
const location = { uri: "file:///suites/deploy/eval.yaml", range: { start: { line: 7, character: 4 }, end: { line: 7, character: 9 } } };

function graded(trial: number, passed: boolean, failures: RunEvent["failures"] = []): RunEvent {
    const said = { passed, score: passed ? 1 : 0, status: "graded", message: passed ? "fine" : "not fine" };
    return { kind: "graded", task: "one", item: `${task}::short`, grader: "short", trial, location, failures, ...said };
}

function closed(kind: string, trial?: number): RunEvent {
    return { kind, task: "one", item: task, label: "one", location, ...(trial === undefined ? {} : { trial }) };
}

function concluded(verdict: "passed" | "failed", reason = ""): RunEvent {
    return { ...closed(verdict), conclusion: { verdict, reason, graders: [{ name: "short", verdict, feedback: "" }] } };
}

function told(target: "suite" | "grader", ...events: RunEvent[]): Report[] {
    const id = target === "suite" ? suite : `${task}::short`;
    const reports = new RunReports({ id, kind: target, whole: true });
    return events.flatMap((event) => reports.of(event)).filter(({ kind }) => kind === "ended");
}

void test("a failed check is told at its own line, at the grader of its task", () => {
    const rule = { ...location, range: { start: { line: 10, character: 8 }, end: { line: 10, character: 20 } } };
    const failures = [{ message: "`len(output) < 3` is false", location: rule }];
    const [grader, whole] = told("suite", graded(1, false, failures), closed("failed", 1), concluded("failed", "not passed: short"));
    assert.deepEqual([grader?.item, grader?.verdict], [`${task}::short`, "failed"]);
    assert.deepEqual(grader?.messages, [{ text: "`len(output) < 3` is false", location: rule }]);
    const why = "not passed: short\nshort: not fine";
    assert.deepEqual([whole?.item, whole?.verdict, whole?.messages?.[0]?.text], [task, "failed", why]);
});

void test("a task with several trials shows estimates for new trials", () => {
    const reports = new RunReports({ id: suite, kind: "suite", whole: true });
    const estimates = "pass@3 0.96 (0.49–0.99), pass^3 0.30 (0.00–0.82)";
    const ending = concluded("failed", "not passed: short");
    const task = reports.of({ ...ending, conclusion: { verdict: "failed", ...ending.conclusion, estimates } });
    assert.deepEqual(task.find(({ kind }) => kind === "output")?.text, `one: ${estimates}`);
    assert.deepEqual(task.at(-1)?.messages?.[0]?.text, `not passed: short\n${estimates}`);
    const run = reports.of({ kind: "ended", conclusion: { verdict: "failed", words: "1 failed", estimates: "pass@3 0.5" } });
    assert.equal(run[0]?.text, "1 failed\npass@3 0.5");
});

void test("messages of graders and tasks stand where no hint is", () => {
    const rule = { ...location, range: { start: { line: 10, character: 8 }, end: { line: 10, character: 20 } } };
    const free = { ...location, range: { start: { line: 9, character: 4 }, end: { line: 9, character: 9 } } };
    const said = { ...graded(1, false, [{ message: "too long", location: rule }]), messageLocation: free };
    const reports = told("suite", said, closed("failed", 1), { ...concluded("failed", "not passed: short"), messageLocation: free });
    assert.deepEqual(reports.map(({ messages }) => messages?.[0]?.location), [free, free]);
});

void test("the verdict is the conclusion's, whatever trials said before", () => {
    const reports = told("suite", graded(1, false), closed("failed", 1), concluded("passed"));
    assert.deepEqual(reports.map(({ verdict }) => verdict), ["passed", "passed"]);
});

void test("an advisory grader that does not pass is skipped, and its task passes", () => {
    const advice: RunEvent = { ...graded(1, false), status: "advisory" };
    const conclusion = { verdict: "passed", reason: "", graders: [{ name: "short", verdict: "advisory" as const, feedback: "" }] };
    const reports = told("suite", advice, closed("passed", 1), { ...closed("passed"), conclusion });
    assert.deepEqual(reports.map(({ verdict }) => verdict), ["skipped", "passed"]);
});

void test("a trial that failed does not redden a task that passed without it", () => {
    const second: RunEvent = { ...closed("started"), trial: 2 };
    const conclusion = { verdict: "passed", reason: "", graders: [{ name: "short", verdict: "failed" as const, feedback: "" }] };
    const reports = told("suite", graded(1, true), closed("passed", 1), second, graded(2, false), closed("failed", 2), { ...closed("passed"), conclusion });
    const last = new Map(reports.map(({ item, verdict }) => [item, verdict]));
    assert.equal(last.get(task), "passed");
    assert.ok(![...last.values()].includes("failed"));
});

void test("what broke is errored, with its reason, and never failed", () => {
    const reason = "not logged in to GitHub";
    const [report] = told("suite", { ...closed("errored"), conclusion: { verdict: "errored", reason, graders: [] } });
    assert.deepEqual([report?.verdict, report?.messages?.map(({ text }) => text)], ["errored", [reason]]);
});

void test("trials have lines of their own as soon as there is a second one", () => {
    const second: RunEvent = { ...closed("started"), trial: 2 };
    const once = told("suite", graded(1, true), closed("passed", 1));
    assert.deepEqual(once, []);
    const twice = told("suite", graded(1, true), closed("passed", 1), second, graded(2, false), closed("failed", 2));
    assert.deepEqual(
        twice.map(({ item, verdict }) => [item, verdict]),
        [
            [trialId(task, 1), "passed"],
            [trialId(task, 1, "short"), "passed"],
            [trialId(task, 2), "failed"],
            [trialId(task, 2, "short"), "failed"],
        ],
    );
});

void test("one grader that judges again tells what its task comes to with what the others had said", () => {
    const reports = told("grader", graded(1, true), { ...concluded("passed"), with_recorded: true });
    assert.deepEqual(reports.filter(({ kind }) => kind === "ended").map(({ item, verdict }) => [item, verdict]), [[`${task}::short`, "passed"], [task, "passed"]]);
});

void test("a grader of the suite runs as an item of each task, and none is left without an end", () => {
    const reports = new RunReports({ id: `${suite}::::short`, kind: "grader", whole: false });
    const events: RunEvent[] = [{ kind: "started", task: "one", item: task, trial: 1 }, graded(1, true), concluded("passed"), { kind: "ended", status: "completed" }];
    const told = events.flatMap((event) => reports.of(event)).filter(({ item }) => item !== undefined);
    assert.deepEqual(
        told.filter(({ kind }) => kind !== "output").map(({ kind, item, verdict }) => [kind, item, verdict]),
        [
            ["started", `${task}::short`, undefined],
            ["ended", `${task}::short`, "passed"],
        ],
    );
});

void test("a run of one grader says nothing of its task, and the run without skills nothing at all", () => {
    const items = told("grader", graded(1, true), closed("passed", 1), concluded("passed")).map(({ item }) => item);
    assert.deepEqual(items, [`${task}::short`]);
    assert.deepEqual(told("suite", { ...concluded("failed"), baseline: true }), []);
});

void test("the end of a suite tells its reasons, unless they are seen at its tasks", () => {
    const reasons = ["trigger_accuracy is 0.50, below 0.9"];
    const ended: RunEvent = { kind: "ended", status: "failed", conclusion: { verdict: "failed", reasons, tasks: { failed: 0 } } };
    const [report] = told("suite", ended);
    assert.deepEqual([report?.item, report?.verdict, report?.messages], [suite, "failed", [{ text: reasons[0] }]]);
    assert.deepEqual(told("suite", { ...ended, conclusion: { verdict: "failed", reasons: ["1 task failed"], tasks: { failed: 1 } } }), []);
});

void test("what a killed engine leaves open ends with the reason, and what was concluded stays", () => {
    const other: RunEvent = { kind: "started", task: "two", item: `${suite}::two`, trial: 1 };
    const queued: RunEvent = { kind: "enqueued", task: "three", item: `${suite}::three` };
    const reasons = ["the run was interrupted: the engine stopped; what was finished is kept"];
    const killed: RunEvent = { kind: "ended", status: "error", conclusion: { verdict: "interrupted", reasons } };
    const reports = told("suite", { ...closed("started"), trial: 1 }, other, queued, concluded("passed"), killed);
    assert.deepEqual(
        reports.map(({ item, verdict, messages }) => [item, verdict, messages?.[0]?.text]),
        [
            [task, "passed", undefined],
            [other.item, "errored", reasons[0]],
            [queued.item, "errored", reasons[0]],
            [suite, "skipped", reasons[0]],
        ],
    );
});

void test("the output ends with how many tasks passed once, and with the other reasons", () => {
    const [words, counted, other] = ["1 of 3 tasks passed, 2 failed", "2 tasks failed", "the score 0.20 is below 0.80"];
    const conclusion = { verdict: "failed", words, reasons: [counted, other], counted_reasons: [counted], tasks: { passed: 1, failed: 2 } };
    const [output] = new RunReports({ id: suite, kind: "suite", whole: true }).of({ kind: "ended", conclusion });
    assert.equal(output?.text, `${words}\n${other}`);
});

void test("what somebody cancels is skipped where it was not concluded", () => {
    const canceled: RunEvent = { kind: "ended", status: "canceled", conclusion: { verdict: "interrupted", reasons: ["the run was interrupted"] } };
    const reports = told("suite", { ...closed("started"), trial: 2 }, canceled);
    assert.deepEqual(
        reports.map(({ item, verdict }) => [item, verdict]),
        [[task, "skipped"], [trialId(task, 2), "skipped"], [suite, "skipped"]],
    );
});

void test("a task of which some trials passed and others were cut off has not passed, with the engine's reason", () => {
    const why = "the run was cancelled; 1 of 3 trials ran";
    const cut: RunEvent = { ...concluded("passed"), message: why };
    const event: RunEvent = { ...cut, conclusion: { verdict: "passed", reason: "", cut_short: why, graders: [{ name: "short", verdict: "passed", feedback: "" }] } };
    const second: RunEvent = { ...closed("started"), trial: 2 };
    const reports = told("suite", graded(1, true), closed("passed", 1), second, event);
    const last = reports.at(-1);
    assert.deepEqual([last?.item, last?.verdict, last?.messages?.[0]?.text], [task, "errored", why]);
    assert.deepEqual(reports.find(({ item }) => item === `${task}::short`)?.verdict, "passed");
});

void test("nor has it when the engine was killed before it could say so", () => {
    const canceled: RunEvent = { kind: "ended", status: "canceled", conclusion: { verdict: "interrupted", reasons: ["the run was cancelled"] } };
    const reports = told("suite", { ...closed("started"), trial: 1 }, graded(1, true), closed("passed", 1), { ...closed("started"), trial: 2 }, canceled);
    const found = new Map(reports.map(({ item, verdict }) => [item, verdict]));
    assert.deepEqual([found.get(task), found.get(trialId(task, 1)), found.get(trialId(task, 2))], ["errored", "passed", "skipped"]);
});

void test("a suite that was interrupted behind a task that passed has not passed", () => {
    const reasons = ["the run was interrupted; finished tasks were saved"];
    const canceled: RunEvent = { kind: "ended", status: "canceled", conclusion: { verdict: "interrupted", reasons, tasks: { passed: 1, not_run: 2 } } };
    const reports = told("suite", concluded("passed"), canceled);
    assert.deepEqual(
        reports.map(({ item, verdict, messages }) => [item, verdict, messages?.[0]?.text]),
        [
            [task, "passed", undefined],
            [suite, "errored", reasons[0]],
        ],
    );
});

void test("a task takes as long as its answers and those who judged them, and so does a trial", () => {
    const slow = (trial: number): RunEvent => ({ ...graded(trial, true), duration_ms: 4_000 });
    const [whole] = told("suite", slow(1), closed("passed", 1), { ...concluded("passed"), duration_ms: 5 }).slice(-1);
    assert.deepEqual([whole?.item, whole?.duration], [task, 4_005]);
    const second: RunEvent = { ...closed("started"), trial: 2 };
    const trials = told("suite", slow(1), { ...closed("passed", 1), duration_ms: 5 }, second, slow(2), { ...closed("passed", 2), duration_ms: 7 });
    const own = trials.filter(({ item }) => item?.endsWith("#trial-1") === true || item?.endsWith("#trial-2") === true);
    assert.deepEqual(own.map(({ duration }) => duration), [4_005, 4_007]);
});

void test("what is hidden in a suite is left out when it runs", () => {
    const below = () => [task, `${suite}::a%3Ab`, `${suite}::off`, `${suite}#triggers:Greet me`];
    const runs = (hidden: string[]) => plannedRuns([suite], hidden, (id) => (id.endsWith("::off") ? undefined : id), below);
    assert.deepEqual(runs([]), [{ id: suite }]);
    assert.deepEqual(runs(["/suites/other/eval.yaml::one"]), [{ id: suite }]);
    assert.deepEqual(runs([task]), [{ id: suite, tasks: ["a:b"], prompts: ["Greet me"] }]);
    assert.deepEqual(runs([`${suite}#triggers:Greet me`]), [{ id: suite, tasks: ["one", "a:b"] }]);
    assert.deepEqual(runs(below()), []);
});

void test("a choice runs no more than was chosen, each suite once", () => {
    const other = "/suites/other/eval.yaml";
    assert.deepEqual(plannedRuns([suite, task, other]), [{ id: suite }, { id: other }]);
    assert.deepEqual(plannedRuns([`${task}::short`]), [{ id: `${task}::short` }]);
    assert.deepEqual(plannedRuns([`${task}::_output_contains`]), [{ id: task }]); // what a task expects is no grader by itself
    assert.deepEqual(plannedRuns([`${task}::greets after turn 1`]), [{ id: task }]); // nor is what a checkpoint asks
    assert.deepEqual(plannedRuns([`${task}::step 1: greets after turn 1`]), [{ id: task }]);
    assert.deepEqual(plannedRegrades([`${task}::_output_not_contains`, `${task}#trial-2::_output_contains_any`]), [task]);
    assert.deepEqual(plannedRuns([`${task}::short`, `${task}::long`]), [{ id: task }]);
    assert.deepEqual(plannedRuns([`${task}::short`, `${suite}::a%3Ab`]), [{ id: suite, tasks: ["one", "a:b"] }]);
    assert.deepEqual(plannedRuns([suite, other], [other]), [{ id: suite }]);
    const [prompt, odd] = [`${suite}#triggers:Greet me`, `${suite}#leaves:Call a::b #trial-1`];
    assert.deepEqual(plannedRuns([prompt]), [{ id: prompt }]);
    assert.deepEqual(plannedRuns([prompt, odd]), [{ id: suite, prompts: ["Greet me", "Call a::b #trial-1"] }]);
    assert.deepEqual(plannedRuns([odd, "/other/eval.yaml#triggers:Hi"]), [{ id: odd }, { id: "/other/eval.yaml#triggers:Hi" }]);
    assert.deepEqual(plannedRuns([suite, prompt]), [{ id: suite }]);
    assert.deepEqual(plannedRuns([`${task}::short`, prompt]), [{ id: suite, tasks: ["one"], prompts: ["Greet me"] }]); // one run, one message
    assert.deepEqual(plannedRuns([prompt, `${suite}::a%3Ab`, task, odd]), [{ id: suite, tasks: ["a:b", "one"], prompts: ["Greet me", "Call a::b #trial-1"] }]);
    assert.deepEqual(plannedRuns([task, "/other/eval.yaml#triggers:Hi"]), [{ id: task }, { id: "/other/eval.yaml#triggers:Hi" }]);
    assert.deepEqual(plannedRuns([trialId(task, 2)]), [{ id: task }]);
    assert.equal(runnableOf(trialId(task, 2, "short")), task);
});

void test("the row of a suite says how its last run ended, and that it was of a part", () => {
    assert.equal(suiteDescription({ kind: "suite", whole: true }, "2 of 3 tasks passed"), "2 of 3 tasks passed");
    assert.equal(suiteDescription({ kind: "suite", whole: false }, "1 of 1 task passed"), "last run, of a part: 1 of 1 task passed");
    assert.equal(suiteDescription({ kind: "prompt", whole: true }, "1 of 1 trigger prompt right"), "last run, of a part: 1 of 1 trigger prompt right");
    assert.equal(suiteDescription({ kind: "grader", whole: true }, "1 of 1 task passed"), undefined);
    assert.equal(suiteDescription({ kind: "task", whole: true }, undefined), undefined);
});

void test("two texts that were compared are told as such", () => {
    const failures = [{ message: "notes.txt differs", location, expected: "one\n", actual: "two\n" }];
    const [grader] = told("suite", graded(1, false, failures), closed("failed", 1), concluded("failed"));
    assert.deepEqual(grader?.messages, [{ text: "notes.txt differs", location, expected: "one\n", actual: "two\n" }]);
});

void test("what stands below a chosen item is graded again with it, and prompts are not", () => {
    assert.deepEqual(plannedRegrades([suite, task, `${suite}#triggers:Do it`]), [suite]);
    assert.deepEqual(plannedRegrades([trialId(task, 2), `${suite}::two::short`]), [task, `${suite}::two::short`]);
    assert.deepEqual(plannedRegrades([task, `${suite}::two`], [task]), [`${suite}::two`]);
});

void test("of a choice only what has changed is run, and a grader with its task", () => {
    const two = `${suite}::two`;
    assert.deepEqual(affectedAmong([suite], [task]), [task]);
    assert.deepEqual(affectedAmong([two], [task]), []);
    assert.deepEqual(affectedAmong([`${task}::short`, trialId(two, 1)], [task]), [task]);
    assert.deepEqual(affectedAmong([two], [suite]), [two]);
    assert.deepEqual(affectedAmong([suite], [suite]), [suite]);
    assert.deepEqual(affectedAmong([`${suite}#triggers:Do it`], [task]), []);
    assert.deepEqual(suitesAmong([task, two, `${suite}#triggers:Do it`]), [suite]);
});
