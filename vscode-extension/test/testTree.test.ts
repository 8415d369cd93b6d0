import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestController, TestItem, TestMessage, TestRun } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { titleOf } from "../src/itemIds";
import type { RunEvent } from "../src/runEvents";
import { distinguishingPaths } from "../src/testing/distinguishingPaths";
import { plannedRegrades, plannedRuns } from "../src/testing/plan";
import { RunReports } from "../src/testing/reports";
import { TestRunView } from "../src/testing/testRunView";
import { TestTree } from "../src/testing/tree";
import { Uri } from "./fake/vscode";

const SUITE = "/ws/alpha/evals/greeter/eval.yaml";
const RANGE = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };

/** The children of an item, or the top-level items. */
class Children {
    private readonly items = new Map<string, TestItem>();

    constructor(private readonly parent?: TestItem) {}

    add(item: TestItem): void {
        this.items.set(item.id, Object.assign(item, { parent: this.parent }));
    }

    delete(id: string): void {
        this.items.delete(id);
    }

    replace(items: readonly TestItem[]): void {
        this.items.clear();
        items.forEach((item) => {
            this.add(item);
        });
    }

    forEach(look: (item: TestItem) => void): void {
        this.items.forEach(look);
    }

    get size(): number {
        return this.items.size;
    }
}

const createTestItem = (id: string, label: string, uri: unknown) => {
    const item = { id, label, uri } as unknown as TestItem;
    return Object.assign(item, { children: new Children(item) });
};

/** Returns a tree with suites by file and name and the items `below` them, and a test run that records the shown verdicts. */
function treeOf(suites: Readonly<Record<string, string>>, below: readonly object[] = []) {
    const items = new Children();
    const controller = { items, createTestItem } as unknown as TestController;
    const found = Object.entries(suites).map(([id, label]) => ({ id, runs: id, label, kind: "suite", hasChildren: true, uri: id, range: RANGE }));
    const client = {
        sendRequest: (_method: string, { parent }: { parent: string | null }) => Promise.resolve(parent === null ? found : below),
        protocol2CodeConverter: { asUri: (uri: string) => Uri.file(uri) },
    } as unknown as LanguageClient;
    const shown: string[] = [];
    const show = (verdict: string) => (item: TestItem) => shown.push(`${verdict} ${item.id.split("::").slice(1).join("::")}`);
    const messages: TestMessage[] = [];
    const failed = (item: TestItem, failures: readonly TestMessage[]) => {
        messages.push(...failures);
        show("failed")(item);
    };
    const run = { passed: show("passed"), failed, errored: show("errored"), skipped: show("skipped"), started: () => undefined };
    const output: string[] = [];
    const testRun = { ...run, appendOutput: (text: string) => output.push(text.trim()) };
    return { tree: new TestTree(controller, () => client), run: testRun as unknown as TestRun, shown, items, output, messages };
}

void test("ungraded graders of a task in error lose their old icon", () => {
    const { tree, run, shown } = treeOf({});
    const [task, other] = [`${SUITE}::one`, `${SUITE}::two`];
    [`${task}::asked`, `${task}::unasked`, `${other}::unasked`].forEach((id) => tree.item(id));
    const view = new TestRunView(tree, run, new RunReports({ id: SUITE, kind: "suite", whole: true }), SUITE, () => undefined);
    view.take({ kind: "graded", task: "one", item: `${task}::asked`, grader: "asked", trial: 1, status: "graded", passed: true, score: 1 });
    const graders = [{ name: "asked", verdict: "passed" as const, feedback: "" }];
    view.take({ kind: "errored", task: "one", item: task, conclusion: { verdict: "errored", reason: "not logged in", graders } });
    assert.deepEqual(shown, ["passed one::asked", "skipped one::unasked", "errored one"]);
});

void test("a run of one grader keeps the verdicts of a failed task and its suite", () => {
    const { tree, run, shown } = treeOf({});
    const [task, other] = [`${SUITE}::one`, `${SUITE}::two`];
    const take = (kind: "suite" | "grader", grader: string, passed: boolean, ended: RunEvent[]) => {
        const id = kind === "suite" ? SUITE : `${task}::${grader}`;
        const view = new TestRunView(tree, run, new RunReports({ id, kind, whole: true }), id, () => undefined);
        view.take({ kind: "graded", task: "one", item: `${task}::${grader}`, grader, trial: 1, status: "graded", passed, score: 1 });
        ended.forEach((event) => {
            view.take(event);
        });
        view.end(undefined);
        return shown.splice(0);
    };
    const closed = (verdict: "passed" | "failed", grader: string): RunEvent => {
        const graders = [{ name: grader, verdict, feedback: "" }];
        return { kind: verdict, task: "one", item: task, conclusion: { verdict, reason: "", graders } };
    };
    const second: RunEvent = { kind: "passed", task: "two", item: other, conclusion: { verdict: "passed", reason: "", graders: [] } };
    assert.deepEqual(take("suite", "long", false, [closed("failed", "long"), second]), ["failed one::long", "failed one", "passed two"]);
    assert.deepEqual(take("grader", "short", true, [closed("passed", "short")]), ["passed one::short", "failed one", "failed "]);
    tree.showStale(SUITE, [{ id: task, words: "stale: a newer run is recorded, it passed", whole: false }]);
    assert.deepEqual(take("grader", "short", true, [closed("passed", "short")]), ["passed one::short"]);
});

