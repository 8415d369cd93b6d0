import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { LogOutputChannel } from "vscode";
import { ErrorCodes, ResponseError, type LanguageClient } from "vscode-languageclient/node";
import type { RunEvent, RunEventParams } from "../src/runEvents";
import { Runs, type RunRequest } from "../src/runs";
import type { InvalidSetting } from "../src/runSettings";
import { RunStatusBar } from "../src/runStatus";
import { entries, offered, pressed, shown, workspace } from "./fake/vscode";

const ALPHA = "/ws/alpha/evals/greeter/eval.yaml";
const BETA = "/ws/beta/evals/greeter/eval.yaml";
const GAMMA = "/ws/beta/evals/writer/eval.yaml";

interface PendingRequest {
    readonly argument: RunRequest & { readonly workDoneToken: string };
    readonly answer: (answer: unknown) => void;
    readonly reject: (error: Error) => void;
}

/** A window whose server answers on demand; `received` has the events that the views got, in order. */
class Window {
    readonly requests: PendingRequest[] = [];
    readonly received: string[] = [];
    readonly bar = new RunStatusBar((requests) => void this.runs.runEach(() => this.client, requests));
    invalid: InvalidSetting | undefined;
    private listener: ((params: RunEventParams) => void) | undefined;
    private readonly runs = new Runs({} as LogOutputChannel, (suite) => (suite === ALPHA ? { trials: 2 } : {}), () => this.invalid);
    private readonly client = {
        onProgress: () => ({ dispose: () => undefined }),
        onNotification: (_type: string, listener: (params: RunEventParams) => void) => {
            this.listener = listener;
        },
        sendRequest: (_type: unknown, parameters: { arguments: [PendingRequest["argument"]] }) =>
            new Promise((answer, reject) => {
                this.requests.push({ argument: parameters.arguments[0], answer, reject });
            }),
    } as unknown as LanguageClient;

    constructor() {
        this.runs.addView((request, batch) => this.bar.viewOf(request, batch));
        this.runs.onDidEndBatch((batch) => {
            this.bar.showBatch(batch);
        });
        this.runs.regrades.onDidEnd((regraded) => {
            this.bar.showRegraded(regraded);
        });
        this.runs.addView(({ id, tasks }) => ({
            take: (event) => this.received.push(`${tasks?.join() ?? id}: ${event.conclusion?.verdict ?? ""}`),
            end: () => this.received.push(`${tasks?.join() ?? id} is over`),
        }));
        this.runs.listen(this.client);
    }

    /** Starts a run; returns its request, or undefined if none was sent. */
    async run(request: RunRequest): Promise<PendingRequest | undefined> {
        const before = this.requests.length;
        void this.runs.run(this.client, request);
        await settled();
        return this.requests[before];
    }

    /** Starts a batch of runs, which the server answers with these verdicts. */
    async runBatch(...verdicts: ("failed" | "passed")[]): Promise<void> {
        const suites = [ALPHA, BETA, GAMMA].slice(0, verdicts.length);
        const before = this.requests.length;
        void this.runs.runEach(() => this.client, suites.map((id) => ({ id })));
        for (const [number, verdict] of verdicts.entries()) {
            await settled();
            const request = this.requests[before + number];
            if (verdict === "failed") {
                this.sendEvent(request, { kind: "failed", item: `${request?.argument.id ?? ""}::two`, conclusion: { verdict } });
            }
            this.sendEvent(request, { kind: "ended", results_file: "/r.json", conclusion: { verdict, words: `2 tasks: ${verdict}` } });
            request?.answer({ status: verdict === "passed" ? "completed" : "failed", resultsFile: "/r.json", message: null });
        }
        await settled();
    }

    /** Starts a re-grade as a lens does; returns the ids of the created views. */
    async regradeFromLens(id: string): Promise<string[]> {
        const viewedIds: string[] = [];
        this.runs.setRegradeView((each) => {
            viewedIds.push(each);
            return { take: () => undefined, end: () => undefined };
        });
        await this.runs.middleware(() => this.client)("waza.regrade", [{ id }], () => Promise.resolve(undefined));
        return viewedIds;
    }

