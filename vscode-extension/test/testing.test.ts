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
    const rest = { passed, score: passed ? 1 : 0, status: "graded", message: passed ? "fine" : "not fine" };
    return { kind: "graded", task: "one", item: `${task}::short`, grader: "short", trial, location, failures, ...rest };
}

function taskEnd(kind: string, trial?: number): RunEvent {
    return { kind, task: "one", item: task, label: "one", location, ...(trial === undefined ? {} : { trial }) };
}

function concluded(verdict: "passed" | "failed", reason = ""): RunEvent {
    return { ...taskEnd(verdict), conclusion: { verdict, reason, graders: [{ name: "short", verdict, feedback: "" }] } };
}

function endReports(target: "suite" | "grader", ...events: RunEvent[]): Report[] {
    const id = target === "suite" ? suite : `${task}::short`;
    const reports = new RunReports({ id, kind: target, whole: true });
    return events.flatMap((event) => reports.of(event)).filter(({ kind }) => kind === "ended");
}

void test("a failed check is reported at its line, for the grader of its task", () => {
    const rule = { ...location, range: { start: { line: 10, character: 8 }, end: { line: 10, character: 20 } } };
    const failures = [{ message: "`len(output) < 3` is false", location: rule }];
    const [grader, whole] = endReports("suite", graded(1, false, failures), taskEnd("failed", 1), concluded("failed", "not passed: short"));
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

void test("messages of graders and tasks are at lines without hints", () => {
    const rule = { ...location, range: { start: { line: 10, character: 8 }, end: { line: 10, character: 20 } } };
    const free = { ...location, range: { start: { line: 9, character: 4 }, end: { line: 9, character: 9 } } };
    const said = { ...graded(1, false, [{ message: "too long", location: rule }]), messageLocation: free };
    const reports = endReports("suite", said, taskEnd("failed", 1), { ...concluded("failed", "not passed: short"), messageLocation: free });
    assert.deepEqual(reports.map(({ messages }) => messages?.[0]?.location), [free, free]);
});

void test("the verdict is that of the conclusion", () => {
    const reports = endReports("suite", graded(1, false), taskEnd("failed", 1), concluded("passed"));
    assert.deepEqual(reports.map(({ verdict }) => verdict), ["passed", "passed"]);
});

void test("an advisory grader that does not pass is skipped, and its task passes", () => {
    const advice: RunEvent = { ...graded(1, false), status: "advisory" };
    const conclusion = { verdict: "passed", reason: "", graders: [{ name: "short", verdict: "advisory" as const, feedback: "" }] };
    const reports = endReports("suite", advice, taskEnd("passed", 1), { ...taskEnd("passed"), conclusion });
    assert.deepEqual(reports.map(({ verdict }) => verdict), ["skipped", "passed"]);
});

void test("a failed trial does not fail a task that passed", () => {
    const second: RunEvent = { ...taskEnd("started"), trial: 2 };
    const conclusion = { verdict: "passed", reason: "", graders: [{ name: "short", verdict: "failed" as const, feedback: "" }] };
    const reports = endReports("suite", graded(1, true), taskEnd("passed", 1), second, graded(2, false), taskEnd("failed", 2), { ...taskEnd("passed"), conclusion });
    const last = new Map(reports.map(({ item, verdict }) => [item, verdict]));
    assert.equal(last.get(task), "passed");
    assert.ok(![...last.values()].includes("failed"));
});

void test("an error is reported as errored, with its reason", () => {
    const reason = "not logged in to GitHub";
    const [report] = endReports("suite", { ...taskEnd("errored"), conclusion: { verdict: "errored", reason, graders: [] } });
    assert.deepEqual([report?.verdict, report?.messages?.map(({ text }) => text)], ["errored", [reason]]);
});

void test("trials have their own items as soon as there is a second one", () => {
    const second: RunEvent = { ...taskEnd("started"), trial: 2 };
    const once = endReports("suite", graded(1, true), taskEnd("passed", 1));
    assert.deepEqual(once, []);
    const twice = endReports("suite", graded(1, true), taskEnd("passed", 1), second, graded(2, false), taskEnd("failed", 2));
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

void test("a re-grade of one grader reports the combined verdict of its task", () => {
    const reports = endReports("grader", graded(1, true), { ...concluded("passed"), with_recorded: true });
    assert.deepEqual(reports.filter(({ kind }) => kind === "ended").map(({ item, verdict }) => [item, verdict]), [[`${task}::short`, "passed"], [task, "passed"]]);
});

void test("a grader of the suite starts and ends as an item of each task", () => {
    const reports = new RunReports({ id: `${suite}::::short`, kind: "grader", whole: false });
    const events: RunEvent[] = [{ kind: "started", task: "one", item: task, trial: 1 }, graded(1, true), concluded("passed"), { kind: "ended", status: "completed" }];
    const endReports = events.flatMap((event) => reports.of(event)).filter(({ item }) => item !== undefined);
    assert.deepEqual(
        endReports.filter(({ kind }) => kind !== "output").map(({ kind, item, verdict }) => [kind, item, verdict]),
        [
            ["started", `${task}::short`, undefined],
            ["ended", `${task}::short`, "passed"],
        ],
    );
});

void test("a run of one grader has no verdict of its task, and a baseline run none at all", () => {
    const items = endReports("grader", graded(1, true), taskEnd("passed", 1), concluded("passed")).map(({ item }) => item);
    assert.deepEqual(items, [`${task}::short`]);
    assert.deepEqual(endReports("suite", { ...concluded("failed"), baseline: true }), []);
});

void test("the end of a suite reports its reasons unless its tasks show them", () => {
    const reasons = ["trigger_accuracy is 0.50, below 0.9"];
    const ended: RunEvent = { kind: "ended", status: "failed", conclusion: { verdict: "failed", reasons, tasks: { failed: 0 } } };
    const [report] = endReports("suite", ended);
    assert.deepEqual([report?.item, report?.verdict, report?.messages], [suite, "failed", [{ text: reasons[0] }]]);
    assert.deepEqual(endReports("suite", { ...ended, conclusion: { verdict: "failed", reasons: ["1 task failed"], tasks: { failed: 1 } } }), []);
});

void test("a killed engine ends the active items with the reason", () => {
    const other: RunEvent = { kind: "started", task: "two", item: `${suite}::two`, trial: 1 };
    const queued: RunEvent = { kind: "enqueued", task: "three", item: `${suite}::three` };
    const reasons = ["the run was interrupted: the engine stopped; what was finished is kept"];
    const killed: RunEvent = { kind: "ended", status: "error", conclusion: { verdict: "interrupted", reasons } };
    const reports = endReports("suite", { ...taskEnd("started"), trial: 1 }, other, queued, concluded("passed"), killed);
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

void test("the output ends with the summary and the other reasons", () => {
    const [words, counted, other] = ["1 of 3 tasks passed, 2 failed", "2 tasks failed", "the score 0.20 is below 0.80"];
    const conclusion = { verdict: "failed", words, reasons: [counted, other], counted_reasons: [counted], tasks: { passed: 1, failed: 2 } };
    const [output] = new RunReports({ id: suite, kind: "suite", whole: true }).of({ kind: "ended", conclusion });
    assert.equal(output?.text, `${words}\n${other}`);
});

void test("a cancelled run skips the items that have not ended", () => {
    const canceled: RunEvent = { kind: "ended", status: "canceled", conclusion: { verdict: "interrupted", reasons: ["the run was interrupted"] } };
    const reports = endReports("suite", { ...taskEnd("started"), trial: 2 }, canceled);
    assert.deepEqual(
        reports.map(({ item, verdict }) => [item, verdict]),
        [[task, "skipped"], [trialId(task, 2), "skipped"], [suite, "skipped"]],
    );
});

void test("a task that was cut short after a passed trial has not passed", () => {
    const why = "the run was cancelled; 1 of 3 trials ran";
    const cut: RunEvent = { ...concluded("passed"), message: why };
    const event: RunEvent = { ...cut, conclusion: { verdict: "passed", reason: "", cut_short: why, graders: [{ name: "short", verdict: "passed", feedback: "" }] } };
    const second: RunEvent = { ...taskEnd("started"), trial: 2 };
    const reports = endReports("suite", graded(1, true), taskEnd("passed", 1), second, event);
    const last = reports.at(-1);
    assert.deepEqual([last?.item, last?.verdict, last?.messages?.[0]?.text], [task, "errored", why]);
    assert.deepEqual(reports.find(({ item }) => item === `${task}::short`)?.verdict, "passed");
});

void test("nor has it if the engine was killed", () => {
    const canceled: RunEvent = { kind: "ended", status: "canceled", conclusion: { verdict: "interrupted", reasons: ["the run was cancelled"] } };
    const reports = endReports("suite", { ...taskEnd("started"), trial: 1 }, graded(1, true), taskEnd("passed", 1), { ...taskEnd("started"), trial: 2 }, canceled);
    const found = new Map(reports.map(({ item, verdict }) => [item, verdict]));
    assert.deepEqual([found.get(task), found.get(trialId(task, 1)), found.get(trialId(task, 2))], ["errored", "passed", "skipped"]);
});

void test("a suite that was interrupted after a passed task has not passed", () => {
    const reasons = ["the run was interrupted; finished tasks were saved"];
    const canceled: RunEvent = { kind: "ended", status: "canceled", conclusion: { verdict: "interrupted", reasons, tasks: { passed: 1, not_run: 2 } } };
    const reports = endReports("suite", concluded("passed"), canceled);
    assert.deepEqual(
        reports.map(({ item, verdict, messages }) => [item, verdict, messages?.[0]?.text]),
        [
            [task, "passed", undefined],
            [suite, "errored", reasons[0]],
        ],
    );
});

void test("the duration of tasks and trials includes their graders", () => {
    const slow = (trial: number): RunEvent => ({ ...graded(trial, true), duration_ms: 4_000 });
    const [whole] = endReports("suite", slow(1), taskEnd("passed", 1), { ...concluded("passed"), duration_ms: 5 }).slice(-1);
    assert.deepEqual([whole?.item, whole?.duration], [task, 4_005]);
    const second: RunEvent = { ...taskEnd("started"), trial: 2 };
    const trials = endReports("suite", slow(1), { ...taskEnd("passed", 1), duration_ms: 5 }, second, slow(2), { ...taskEnd("passed", 2), duration_ms: 7 });
    const own = trials.filter(({ item }) => item?.endsWith("#trial-1") === true || item?.endsWith("#trial-2") === true);
    assert.deepEqual(own.map(({ duration }) => duration), [4_005, 4_007]);
});

void test("hidden items are excluded from a run of their suite", () => {
    const below = () => [task, `${suite}::a%3Ab`, `${suite}::off`, `${suite}#triggers:Greet me`];
    const runs = (hidden: string[]) => plannedRuns([suite], hidden, (id) => (id.endsWith("::off") ? undefined : id), below);
    assert.deepEqual(runs([]), [{ id: suite }]);
    assert.deepEqual(runs(["/suites/other/eval.yaml::one"]), [{ id: suite }]);
    assert.deepEqual(runs([task]), [{ id: suite, tasks: ["a:b"], prompts: ["Greet me"] }]);
    assert.deepEqual(runs([`${suite}#triggers:Greet me`]), [{ id: suite, tasks: ["one", "a:b"] }]);
    assert.deepEqual(runs(below()), []);
});

void test("a selection runs only the selected items, each suite once", () => {
    const other = "/suites/other/eval.yaml";
    assert.deepEqual(plannedRuns([suite, task, other]), [{ id: suite }, { id: other }]);
    assert.deepEqual(plannedRuns([`${task}::short`]), [{ id: `${task}::short` }]);
    assert.deepEqual(plannedRuns([`${task}::_output_contains`]), [{ id: task }]); // an expectation of a task is not a grader
    assert.deepEqual(plannedRuns([`${task}::greets after turn 1`]), [{ id: task }]); // nor is a follow-up prompt
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

void test("the description of a suite has the summary of its last run, also of a part", () => {
    assert.equal(suiteDescription({ kind: "suite", whole: true }, "2 of 3 tasks passed"), "2 of 3 tasks passed");
    assert.equal(suiteDescription({ kind: "suite", whole: false }, "1 of 1 task passed"), "last run, of a part: 1 of 1 task passed");
    assert.equal(suiteDescription({ kind: "prompt", whole: true }, "1 of 1 trigger prompt right"), "last run, of a part: 1 of 1 trigger prompt right");
    assert.equal(suiteDescription({ kind: "grader", whole: true }, "1 of 1 task passed"), undefined);
    assert.equal(suiteDescription({ kind: "task", whole: true }, undefined), undefined);
});

void test("two compared strings are reported", () => {
    const failures = [{ message: "notes.txt differs", location, expected: "one\n", actual: "two\n" }];
    const [grader] = endReports("suite", graded(1, false, failures), taskEnd("failed", 1), concluded("failed"));
    assert.deepEqual(grader?.messages, [{ text: "notes.txt differs", location, expected: "one\n", actual: "two\n" }]);
});

void test("items below a selected one are re-graded with it, prompts are not", () => {
    assert.deepEqual(plannedRegrades([suite, task, `${suite}#triggers:Do it`]), [suite]);
    assert.deepEqual(plannedRegrades([trialId(task, 2), `${suite}::two::short`]), [task, `${suite}::two::short`]);
    assert.deepEqual(plannedRegrades([task, `${suite}::two`], [task]), [`${suite}::two`]);
});

void test("only the changed items of a selection run, a grader with its task", () => {
    const two = `${suite}::two`;
    assert.deepEqual(affectedAmong([suite], [task]), [task]);
    assert.deepEqual(affectedAmong([two], [task]), []);
    assert.deepEqual(affectedAmong([`${task}::short`, trialId(two, 1)], [task]), [task]);
    assert.deepEqual(affectedAmong([two], [suite]), [two]);
    assert.deepEqual(affectedAmong([suite], [suite]), [suite]);
    assert.deepEqual(affectedAmong([`${suite}#triggers:Do it`], [task]), []);
    assert.deepEqual(suitesAmong([task, two, `${suite}#triggers:Do it`]), [suite]);
});