void test("a passing task does not turn a suite green in which another task failed", () => {
    const { tree, run, shown, output } = treeOf({});
    const [one, two] = [tree.item(`${SUITE}::one`), tree.item(`${SUITE}::two`)];
    const runOf = (item: TestItem, kind: "passed" | "failed") => {
        const view = new TestRunView(tree, run, new RunReports({ id: item.id, kind: "task", whole: true }), item.id, () => undefined);
        view.take({ kind, task: item.label, item: item.id, conclusion: { verdict: kind, reason: "", graders: [] } });
        view.end(undefined);
        return shown.splice(0);
    };
    assert.deepEqual(runOf(two, "failed"), ["failed two"]);
    assert.deepEqual(runOf(one, "passed"), ["passed one", "failed "]);
    assert.match(output.join(""), /Not run now: `two` did not pass in the last run\./u);
    assert.deepEqual(runOf(two, "passed"), ["passed two"]);
    const uri = Object.assign(Uri.file("/ws/two.yaml"), { toString: () => "file:///ws/two.yaml" });
    Object.assign(two, { uri });
    tree.showRecorded(new Map([["file:///ws/two.yaml", { reason: "0 of 1", run: "" }]]) as never);
    assert.deepEqual(runOf(one, "passed"), ["passed one", "failed "]);
});

void test("a run names the expectations of a task that was not read yet", () => {
    const { tree, run } = treeOf({});
    const id = `${SUITE}::one::_output_contains`;
    const view = new TestRunView(tree, run, new RunReports({ id: SUITE, kind: "suite", whole: true }), SUITE, () => undefined);
    const event = { kind: "graded", task: "one", item: id, grader: "_output_contains", label: "expected.output_contains", trial: 1, status: "graded" };
    view.take({ ...event, passed: false, score: 0 });
    assert.equal(tree.item(id).label, "expected.output_contains");
});

void test("an item that runs loses its stale reason, a queued one keeps it", () => {
    const { tree, run } = treeOf({});
    const [one, two] = [tree.item(`${SUITE}::one`), tree.item(`${SUITE}::two`)];
    tree.showStale(SUITE, [one, two].map(({ id }) => ({ id, words: "stale", whole: false })));
    const view = new TestRunView(tree, run, new RunReports({ id: SUITE, kind: "suite", whole: true }), SUITE, () => undefined);
    view.take({ kind: "started", task: "one", item: one.id, trial: 1 });
    assert.deepEqual([one.description, two.description], ["", "stale"]);
});

void test("graders of an interrupted task lose their old icon", () => {
    const { tree, run, shown } = treeOf({});
    const task = `${SUITE}::one`;
    tree.item(`${task}::greets`);
    const view = new TestRunView(tree, run, new RunReports({ id: SUITE, kind: "suite", whole: true }), SUITE, () => undefined);
    view.take({ kind: "started", task: "one", item: task, trial: 1 });
    view.take({ kind: "ended", status: "error", conclusion: { verdict: "interrupted", reasons: ["the run was interrupted"] } });
    assert.deepEqual(shown.slice(0, 2), ["skipped one::greets", "errored one"]);
});

void test("a run that does not start removes old icons of the selected items only", () => {
    const runWithoutStart = (request: { tasks?: string[] }, ...events: RunEvent[]) => {
        const { tree, run, shown } = treeOf({});
        ["one::greets", "two::greets"].forEach((id) => tree.item(`${SUITE}::${id}`));
        tree.item(`${SUITE}#triggers:Greet me`);
        const reports = new RunReports({ id: SUITE, kind: "suite", whole: request.tasks === undefined });
        const view = new TestRunView(tree, run, reports, SUITE, () => undefined, (item) => tree.descendants(item, request));
        events.forEach((event) => {
            view.take(event);
        });
        view.end("`copilot` is not an executor");
        return shown;
    };
    assert.deepEqual(runWithoutStart({}), ["errored ", "skipped one", "skipped one::greets", "skipped two", "skipped two::greets", "skipped "]);
    assert.deepEqual(runWithoutStart({ tasks: ["two"] }), ["errored ", "skipped two", "skipped two::greets"]);
    assert.deepEqual(runWithoutStart({}, { kind: "run_started", total: 2 }), ["errored "]); // its reported verdicts stay
});