    /** Creates a suite as a lens does. */
    async newSuite(server: () => Promise<unknown>): Promise<void> {
        await this.runs.middleware(() => this.client)("waza.newSuite", [{}], server);
    }

    /** Waits for active runs as a change of the environment does; returns a function that tells whether it has finished. */
    async waitUntilIdle(): Promise<() => boolean> {
        let isDone = false;
        void this.runs.whenIdle("Runs go on.").then(() => {
            isDone = true;
        });
        await settled();
        return () => isDone;
    }

    /** Runs a re-grade with these events. */
    async regradeWithEvents(id: string, ...events: Omit<RunEvent, "regraded">[]): Promise<void> {
        const regrading = this.regrade(id);
        await settled();
        events.forEach((event) => {
            this.sendEvent(this.requests.at(-1), { ...event, regraded: true });
        });
        this.requests.at(-1)?.answer({ status: "completed", tasks: 1, message: null });
        await regrading;
    }

    /** Runs a re-grade; returns the events of its view. */
    async regrade(id: string): Promise<string[]> {
        const received: string[] = [];
        await this.runs.regrades.regrade(this.client, id, { take: ({ kind }) => received.push(kind), end: () => received.push("ended") });
        return received;
    }

    sendEnd(request: PendingRequest | undefined, verdict: string, words: string): void {
        this.sendEvent(request, { kind: "ended", conclusion: { verdict, words } });
    }

    sendEvent(request: PendingRequest | undefined, event: RunEvent): void {
        const { id, workDoneToken: token } = request?.argument ?? assert.fail("no request was sent");
        this.listener?.({ id, token, event });
    }
}

function settled(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
}

const windows: Window[] = [];

function opened(): Window {
    const window = new Window();
    windows.push(window);
    return window;
}

afterEach(async () => {
    for (const { requests, bar } of windows.splice(0)) {
        requests.forEach(({ answer }) => {
            answer({ status: "completed", resultsFile: null, message: null });
        });
        await settled();
        bar.dispose();
    }
    shown.length = 0;
    pressed.button = undefined;
});

void test("a run uses the settings of its folder", async () => {
    const window = opened();
    assert.deepEqual((await window.run({ id: ALPHA }))?.argument.options, { trials: 2 });
    assert.deepEqual((await window.run({ id: BETA }))?.argument.options, {});
});

void test("an invalid setting prevents a run and is reported", async () => {
    const window = opened();
    window.invalid = { name: "waza.run.maxCost", words: "The run was not started: the setting `waza.run.maxCost` is -1; write a number." };
    assert.equal(await window.run({ id: ALPHA }), undefined);
    assert.deepEqual([shown.at(-1), offered], [window.invalid.words, ["Open Settings"]]);
    assert.deepEqual(window.received, []);
});

void test("a rejected request shows its reason, with a button for the file that it names", async () => {
    const broken = new Error("/ws/alpha/SKILL.md:3: the YAML is broken: put the text into quotes.");
    const window = opened();
    await window.newSuite(() => Promise.reject(broken));
    assert.deepEqual([shown.at(-1), offered], ["The YAML is broken: put the text into quotes. (SKILL.md, line 3)", ["Open File"]]);
    await window.newSuite(() => Promise.reject(new Error("no file fits")));
    assert.deepEqual([shown.at(-1), offered], ["No file fits", []]);
});

