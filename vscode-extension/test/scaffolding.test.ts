import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageClient } from "vscode-languageclient/node";
import { createFiles } from "../src/scaffolding";
import { files, window } from "./fake/vscode";

const CLIENT = { protocol2CodeConverter: { asWorkspaceEdit: () => Promise.resolve(undefined) } } as unknown as LanguageClient;
const NEW = ["eval.yaml", "tasks/tea.yaml"].map((name) => ({ uri: `file:///ws/alpha/${name}`, text: "name: tea" }));

void test("new files are created after confirmation; a second click opens no second dialog", async () => {
    const dialogs: { detail: string; answer: (button: string | undefined) => void }[] = [];
    Object.assign(window, {
        showInformationMessage: (_: string, { detail }: { detail: string }) => new Promise((answer) => dialogs.push({ detail, answer })),
    });
    const create = () => createFiles(CLIENT, { label: "New suite", files: NEW, edit: null });
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    const first = create();
    await settled();
    assert.equal(await create(), false);
    assert.deepEqual(dialogs.map(({ detail }) => detail), ["eval.yaml\ntasks/tea.yaml"]);
    dialogs[0]?.answer(undefined);
    assert.deepEqual([await first, files.size], [false, 0]);
    const second = create();
    await settled();
    dialogs[1]?.answer("Create 2 Files");
    assert.equal(await second, true);
    assert.deepEqual([...files], ["/ws/alpha/eval.yaml", "/ws/alpha/tasks/tea.yaml"]);
});