void test("a run of one grader keeps the other graders of its task", () => {
    const { tree, run, shown } = treeOf({});
    const task = `${SUITE}::one`;
    [`${task}::asked`, `${task}::other`].forEach((id) => tree.item(id));
    const view = new TestRunView(tree, run, new RunReports({ id: `${task}::asked`, kind: "grader", whole: true }), `${task}::asked`, () => undefined);
    view.take({ kind: "errored", task: "one", item: task, conclusion: { verdict: "errored", reason: "not logged in", graders: [] } });
    view.take({ kind: "ended", status: "failed", conclusion: { verdict: "errored" } });
    assert.deepEqual(shown.filter((each) => each.includes("other")), []);
});

void test("the output names the task before each answer", () => {
    const { tree, run, output } = treeOf({});
    const task = `${SUITE}::one`;
    const view = new TestRunView(tree, run, new RunReports({ id: SUITE, kind: "suite", whole: true }), SUITE, () => undefined);
    for (const trial of [1, 2]) {
        view.take({ kind: "started", task: "one", item: task, label: "one", trial });
        view.take({ kind: "output", task: "one", item: task, trial, message: "Hello." });
    }
    view.take({ kind: "ended", conclusion: { verdict: "broken", words: "0 of 1 task passed, 1 in error", reasons: ["1 task could not be run"] } });
    assert.deepEqual(output, ["▶ one", "Hello.", "▶ one · trial 2", "Hello.", "0 of 1 task passed, 1 in error\r\n1 task could not be run"]);
});

void test("the output has the reasons of errors and skips, and the end of a run once", () => {
    const { tree, run, output } = treeOf({});
    const [broken, hidden] = [`${SUITE}::broken`, `${SUITE}::hidden`];
    const view = new TestRunView(tree, run, new RunReports({ id: SUITE, kind: "suite", whole: true }), SUITE, () => undefined);
    const reason = "the agent gave up: 503 overloaded";
    view.take({ kind: "started", task: "broken", item: broken, trial: 1 });
    view.take({ kind: "errored", task: "broken", item: broken, trial: 1, message: reason });
    view.take({ kind: "errored", task: "broken", item: broken, conclusion: { verdict: "errored", reason, graders: [] } });
    view.take({ kind: "skipped", task: "hidden", item: hidden, message: "nothing was judged" });
    const end = "the run was interrupted; finished tasks were saved";
    view.take({ kind: "ended", status: "canceled", message: end, conclusion: { verdict: "interrupted", words: `${end} · 0 of 2 tasks passed`, reasons: [end] } });
    assert.deepEqual(output, ["▶ broken", `! ${reason}`, "– nothing was judged", `${end} · 0 of 2 tasks passed`]);
});

/** Returns the messages of a failed grader whose failure is located in this file. */
function messagesOf(file: string, failure: object): { text: string; compared: boolean }[] {
    const { tree, run, messages } = treeOf({});
    const task = `${SUITE}::one`;
    tree.item(task, "Greets people");
    const view = new TestRunView(tree, run, new RunReports({ id: SUITE, kind: "suite", whole: true }), SUITE, () => undefined);
    const location = { uri: file, range: RANGE };
    const event = { task: "one", item: `${task}::greets`, grader: "greets", trial: 1, status: "graded", passed: false, score: 0 };
    view.take({ ...event, kind: "graded", failures: [{ message: "no greeting", location, ...failure }] });
    const graders = [{ name: "greets", verdict: "failed" as const, feedback: "" }];
    view.take({ kind: "failed", task: "one", item: task, conclusion: { verdict: "failed", reason: "", graders } });
    return messages.map(({ message, expectedOutput }) => ({ text: message as string, compared: expectedOutput !== undefined }));
}

void test("a failure in the eval file names its task", () => {
    assert.deepEqual(messagesOf(SUITE, {}).map(({ text }) => text), ["no greeting · Greets people"]);
    assert.deepEqual(messagesOf("/ws/alpha/evals/greeter/tasks/one.yaml", {}).map(({ text }) => text), ["no greeting"]);
});

void test("two strings are shown as a diff unless one is empty", () => {
    assert.deepEqual(messagesOf(SUITE, { expected: "hello", actual: "bye" }).map(({ compared }) => compared), [true]);
    assert.deepEqual(messagesOf(SUITE, { expected: "hello", actual: "" }).map(({ compared }) => compared), [false]);
});