void test("a run waits for a file that is being saved, and does not start if that fails", async () => {
    const document = { isDirty: true, uri: { scheme: "file", fsPath: ALPHA }, save: () => Promise.resolve(false) };
    Object.assign(workspace, { textDocuments: [document] });
    try {
        const window = opened();
        void window.run({ id: ALPHA });
        await delay(10);
        assert.equal(window.requests.length, 0);
        document.isDirty = false;
        await delay(200);
        assert.equal(window.requests.length, 1);
        document.isDirty = true;
        void window.run({ id: BETA });
        void window.run({ id: `${ALPHA}::one` });
        await delay(3_500);
        assert.deepEqual(window.requests.map(({ argument }) => argument.id), [ALPHA, BETA]);
    } finally {
        Object.assign(workspace, { textDocuments: [] });
    }
});

void test("a new environment waits for active runs", async () => {
    const window = opened();
    assert.equal((await window.waitUntilIdle())(), true);
    assert.equal(shown.length, 0);
    const [first, second] = [await window.run({ id: ALPHA }), await window.run({ id: BETA })];
    const isDone = await window.waitUntilIdle();
    assert.equal(shown.at(-1), "Runs go on.");
    first?.answer({ status: "completed", resultsFile: null, message: null });
    await settled();
    assert.equal(isDone(), false);
    second?.answer({ status: "completed", resultsFile: null, message: null });
    await settled();
    assert.equal(isDone(), true);
});

void test("an identical active run is not started again; with other options it is", async () => {
    const window = opened();
    await window.run({ id: ALPHA });
    assert.equal(await window.run({ id: ALPHA }), undefined);
    assert.equal(shown.at(-1), "alpha › greeter is already running with the same options.");
    assert.notEqual(await window.run({ id: ALPHA, options: { trials: 5 } }), undefined);
    assert.notEqual(await window.run({ id: ALPHA, tasks: ["one"] }), undefined);
});

void test("two runs of one suite have separate events and status bar entries", async () => {
    const window = opened();
    await window.run({ id: ALPHA });
    const part = await window.run({ id: ALPHA, tasks: ["one"] });
    window.sendEnd(part, "failed", "0 of 1 task passed, 1 failed");
    part?.answer({ status: "failed", resultsFile: null, message: null });
    await settled();
    assert.deepEqual(window.received, ["one: failed", "one is over"]);
    assert.deepEqual(entries.map(({ id }) => id), ["waza.run", "waza.run.2"]);
    assert.match(entries[0]?.text ?? "", /sync~spin\) alpha › greeter/u);
    assert.match(entries[0]?.accessibilityInformation?.label ?? "", /^Waza: running, alpha › greeter/u);
    assert.match(entries[1]?.text ?? "", /alpha › greeter: 0 of 1 task passed, 1 failed · 0:00/u);
});

void test("a run whose server stops ends as interrupted", async () => {
    const window = opened();
    const request = await window.run({ id: BETA });
    request?.reject(new ResponseError(ErrorCodes.PendingResponseRejected, "Pending response rejected since connection got disposed"));
    await settled();
    assert.deepEqual(window.received, [`${BETA}: interrupted`, `${BETA} is over`]);
    assert.match(entries[0]?.text ?? "", /beta › greeter: interrupted: the language server stopped; what was … · 0:00/u);
    assert.equal(shown.at(-1), "The language server stopped during the run; finished tasks were saved.");
});

void test('"Re-run Failed" runs the failed items of its own run only', async () => {
    const window = opened();
    const [alpha, beta] = [await window.run({ id: ALPHA }), await window.run({ id: BETA })];
    for (const request of [alpha, beta]) {
        const suite = request?.argument.id ?? "";
        const failed = { kind: "failed", conclusion: { verdict: "failed" } };
        window.sendEvent(request, { kind: "passed", item: `${suite}::one`, conclusion: { verdict: "passed" } });
        window.sendEvent(request, { ...failed, item: `${suite}::two`, trial: 1 });
        window.sendEvent(request, { ...failed, item: `${suite}::two` });
        window.sendEvent(request, { kind: "tried", item: `${suite}#triggers:greet`, status: "passed" });
        window.sendEvent(request, { kind: "tried", item: `${suite}#leaves:deploy`, status: "failed" });
        window.sendEnd(request, "failed", "1 of 2 tasks passed, 1 failed");
    }
    alpha?.answer({ status: "failed", resultsFile: null, message: null });
    await settled();
    pressed.button = "Re-run Failed";
    beta?.answer({ status: "failed", resultsFile: null, message: null });
    await settled();
    pressed.button = undefined;
    window.requests[2]?.answer({ status: "completed", resultsFile: null, message: null });
    await settled();
    const again = window.requests.slice(2).map(({ argument: { id, tasks, prompts } }) => ({ id, tasks, prompts }));
    assert.deepEqual(again, [{ id: BETA, tasks: ["two"], prompts: ["deploy"] }]); // a single run, with one message at its end
});

