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

interface Asked {
    readonly argument: RunRequest & { readonly workDoneToken: string };
    readonly answer: (answer: unknown) => void;
    readonly refuse: (error: Error) => void;
}

/** Runs whose server answers when it is told to; `heard` has what a view heard of each, in order. */
class Window {
    readonly asked: Asked[] = [];
    readonly heard: string[] = [];
    readonly bar = new RunStatusBar((requests) => void this.runs.runEach(() => this.client, requests));
    wrong: InvalidSetting | undefined;
    private hear: ((told: RunEventParams) => void) | undefined;
    private readonly runs = new Runs({} as LogOutputChannel, (suite) => (suite === ALPHA ? { trials: 2 } : {}), () => this.wrong);
    private readonly client = {
        onProgress: () => ({ dispose: () => undefined }),
        onNotification: (_type: string, hear: (told: RunEventParams) => void) => {
            this.hear = hear;
        },
        sendRequest: (_type: unknown, parameters: { arguments: [Asked["argument"]] }) =>
            new Promise((answer, refuse) => {
                this.asked.push({ argument: parameters.arguments[0], answer, refuse });
            }),
    } as unknown as LanguageClient;

    constructor() {
        this.runs.addView((request, together) => this.bar.viewOf(request, together));
        this.runs.onDidEndBatch((together) => {
            this.bar.showBatch(together);
        });
        this.runs.regrades.onDidEnd((regraded) => {
            this.bar.showRegraded(regraded);
        });
        this.runs.addView(({ id, tasks }) => ({
            take: (event) => this.heard.push(`${tasks?.join() ?? id}: ${event.conclusion?.verdict ?? ""}`),
            end: () => this.heard.push(`${tasks?.join() ?? id} is over`),
        }));
        this.runs.listen(this.client);
    }

    /** Asks for a run; resolves when the server has been asked, or was not. */
    async run(request: RunRequest): Promise<Asked | undefined> {
        const before = this.asked.length;
        void this.runs.run(this.client, request);
        await settled();
        return this.asked[before];
    }

    /** Asks for several runs at once, which the server answers one after the other as failed or passed. */
    async runTogether(...verdicts: ("failed" | "passed")[]): Promise<void> {
        const suites = [ALPHA, BETA, GAMMA].slice(0, verdicts.length);
        const before = this.asked.length;
        void this.runs.runEach(() => this.client, suites.map((id) => ({ id })));
        for (const [number, verdict] of verdicts.entries()) {
            await settled();
            const asked = this.asked[before + number];
            if (verdict === "failed") {
                this.tellEvent(asked, { kind: "failed", item: `${asked?.argument.id ?? ""}::two`, conclusion: { verdict } });
            }
            this.tellEvent(asked, { kind: "ended", results_file: "/r.json", conclusion: { verdict, words: `2 tasks: ${verdict}` } });
            asked?.answer({ status: verdict === "passed" ? "completed" : "failed", resultsFile: "/r.json", message: null });
        }
        await settled();
    }

    /** Asks for a re-grade as a lens does; resolves to the ids for which a view was made. */
    async regradeFromLens(id: string): Promise<string[]> {
        const viewed: string[] = [];
        this.runs.setRegradeView((each) => {
            viewed.push(each);
            return { take: () => undefined, end: () => undefined };
        });
        await this.runs.middleware(() => this.client)("waza.regrade", [{ id }], () => Promise.resolve(undefined));
        return viewed;
    }

    /** Asks for a new suite as a lens does. */
    async newSuite(server: () => Promise<unknown>): Promise<void> {
        await this.runs.middleware(() => this.client)("waza.newSuite", [{}], server);
    }

    /** What a change of the environment does: waits for the runs that go on; resolves to whether it is done. */
    async change(): Promise<() => boolean> {
        let isDone = false;
        void this.runs.whenIdle("Runs go on.").then(() => {
            isDone = true;
        });
        await settled();
        return () => isDone;
    }

    /** Asks for a re-grade that tells of these events before it ends. */
    async regradeThatTells(id: string, ...events: Omit<RunEvent, "regraded">[]): Promise<void> {
        const regrading = this.regrade(id);
        await settled();
        events.forEach((event) => {
            this.tellEvent(this.asked.at(-1), { ...event, regraded: true });
        });
        this.asked.at(-1)?.answer({ status: "completed", tasks: 1, message: null });
        await regrading;
    }

