import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import * as vscode from "vscode";
import { EditsOfMoves } from "../src/editsOfMoves";
import { filesOfWindow, settings } from "./fake/vscode";

interface Open {
    uri: vscode.Uri;
    isDirty: boolean;
    save: () => Promise<boolean>;
}

const open = vscode.workspace.textDocuments as unknown as Open[];
const saved: string[] = [];
const moves = new EditsOfMoves();

beforeEach(() => {
    [open.length, saved.length] = [0, 0];
    settings.window = {};
});

function document(file: string, isDirty: boolean): Open {
    const made = { uri: vscode.Uri.file(file), isDirty, save: () => Promise.resolve(saved.push(made.uri.fsPath) > 0) };
    open.push(made);
    return made;
}

/** Lets the server answer with edits of these files, before something is renamed or deleted. */
async function edited(...documents: readonly Open[]): Promise<void> {
    const edit = { entries: () => documents.map(({ uri }) => [uri, []]) } as unknown as vscode.WorkspaceEdit;
    await moves.middleware.willRenameFiles?.({} as vscode.FileWillRenameEvent, () => Promise.resolve(edit));
    documents.forEach((each) => (each.isDirty = true));
}

function rename(from: string, to: string): void {
    filesOfWindow.renamed.fire({ files: [{ oldUri: vscode.Uri.file(from), newUri: vscode.Uri.file(to) }] });
}

void test("what a rename has changed is saved with it, and what was unsaved before is not", async () => {
    const [task, evaluation] = [document("/ws/alpha/tasks/one.yaml", false), document("/ws/alpha/eval.yaml", true)];
    await edited(task, evaluation);
    assert.deepEqual(saved, []);
    rename("/ws/alpha/fixtures/a.csv", "/ws/alpha/fixtures/b.csv");
    assert.deepEqual(saved, ["/ws/alpha/tasks/one.yaml"]);
});

void test("a suite that moves with its folder is saved where it lies then", async () => {
    const evaluation = document("/ws/alpha/eval.yaml", false);
    await edited(evaluation);
    evaluation.uri = vscode.Uri.file("/ws/gamma/eval.yaml");
    rename("/ws/alpha", "/ws/gamma");
    assert.deepEqual(saved, ["/ws/gamma/eval.yaml"]);
});

void test("a deletion saves, too, and only its own edits", async () => {
    const evaluation = document("/ws/alpha/eval.yaml", false);
    await edited(evaluation);
    filesOfWindow.deleted.fire({ files: [] });
    filesOfWindow.deleted.fire({ files: [] });
    assert.deepEqual(saved, ["/ws/alpha/eval.yaml"]);
});

void test("nothing is saved where refactorings are not", async () => {
    settings.window = { "files.refactoring.autoSave": false };
    await edited(document("/ws/alpha/eval.yaml", false));
    rename("/ws/alpha/a.csv", "/ws/alpha/b.csv");
    assert.deepEqual(saved, []);
});