void test('"Re-run Failed" reports that everything has passed since', async () => {
    const window = opened();
    const later = async (verdict: "failed" | "passed", ...tasks: string[]) => {
        const id = tasks.length > 1 ? BETA : `${BETA}::${tasks[0] ?? ""}`;
        const request = await window.run({ id });
        for (const task of tasks) {
            window.sendEvent(request, { kind: verdict, item: `${BETA}::${task}`, conclusion: { verdict } });
        }
        window.sendEnd(request, verdict, `${String(tasks.length)} tasks: ${verdict}`);
        request?.answer({ status: verdict === "passed" ? "completed" : "failed", resultsFile: null, message: null });
        await settled();
    };
    let press: (button: string) => void = () => undefined;
    pressed.later = new Promise((resolve) => (press = resolve));
    await later("failed", "one", "two");
    pressed.later = undefined;
    await later("passed", "one");
    await later("passed", "two");
    press("Re-run Failed");
    await settled();
    assert.equal(shown.at(-1), "Waza: everything that failed in this run has passed since.");
    assert.equal(window.requests.length, 3);
});

void test("a batch of runs is reported in one message", async () => {
    const window = opened();
    await window.runBatch("failed", "passed", "failed");
    const messages = shown.filter((message) => !message.startsWith("Waza: "));
    assert.deepEqual(messages, [
        "3 runs: 2 failed, 1 passed · 0:00 · alpha › greeter: 2 tasks: failed · 0:00; beta › writer: 2 tasks: failed · 0:00",
    ]);
    assert.deepEqual(offered, ["Show Failures", "Re-run Failed"]);
    assert.deepEqual(entries.map(({ text }) => text), ["$(error) 3 runs: 2 failed, 1 passed · 0:00"]);
});

void test('"Re-run Failed" of a batch runs the failed items only', async () => {
    const window = opened();
    pressed.button = "Re-run Failed";
    await window.runBatch("failed", "passed", "failed");
    pressed.button = undefined;
    window.requests[3]?.answer({ status: "completed", resultsFile: null, message: null });
    await settled();
    assert.deepEqual(window.requests.slice(3).map(({ argument }) => argument.id), [`${ALPHA}::two`, `${GAMMA}::two`]);
});

void test("a batch with one failed run offers its result", async () => {
    const window = opened();
    await window.runBatch("passed", "failed");
    assert.deepEqual(offered, ["Show Failures", "Re-run Failed", "Open Result"]);
    await window.runBatch("passed", "passed");
    assert.deepEqual(entries.map(({ text }) => text), ["$(pass) 2 runs: 2 passed · 0:00"]);
});

void test("results that could not be written cannot be opened", async () => {
    const window = opened();
    const withoutResults = { kind: "ended", conclusion: { verdict: "failed", words: "0 of 1 task passed, 1 failed" } };
    for (const [event, isOffered] of [[withoutResults, false], [{ ...withoutResults, results_file: "/ws/alpha/.waza/results/1.json" }, true]] as const) {
        const request = await window.run({ id: ALPHA });
        window.sendEvent(request, { kind: "failed", item: `${ALPHA}::one`, conclusion: { verdict: "failed" } });
        window.sendEvent(request, event);
        request?.answer({ status: "failed", resultsFile: event === withoutResults ? null : "/ws/alpha/.waza/results/1.json", message: null });
        await settled();
        assert.deepEqual([offered.includes("Show Failures"), offered.includes("Open Result")], [true, isOffered]);
    }
});