    /** Asks for a re-grade; resolves to what its view heard. */
    async regrade(id: string): Promise<string[]> {
        const heard: string[] = [];
        await this.runs.regrades.regrade(this.client, id, { take: ({ kind }) => heard.push(kind), end: () => heard.push("ended") });
        return heard;
    }

    tell(asked: Asked | undefined, verdict: string, words: string): void {
        this.tellEvent(asked, { kind: "ended", conclusion: { verdict, words } });
    }

    tellEvent(asked: Asked | undefined, event: RunEvent): void {
        const { id, workDoneToken: token } = asked?.argument ?? assert.fail("nothing was asked");
        this.hear?.({ id, token, event });
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
    for (const { asked, bar } of windows.splice(0)) {
        asked.forEach(({ answer }) => {
            answer({ status: "completed", resultsFile: null, message: null });
        });
        await settled();
        bar.dispose();
    }
    shown.length = 0;
    pressed.button = undefined;
});

void test("each folder's own settings hold for its runs", async () => {
    const window = opened();
    assert.deepEqual((await window.run({ id: ALPHA }))?.argument.options, { trials: 2 });
    assert.deepEqual((await window.run({ id: BETA }))?.argument.options, {});
});

void test("a setting that makes no sense keeps a run from its start, and says so", async () => {
    const window = opened();
    window.wrong = { name: "waza.run.maxCost", words: "The run was not started: the setting `waza.run.maxCost` is -1; write a number." };
    assert.equal(await window.run({ id: ALPHA }), undefined);
    assert.deepEqual([shown.at(-1), offered], [window.wrong.words, ["Open Settings"]]);
    assert.deepEqual(window.heard, []);
});

void test("what the server refuses is told by its reason, with the file that it speaks of", async () => {
    const broken = new Error("/ws/alpha/SKILL.md:3: the YAML is broken: put the text into quotes.");
    const window = opened();
    await window.newSuite(() => Promise.reject(broken));
    assert.deepEqual([shown.at(-1), offered], ["The YAML is broken: put the text into quotes. (SKILL.md, line 3)", ["Open File"]]);
    await window.newSuite(() => Promise.reject(new Error("no file fits")));
    assert.deepEqual([shown.at(-1), offered], ["No file fits", []]);
});

void test("a file that VS Code is saving already is no reason not to run; one that cannot be saved is", async () => {
    const document = { isDirty: true, uri: { scheme: "file", fsPath: ALPHA }, save: () => Promise.resolve(false) };
    Object.assign(workspace, { textDocuments: [document] });
    try {
        const window = opened();
        void window.run({ id: ALPHA });
        await delay(10);
        assert.equal(window.asked.length, 0);
        document.isDirty = false;
        await delay(200);
        assert.equal(window.asked.length, 1);
        document.isDirty = true;
        void window.run({ id: BETA });
        void window.run({ id: `${ALPHA}::one` });
        await delay(3_500);
        assert.deepEqual(window.asked.map(({ argument }) => argument.id), [ALPHA, BETA]);
    } finally {
        Object.assign(workspace, { textDocuments: [] });
    }
});

void test("another environment waits for the runs that go on, which would be cancelled", async () => {
    const window = opened();
    assert.equal((await window.change())(), true);
    assert.equal(shown.length, 0);
    const [first, second] = [await window.run({ id: ALPHA }), await window.run({ id: BETA })];
    const isDone = await window.change();
    assert.equal(shown.at(-1), "Runs go on.");
    first?.answer({ status: "completed", resultsFile: null, message: null });
    await settled();
    assert.equal(isDone(), false);
    second?.answer({ status: "completed", resultsFile: null, message: null });
    await settled();
    assert.equal(isDone(), true);
});

void test("what runs already is not run twice; with other options it is a run of its own", async () => {
    const window = opened();
    await window.run({ id: ALPHA });
    assert.equal(await window.run({ id: ALPHA }), undefined);
    assert.equal(shown.at(-1), "alpha › greeter is already running with the same options.");
    assert.notEqual(await window.run({ id: ALPHA, options: { trials: 5 } }), undefined);
    assert.notEqual(await window.run({ id: ALPHA, tasks: ["one"] }), undefined);
});