void test("the server decides whether a grader runs alone, whatever its name", async () => {
    const task = `${SUITE}::one`;
    const [named, asked] = [`${task}::greets after turn 2`, `${task}::asks after turn 1`];
    const item = { kind: "grader", hasChildren: false, uri: SUITE, range: RANGE };
    const { tree } = treeOf({}, [{ ...item, id: named, runs: named, label: "greets after turn 2" }, { ...item, id: asked, runs: task, label: "asks after turn 1" }]);
    await tree.resolve(tree.item(task));
    assert.deepEqual(plannedRuns([named], [], tree.runnable), [{ id: named }]);
    assert.deepEqual(plannedRuns([asked], [], tree.runnable), [{ id: task }]);
    assert.deepEqual(plannedRegrades([named, asked], [named], tree.runnable), [task]);
    assert.deepEqual(plannedRuns([`${task}#trial-2::greets after turn 2`], [], tree.runnable), [{ id: task }]);
});

void test("a disabled task is marked as off and cannot run", async () => {
    const [off, on] = [`${SUITE}::off`, `${SUITE}::on`];
    const item = { kind: "task", hasChildren: true, uri: SUITE, range: RANGE };
    const below = [{ ...item, id: off, runs: null as string | null, label: "off" }, { ...item, id: on, runs: on, label: "on" }];
    const { tree } = treeOf({}, below);
    const suite = tree.item(SUITE);
    await tree.resolve(suite);
    assert.deepEqual([tree.item(off).description, tree.item(off).tags.length], ["off", 0]);
    assert.deepEqual([tree.item(on).description, tree.item(on).tags.length], ["", 1]);
    assert.deepEqual(plannedRuns([off, on, `${off}#trial-1`], [], tree.runnable), [{ id: on }]);
    assert.deepEqual(plannedRegrades([off], [], tree.runnable), []);
    Object.assign(below[0] ?? {}, { runs: off });
    await tree.resolve(suite);
    assert.deepEqual([tree.item(off).description, tree.item(off).tags.length], ["", 1]);
});

void test("trials are at the line of their task, sorted by number", () => {
    const { tree } = treeOf({});
    const task = tree.item(`${SUITE}::one`, "one", { uri: `file://${SUITE}`, range: { ...RANGE, start: { line: 7, character: 0 } } });
    const trials = [10, 2].map((number) => tree.item(`${SUITE}::one#trial-${String(number)}`));
    assert.deepEqual(trials.map(({ range }) => range), [task.range, task.range]);
    const [ten, two] = trials.map(({ sortText }) => sortText ?? "");
    assert.ok(ten !== undefined && two !== undefined && two < ten);
});

void test("suites with the same name show the part of their paths that differs", async () => {
    const [one, two, lone] = ["/ws/alpha/a/greeter/eval.yaml", "/ws/alpha/b/greeter/eval.yaml", "/ws/alpha/c/eval.yaml"];
    const { tree, items } = treeOf({ [one]: "greeter", [two]: "greeter", [lone]: "writer" });
    await tree.resolve();
    const descriptions: unknown[] = [];
    items.forEach(({ description }) => descriptions.push(description));
    assert.deepEqual(descriptions, ["alpha · a", "alpha · b", "alpha"]);
    assert.deepEqual([one, two, lone].map(titleOf), ["greeter (a)", "greeter (b)", "writer"]);
});

void test("distinguishing paths are minimal and never empty", () => {
    const item = (...files: string[]) => [...distinguishingPaths(files.map((file) => ({ name: "greeter", file }))).values()];
    assert.deepEqual(item("/ws/a/eval.yaml", "/ws/b/eval.yaml"), ["a", "b"]);
    assert.deepEqual(item("/ws/eval.yaml", "/ws/eval-2.yaml"), ["eval.yaml", "eval-2.yaml"]);
    assert.deepEqual(item("/ws/greeter/eval.yaml", "/ws/old/greeter/eval.yaml"), ["greeter", "old/greeter"]);
    assert.deepEqual(item("C:\\ws\\a\\eval.yaml", "C:\\ws\\b\\eval.yaml"), ["a", "b"]);
    assert.deepEqual(item("/ws/a/eval.yaml"), []);
});

void test("a suite that was deleted during its run is removed from the tree", async () => {
    const { tree, items } = treeOf({ [SUITE]: "greeter" });
    await tree.resolve();
    tree.item(`${SUITE}::one#trial-1`);
    assert.equal(tree.hasUnreported, true);
    const removed = tree.item(SUITE.replace("eval.yaml", "nightly-eval.yaml"));
    await tree.refresh();
    const ids: string[] = [];
    items.forEach(({ id }) => ids.push(id));
    assert.deepEqual([ids, tree.has(removed.uri ?? assert.fail("it has no file")), tree.hasUnreported], [[SUITE], false, false]);
    tree.item(`${SUITE}::own`);
    await tree.refresh();
    tree.item(`${SUITE}::own#trial-1`);
    assert.equal(items.size, 1);
});