void test('without a failed task there is no "Re-run Failed"', async () => {
    const window = opened();
    pressed.button = "Re-run Failed";
    const request = await window.run({ id: BETA, tasks: ["one", "two"] });
    window.sendEnd(request, "failed", "0 of 2 tasks passed");
    request?.answer({ status: "failed", resultsFile: null, message: null });
    await settled();
    pressed.button = undefined;
    assert.equal(window.requests.length, 1);
    assert.deepEqual(offered, ["Show Failures"]);
});

void test("failures next to a task in error can be shown and run again", async () => {
    const window = opened();
    pressed.button = "Re-run Failed";
    const request = await window.run({ id: BETA });
    window.sendEvent(request, { kind: "failed", item: `${BETA}::two`, conclusion: { verdict: "failed" } });
    window.sendEvent(request, { kind: "errored", item: `${BETA}::three`, conclusion: { verdict: "errored" } });
    window.sendEnd(request, "broken", "1 of 3 tasks passed, 1 failed, 1 in error · three.yaml:2: no list");
    request?.answer({ status: "failed", resultsFile: null, message: null });
    await settled();
    pressed.button = undefined;
    assert.ok(shown.some((message) => message.includes("1 failed, 1 in error · three.yaml:2: no list")), shown.join("\n"));
    assert.deepEqual(window.requests[1]?.argument.tasks, ["two", "three"]);
});

void test("failures before a limit stopped the run can be shown and run again", async () => {
    const window = opened();
    pressed.button = "Re-run Failed";
    const limit = "stopped: $0.12 of at most $0.10 was spent; what was finished is kept";
    const request = await window.run({ id: BETA });
    window.sendEvent(request, { kind: "failed", item: `${BETA}::two`, conclusion: { verdict: "failed" } });
    window.sendEvent(request, { kind: "ended", status: "error", conclusion: { verdict: "limited", words: `${limit} · 0 of 3 tasks passed, 1 failed, 2 not run`, tasks: { failed: 1 } } });
    request?.answer({ status: "error", resultsFile: "/r.json", message: limit });
    await settled();
    pressed.button = undefined;
    assert.equal(shown.filter((message) => message.includes("$0.12 of at most")).length, 1, shown.join("\n"));
    assert.match(shown.find((message) => message.includes("$0.12 of at most")) ?? "", /1 failed, 2 not run/u);
    assert.deepEqual(window.requests.slice(1).map(({ argument }) => argument.id), [`${BETA}::two`]);
});

void test("failures of a run without stored results can be shown, and the message has the error", async () => {
    const window = opened();
    const request = await window.run({ id: BETA });
    window.sendEvent(request, { kind: "failed", item: `${BETA}::two`, conclusion: { verdict: "failed" } });
    window.sendEnd(request, "failed", "0 of 1 task passed, 1 failed");
    request?.answer({ status: "error", resultsFile: null, message: "Results cannot be written to /r: the disk is full." });
    await settled();
    assert.equal(shown.length, 2, shown.join("\n"));
    assert.match(shown[1] ?? "", /1 failed · 0:00 · Results cannot be written to \/r: the disk is full\./u);
});

void test("a limit without failures offers no failures", async () => {
    const window = opened();
    pressed.button = "Re-run Failed";
    const request = await window.run({ id: BETA });
    window.sendEnd(request, "limited", "stopped by a limit");
    request?.answer({ status: "error", resultsFile: null, message: "stopped by a limit" });
    await settled();
    pressed.button = undefined;
    assert.deepEqual(shown, ["Waza: beta › greeter", "Stopped by a limit"]);
    assert.equal(window.requests.length, 1);
});