void test("two runs of one suite hear of themselves alone, and each has its entry in the status bar", async () => {
    const window = opened();
    await window.run({ id: ALPHA });
    const part = await window.run({ id: ALPHA, tasks: ["one"] });
    window.tell(part, "failed", "0 of 1 task passed, 1 failed");
    part?.answer({ status: "failed", resultsFile: null, message: null });
    await settled();
    assert.deepEqual(window.heard, ["one: failed", "one is over"]);
    assert.deepEqual(entries.map(({ id }) => id), ["waza.run", "waza.run.2"]);
    assert.match(entries[0]?.text ?? "", /sync~spin\) alpha › greeter/u);
    assert.match(entries[0]?.accessibilityInformation?.label ?? "", /^Waza: running, alpha › greeter/u);
    assert.match(entries[1]?.text ?? "", /alpha › greeter: 0 of 1 task passed, 1 failed · 0:00/u);
});

void test("a run that is lost with its server has ended as interrupted, in words of ours", async () => {
    const window = opened();
    const asked = await window.run({ id: BETA });
    asked?.refuse(new ResponseError(ErrorCodes.PendingResponseRejected, "Pending response rejected since connection got disposed"));
    await settled();
    assert.deepEqual(window.heard, [`${BETA}: interrupted`, `${BETA} is over`]);
    assert.match(entries[0]?.text ?? "", /beta › greeter: interrupted: the language server stopped; what was … · 0:00/u);
    assert.equal(shown.at(-1), "The language server stopped during the run; finished tasks were saved.");
});

void test("what failed in a run is run again, and nothing of another run", async () => {
    const window = opened();
    const [alpha, beta] = [await window.run({ id: ALPHA }), await window.run({ id: BETA })];
    for (const asked of [alpha, beta]) {
        const suite = asked?.argument.id ?? "";
        const failed = { kind: "failed", conclusion: { verdict: "failed" } };
        window.tellEvent(asked, { kind: "passed", item: `${suite}::one`, conclusion: { verdict: "passed" } });
        window.tellEvent(asked, { ...failed, item: `${suite}::two`, trial: 1 });
        window.tellEvent(asked, { ...failed, item: `${suite}::two` });
        window.tellEvent(asked, { kind: "tried", item: `${suite}#triggers:greet`, status: "passed" });
        window.tellEvent(asked, { kind: "tried", item: `${suite}#leaves:deploy`, status: "failed" });
        window.tell(asked, "failed", "1 of 2 tasks passed, 1 failed");
    }
    alpha?.answer({ status: "failed", resultsFile: null, message: null });
    await settled();
    pressed.button = "Re-run Failed";
    beta?.answer({ status: "failed", resultsFile: null, message: null });
    await settled();
    pressed.button = undefined;
    window.asked[2]?.answer({ status: "completed", resultsFile: null, message: null });
    await settled();
    const again = window.asked.slice(2).map(({ argument: { id, tasks, prompts } }) => ({ id, tasks, prompts }));
    assert.deepEqual(again, [{ id: BETA, tasks: ["two"], prompts: ["deploy"] }]); // one run, which ends with one message
});

