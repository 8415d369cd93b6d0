import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { Uri, type Memento } from "vscode";
import { ErrorCodes, type LanguageClient, ResponseError } from "vscode-languageclient/node";
import { ResultPage } from "../src/resultPage";
import { files, panel } from "./fake/vscode";

const SUITE = "/ws/alpha/evals/greeter/eval.yaml";
const ANSWER = { markdown: "of the newest run", resultsFile: "/r/1.json", goesOn: false, regraded: false, waits: false, workspaces: [], answered: [], tasks: [] };

let answer = ANSWER;
/** The recorded runs that the server returns, the newest first. */
let recorded: string[] = [];
const server = {
    sendRequest: (method: string, { record }: { record?: string }) => {
        if (method === "waza/recordedRuns") {
            return Promise.resolve(recorded.map((resultsFile) => ({ resultsFile })));
        }
        if (record === undefined) {
            return Promise.resolve(answer);
        }
        return files.has(record) ? Promise.resolve({ ...answer, markdown: `of ${record}`, resultsFile: record }) : Promise.reject(new ResponseError(ErrorCodes.InvalidParams, "no recorded run"));
    },
} as unknown as LanguageClient;
const memory = { get: () => undefined, update: () => Promise.resolve(), keys: () => [] } as unknown as Memento;

beforeEach(() => {
    answer = ANSWER;
    recorded = [];
    files.clear();
    [SUITE, "/r/1.json", "/r/2.json"].forEach((file) => files.add(file));
    mock.timers.enable({ apis: ["setTimeout"] });
});

afterEach(() => {
    mock.timers.reset();
});

/** The page of the suite, open. */
async function opened(): Promise<ResultPage> {
    const page = new ResultPage(() => server, () => Promise.resolve(), Uri.file("/extension"), memory);
    await page.open(SUITE);
    return page;
}

/** Waits until the page is drawn again. */
async function redrawn(): Promise<void> {
    mock.timers.tick(1_000);
    for (let turn = 0; turn < 20; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
    }
}

const html = () => panel.webview.html;

void test("during a run the page of an earlier one has a notice, and then shows the new run", async () => {
    const page = await opened();
    assert.doesNotMatch(html(), /notice/u);
    const view = page.view(SUITE);
    await redrawn();
    assert.match(html(), /A run is in progress; this page shows an earlier one/u);
    view.take({ kind: "ended", results_file: "/r/2.json" });
    view.end(undefined);
    await redrawn();
    assert.match(html(), /of \/r\/2\.json/u);
    assert.doesNotMatch(html(), /notice/u);
});

void test("the page of an active run has no notice, nor has that of another suite", async () => {
    answer = { ...ANSWER, goesOn: true, resultsFile: "/r/3.partial.jsonl" };
    const page = await opened();
    page.view(SUITE);
    page.view("/ws/beta/evals/greeter/eval.yaml");
    await redrawn();
    assert.doesNotMatch(html(), /notice/u);
});

void test("a notice says that answers were graded again", async () => {
    const page = await opened();
    answer = { ...ANSWER, regraded: true };
    page.refreshSoon();
    await redrawn();
    assert.match(html(), /Graded again since/u);
});

void test("a notice says that the shown run was deleted, until another one ends", async () => {
    const page = await opened();
    files.delete("/r/1.json");
    answer = { ...ANSWER, markdown: "of the run before", resultsFile: "/r/2.json" };
    page.refreshSoon();
    await redrawn();
    assert.match(html(), /The recorded run that was shown here is gone: \/r\/1\.json/u);
    assert.match(html(), /of the run before/u);
    page.view(`${SUITE}::one`).end(undefined);
    await redrawn();
    assert.doesNotMatch(html(), /notice/u);
});

void test("the run that has just ended stays until there is a newer one, also from a terminal", async () => {
    const page = await opened();
    recorded = ["/r/2.json", "/r/1.json"];
    const view = page.view(SUITE);
    view.take({ kind: "ended", results_file: "/r/2.json" });
    view.end(undefined);
    await redrawn();
    page.refreshSoon();
    await redrawn();
    assert.match(html(), /of \/r\/2\.json/u);
    answer = { ...ANSWER, markdown: "of a terminal", resultsFile: "/r/3.json" };
    recorded = ["/r/3.json", ...recorded];
    page.refreshSoon();
    await redrawn();
    assert.match(html(), /of a terminal/u);
});
