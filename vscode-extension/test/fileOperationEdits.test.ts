import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import * as vscode from "vscode";
import { FileOperationEdits } from "../src/fileOperationEdits";
import { filesOfWindow, settings } from "./fake/vscode";

interface Open {
    uri: vscode.Uri;
    isDirty: boolean;
    text: string;
    getText: () => string;
    save: () => Promise<boolean>;
}

const open = vscode.workspace.textDocuments as unknown as Open[];
const saved: string[] = [];
const edits = new FileOperationEdits();

beforeEach(() => {
    [open.length, saved.length] = [0, 0];
    settings.window = {};
});

function document(file: string, isDirty: boolean): Open {
    const opened = {
        uri: vscode.Uri.file(file),
        isDirty,
        text: "tasks: [a.yaml]",
        getText: () => opened.text,
        save: () => {
            opened.isDirty = false;
            return Promise.resolve(saved.push(opened.uri.fsPath) > 0);
        },
    };
    open.push(opened);
    return opened;
}

/** Makes the server return edits of these files before a rename or deletion. */
async function edited(...documents: readonly Open[]): Promise<void> {
    const edit = { entries: () => documents.map(({ uri }) => [uri, []]) } as unknown as vscode.WorkspaceEdit;
    await edits.middleware.willRenameFiles?.({} as vscode.FileWillRenameEvent, () => Promise.resolve(edit));
    documents.forEach((each) => Object.assign(each, { isDirty: true, text: "tasks: [b.yaml]" }));
}

function settled(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
}

function rename(from: string, to: string): void {
    filesOfWindow.renamed.fire({ files: [{ oldUri: vscode.Uri.file(from), newUri: vscode.Uri.file(to) }] });
}

void test("files that a rename edits are saved, unless they had unsaved changes", async () => {
    const [task, evaluation] = [document("/ws/alpha/tasks/one.yaml", false), document("/ws/alpha/eval.yaml", true)];
    await edited(task, evaluation);
    assert.deepEqual(saved, []);
    rename("/ws/alpha/fixtures/a.csv", "/ws/alpha/fixtures/b.csv");
    await settled();
    assert.deepEqual(saved, ["/ws/alpha/tasks/one.yaml"]);
});

void test("a suite that moves with its folder is saved at its new path", async () => {
    const evaluation = document("/ws/alpha/eval.yaml", false);
    await edited(evaluation);
    evaluation.uri = vscode.Uri.file("/ws/gamma/eval.yaml");
    rename("/ws/alpha", "/ws/gamma");
    await settled();
    assert.deepEqual(saved, ["/ws/gamma/eval.yaml"]);
});

void test("a deletion saves its own edits only", async () => {
    const evaluation = document("/ws/alpha/eval.yaml", false);
    await edited(evaluation);
    filesOfWindow.deleted.fire({ files: [] });
    await settled();
    filesOfWindow.deleted.fire({ files: [] });
    await settled();
    assert.deepEqual(saved, ["/ws/alpha/eval.yaml"]);
});

void test("nothing is saved if autoSave of refactorings is off", async () => {
    settings.window = { "files.refactoring.autoSave": false };
    await edited(document("/ws/alpha/eval.yaml", false));
    rename("/ws/alpha/a.csv", "/ws/alpha/b.csv");
    await settled();
    assert.deepEqual(saved, []);
});

void test("undoing a rename reverts its edits, and redoing it repeats them", async () => {
    const evaluation = document("/ws/alpha/eval.yaml", false);
    await edited(evaluation);
    rename("/ws/alpha/a.yaml", "/ws/alpha/b.yaml");
    await settled();
    rename("/ws/alpha/b.yaml", "/ws/alpha/a.yaml"); // VS Code requests no edits before an undo
    await settled();
    assert.deepEqual([evaluation.text, evaluation.isDirty], ["tasks: [a.yaml]", false]);
    rename("/ws/alpha/a.yaml", "/ws/alpha/b.yaml");
    await settled();
    assert.deepEqual([evaluation.text, evaluation.isDirty], ["tasks: [b.yaml]", false]);
});

void test("undoing a deletion reverts its edits in files without other changes", async () => {
    const [evaluation, other] = [document("/ws/alpha/eval.yaml", false), document("/ws/alpha/other/eval.yaml", false)];
    await edited(evaluation, other);
    const files = [vscode.Uri.file("/ws/alpha/a.yaml")];
    filesOfWindow.deleted.fire({ files });
    await settled();
    other.text = "tasks: [c.yaml]";
    filesOfWindow.created.fire({ files });
    await settled();
    assert.deepEqual([evaluation.text, evaluation.isDirty], ["tasks: [a.yaml]", false]);
    assert.equal(other.text, "tasks: [c.yaml]");
});

void test("undoing the move of a folder reverts the suites in it", async () => {
    const evaluation = document("/ws/alpha/eval.yaml", false);
    await edited(evaluation);
    evaluation.uri = vscode.Uri.file("/ws/gamma/eval.yaml");
    rename("/ws/alpha", "/ws/gamma");
    await settled();
    evaluation.uri = vscode.Uri.file("/ws/alpha/eval.yaml");
    rename("/ws/gamma", "/ws/alpha");
    await settled();
    assert.equal(evaluation.text, "tasks: [a.yaml]");
});