void test("what has passed since in another run is not run again by the message before it, which says so", async () => {
    const window = opened();
    const later = async (verdict: "failed" | "passed", ...tasks: string[]) => {
        const id = tasks.length > 1 ? BETA : `${BETA}::${tasks[0] ?? ""}`;
        const asked = await window.run({ id });
        for (const task of tasks) {
            window.tellEvent(asked, { kind: verdict, item: `${BETA}::${task}`, conclusion: { verdict } });
        }
        window.tell(asked, verdict, `${String(tasks.length)} tasks: ${verdict}`);
        asked?.answer({ status: verdict === "passed" ? "completed" : "failed", resultsFile: null, message: null });
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
    assert.equal(window.asked.length, 3);
});

void test("several runs that were asked for at once are told once, true of all of them", async () => {
    const window = opened();
    await window.runTogether("failed", "passed", "failed");
    const messages = shown.filter((message) => !message.startsWith("Waza: "));
    assert.deepEqual(messages, [
        "3 runs: 2 failed, 1 passed · 0:00 · alpha › greeter: 2 tasks: failed · 0:00; beta › writer: 2 tasks: failed · 0:00",
    ]);
    assert.deepEqual(offered, ["Show Failures", "Re-run Failed"]);
    assert.deepEqual(entries.map(({ text }) => text), ["$(error) 3 runs: 2 failed, 1 passed · 0:00"]);
});

void test("what failed in several runs is run again, and what passed is not", async () => {
    const window = opened();
    pressed.button = "Re-run Failed";
    await window.runTogether("failed", "passed", "failed");
    pressed.button = undefined;
    window.asked[3]?.answer({ status: "completed", resultsFile: null, message: null });
    await settled();
    assert.deepEqual(window.asked.slice(3).map(({ argument }) => argument.id), [`${ALPHA}::two`, `${GAMMA}::two`]);
});

void test("of several runs the only one that failed has its result opened", async () => {
    const window = opened();
    await window.runTogether("passed", "failed");
    assert.deepEqual(offered, ["Show Failures", "Re-run Failed", "Open Result"]);
    await window.runTogether("passed", "passed");
    assert.deepEqual(entries.map(({ text }) => text), ["$(pass) 2 runs: 2 passed · 0:00"]);
});

void test("results that could not be written are not offered to be opened", async () => {
    const window = opened();
    const lost = { kind: "ended", conclusion: { verdict: "failed", words: "0 of 1 task passed, 1 failed" } };
    for (const [event, wanted] of [[lost, false], [{ ...lost, results_file: "/ws/alpha/.waza/results/1.json" }, true]] as const) {
        const asked = await window.run({ id: ALPHA });
        window.tellEvent(asked, { kind: "failed", item: `${ALPHA}::one`, conclusion: { verdict: "failed" } });
        window.tellEvent(asked, event);
        asked?.answer({ status: "failed", resultsFile: event === lost ? null : "/ws/alpha/.waza/results/1.json", message: null });
        await settled();
        assert.deepEqual([offered.includes("Show Failures"), offered.includes("Open Result")], [true, wanted]);
    }
});

void test("nothing is offered to be run again when no task by itself has failed", async () => {
    const window = opened();
    pressed.button = "Re-run Failed";
    const asked = await window.run({ id: BETA, tasks: ["one", "two"] });
    window.tell(asked, "failed", "0 of 2 tasks passed");
    asked?.answer({ status: "failed", resultsFile: null, message: null });
    await settled();
    pressed.button = undefined;
    assert.equal(window.asked.length, 1);
    assert.deepEqual(offered, ["Show Failures"]);
});

void test("what failed beside a task that could not be run at all can be walked, and run again", async () => {
    const window = opened();
    pressed.button = "Re-run Failed";
    const asked = await window.run({ id: BETA });
    window.tellEvent(asked, { kind: "failed", item: `${BETA}::two`, conclusion: { verdict: "failed" } });
    window.tellEvent(asked, { kind: "errored", item: `${BETA}::three`, conclusion: { verdict: "errored" } });
    window.tell(asked, "broken", "1 of 3 tasks passed, 1 failed, 1 in error · three.yaml:2: no list");
    asked?.answer({ status: "failed", resultsFile: null, message: null });
    await settled();
    pressed.button = undefined;
    assert.ok(shown.some((message) => message.includes("1 failed, 1 in error · three.yaml:2: no list")), shown.join("\n"));
    assert.deepEqual(window.asked[1]?.argument.tasks, ["two", "three"]);
});

void test("what failed before a limit stopped the run can be walked and run again, and is told once", async () => {
    const window = opened();
    pressed.button = "Re-run Failed";
    const limit = "stopped: $0.12 of at most $0.10 was spent; what was finished is kept";
    const asked = await window.run({ id: BETA });
    window.tellEvent(asked, { kind: "failed", item: `${BETA}::two`, conclusion: { verdict: "failed" } });
    window.tellEvent(asked, { kind: "ended", status: "error", conclusion: { verdict: "limited", words: `${limit} · 0 of 3 tasks passed, 1 failed, 2 not run`, tasks: { failed: 1 } } });
    asked?.answer({ status: "error", resultsFile: "/r.json", message: limit });
    await settled();
    pressed.button = undefined;
    assert.equal(shown.filter((message) => message.includes("$0.12 of at most")).length, 1, shown.join("\n"));
    assert.match(shown.find((message) => message.includes("$0.12 of at most")) ?? "", /1 failed, 2 not run/u);
    assert.deepEqual(window.asked.slice(1).map(({ argument }) => argument.id), [`${BETA}::two`]);
});

void test("what failed in a run whose results are lost can be walked, and the message says what was lost", async () => {
    const window = opened();
    const asked = await window.run({ id: BETA });
    window.tellEvent(asked, { kind: "failed", item: `${BETA}::two`, conclusion: { verdict: "failed" } });
    window.tell(asked, "failed", "0 of 1 task passed, 1 failed");
    asked?.answer({ status: "error", resultsFile: null, message: "Results cannot be written to /r: the disk is full." });
    await settled();
    assert.equal(shown.length, 2, shown.join("\n"));
    assert.match(shown[1] ?? "", /1 failed · 0:00 · Results cannot be written to \/r: the disk is full\./u);
});

void test("a limit that was reached before anything failed has nothing to walk", async () => {
    const window = opened();
    pressed.button = "Re-run Failed";
    const asked = await window.run({ id: BETA });
    window.tell(asked, "limited", "stopped by a limit");
    asked?.answer({ status: "error", resultsFile: null, message: "stopped by a limit" });
    await settled();
    pressed.button = undefined;
    assert.deepEqual(shown, ["Waza: beta › greeter", "Stopped by a limit"]);
    assert.equal(window.asked.length, 1);
});

void test("a run whose results could not be written is no pass in the status bar, and says why", async () => {
    const window = opened();
    const asked = await window.run({ id: BETA });
    window.tell(asked, "passed", "1 of 1 task passed");
    asked?.answer({ status: "error", resultsFile: null, message: "The results cannot be written: the disk is full." });
    await settled();
    const text = entries[0]?.text ?? "";
    assert.match(text, /\$\(warning\) beta › greeter: 1 of 1 task passed · 0:00 · The results cannot be written: the/u);
});

void test("a run whose end was heard before its server was lost has ended as it did, and once", async () => {
    const window = opened();
    const asked = await window.run({ id: BETA });
    window.tell(asked, "passed", "1 of 1 task passed");
    asked?.refuse(new ResponseError(ErrorCodes.PendingResponseRejected, "Pending response rejected since connection got disposed"));
    await settled();
    assert.deepEqual(window.heard, [`${BETA}: passed`, `${BETA} is over`]);
    assert.match(entries[0]?.text ?? "", /\$\(pass\) beta › greeter: 1 of 1 task passed/u);
    assert.match(entries[0]?.accessibilityInformation?.label ?? "", /^Waza: passed, beta › greeter: 1 of 1 task passed/u);
    assert.equal(shown.some((message) => message.includes("language server stopped")), false);
});

void test("what answers come to that were graded again stands in the status bar, in place of the run", async () => {
    const window = opened();
    await window.runTogether("failed");
    assert.match(entries[0]?.text ?? "", /\$\(error\) alpha › greeter: 2 tasks: failed/u);
    await window.regradeThatTells(ALPHA, { kind: "ended", conclusion: { verdict: "passed", words: "2 of 2 tasks passed" } });
    assert.deepEqual(entries.map(({ text }) => text), ["$(pass) ↻ alpha › greeter: 2 of 2 tasks passed"]);
    const ended = { kind: "ended", conclusion: { verdict: "failed", words: "0 of 1 task passed" } };
    await window.regradeThatTells(ALPHA, ended, ended); // of two records
    assert.deepEqual(entries.map(({ text }) => text), ["$(pass) ↻ alpha › greeter: 2 of 2 tasks passed"]);
});

void test("what passes when it is graded again is not run again by the message before it", async () => {
    const window = opened();
    const asked = await window.run({ id: ALPHA });
    window.tellEvent(asked, { kind: "failed", item: `${ALPHA}::two`, conclusion: { verdict: "failed" } });
    window.tell(asked, "failed", "1 failed");
    let press: (button: string) => void = () => undefined;
    pressed.later = new Promise((resolve) => (press = resolve));
    asked?.answer({ status: "failed", resultsFile: "/r.json", message: null });
    await settled();
    pressed.later = undefined;
    const passed = { kind: "passed", item: `${ALPHA}::two`, conclusion: { verdict: "passed" } };
    await window.regradeThatTells(ALPHA, passed);
    const before = window.asked.length;
    press("Re-run Failed");
    await settled();
    assert.equal(shown.at(-1), "Waza: everything that failed in this run has passed since.");
    assert.equal(window.asked.length, before);
});

void test("an untrusted workspace runs nothing and grades nothing again, and is told where it is trusted", async () => {
    const window = opened();
    workspace.isTrusted = false;
    try {
        assert.equal(await window.run({ id: ALPHA }), undefined);
        assert.match(shown.at(-1) ?? "", /^Runs .* need a trusted workspace\.$/u);
        assert.deepEqual(await window.regrade(ALPHA), ["ended"]);
        assert.match(shown.at(-1) ?? "", /^Graders .* needs a trusted workspace\.$/u);
        assert.deepEqual(await window.regradeFromLens(ALPHA), []); // what is shown of earlier runs stays
        assert.match(shown.at(-1) ?? "", /^Graders .* needs a trusted workspace\.$/u);
        assert.deepEqual(window.asked, []);
    } finally {
        workspace.isTrusted = true;
    }
});