void test("a run whose results could not be written has not passed in the status bar", async () => {
    const window = opened();
    const request = await window.run({ id: BETA });
    window.sendEnd(request, "passed", "1 of 1 task passed");
    request?.answer({ status: "error", resultsFile: null, message: "The results cannot be written: the disk is full." });
    await settled();
    const text = entries[0]?.text ?? "";
    assert.match(text, /\$\(warning\) beta › greeter: 1 of 1 task passed · 0:00 · The results cannot be written: the/u);
});

void test("a run that ended before its server stopped keeps its verdict", async () => {
    const window = opened();
    const request = await window.run({ id: BETA });
    window.sendEnd(request, "passed", "1 of 1 task passed");
    request?.reject(new ResponseError(ErrorCodes.PendingResponseRejected, "Pending response rejected since connection got disposed"));
    await settled();
    assert.deepEqual(window.received, [`${BETA}: passed`, `${BETA} is over`]);
    assert.match(entries[0]?.text ?? "", /\$\(pass\) beta › greeter: 1 of 1 task passed/u);
    assert.match(entries[0]?.accessibilityInformation?.label ?? "", /^Waza: passed, beta › greeter: 1 of 1 task passed/u);
    assert.equal(shown.some((message) => message.includes("language server stopped")), false);
});

void test("the verdict of a re-grade replaces that of the run in the status bar", async () => {
    const window = opened();
    await window.runBatch("failed");
    assert.match(entries[0]?.text ?? "", /\$\(error\) alpha › greeter: 2 tasks: failed/u);
    await window.regradeWithEvents(ALPHA, { kind: "ended", conclusion: { verdict: "passed", words: "2 of 2 tasks passed" } });
    assert.deepEqual(entries.map(({ text }) => text), ["$(pass) ↻ alpha › greeter: 2 of 2 tasks passed"]);
    const ended = { kind: "ended", conclusion: { verdict: "failed", words: "0 of 1 task passed" } };
    await window.regradeWithEvents(ALPHA, ended, ended); // of two records
    assert.deepEqual(entries.map(({ text }) => text), ["$(pass) ↻ alpha › greeter: 2 of 2 tasks passed"]);
});

void test('"Re-run Failed" leaves out items that passed in a re-grade', async () => {
    const window = opened();
    const request = await window.run({ id: ALPHA });
    window.sendEvent(request, { kind: "failed", item: `${ALPHA}::two`, conclusion: { verdict: "failed" } });
    window.sendEnd(request, "failed", "1 failed");
    let press: (button: string) => void = () => undefined;
    pressed.later = new Promise((resolve) => (press = resolve));
    request?.answer({ status: "failed", resultsFile: "/r.json", message: null });
    await settled();
    pressed.later = undefined;
    const passed = { kind: "passed", item: `${ALPHA}::two`, conclusion: { verdict: "passed" } };
    await window.regradeWithEvents(ALPHA, passed);
    const before = window.requests.length;
    press("Re-run Failed");
    await settled();
    assert.equal(shown.at(-1), "Waza: everything that failed in this run has passed since.");
    assert.equal(window.requests.length, before);
});

void test("an untrusted workspace does not run or re-grade", async () => {
    const window = opened();
    workspace.isTrusted = false;
    try {
        assert.equal(await window.run({ id: ALPHA }), undefined);
        assert.match(shown.at(-1) ?? "", /^Runs .* need a trusted workspace\.$/u);
        assert.deepEqual(await window.regrade(ALPHA), ["ended"]);
        assert.match(shown.at(-1) ?? "", /^Graders .* needs a trusted workspace\.$/u);
        assert.deepEqual(await window.regradeFromLens(ALPHA), []); // what is shown of earlier runs stays
        assert.match(shown.at(-1) ?? "", /^Graders .* needs a trusted workspace\.$/u);
        assert.deepEqual(window.requests, []);
    } finally {
        workspace.isTrusted = true;
    }
});
