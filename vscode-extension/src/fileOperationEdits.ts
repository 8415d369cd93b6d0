/**
 * Saves the edits that the server makes in suites when a file that they name is renamed, moved or deleted in the Explorer.
 *
 * VS Code saves the edits of a refactoring (`files.refactoring.autoSave`), but not these: left unsaved, a suite on disk would name a
 * file that no longer exists.
 */

import * as path from "node:path";
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";

type Renames = readonly Parameters<typeof pathAfterRename>[1][];

/** A rename or deletion in the Explorer, and the texts of the suites that changed with it. */
interface Change {
    readonly renames: Renames;
    readonly deleted: readonly string[];
    readonly texts: readonly { readonly file: string; readonly before: string; readonly after: string }[];
}

/** The number of changes that can be undone. */
const MAX_CHANGES = 20;

export class FileOperationEdits implements vscode.Disposable {
    private readonly listeners: vscode.Disposable;
    /** The earlier texts of the files that the current operation edits; files that had unsaved changes are left for the user to save. */
    private readonly edited = new Map<string, string>();
    /** True if VS Code has requested the edits of the current operation; it does not for an undo or a redo. */
    private isAnnounced = false;
    /** Newest first. */
    private readonly changes: Change[] = [];

    constructor() {
        this.listeners = vscode.Disposable.from(
            vscode.workspace.onDidRenameFiles(({ files }) => void this.onRenamed(files)),
            vscode.workspace.onDidDeleteFiles(({ files }) => void this.deleted(files.map(({ fsPath }) => fsPath))),
            vscode.workspace.onDidCreateFiles(({ files }) => {
                const created = new Set(files.map(({ fsPath }) => fsPath));
                const undone = this.changes.find(({ deleted }) => deleted.length > 0 && deleted.every((file) => created.has(file)));
                void this.replaceTexts(undone, "after", "before");
            }),
        );
    }

    /** Remembers the texts before the edits that the server returns. */
    readonly middleware: NonNullable<Middleware["workspace"]> = {
        willRenameFiles: async (event, next) => this.prepare(await next(event)),
        willDeleteFiles: async (event, next) => this.prepare(await next(event)),
    };

    dispose(): void {
        this.listeners.dispose();
    }

    private async prepare<Edit extends vscode.WorkspaceEdit | null | undefined>(edit: Edit): Promise<Edit> {
        const unsaved = new Set(vscode.workspace.textDocuments.filter(({ isDirty }) => isDirty).map(({ uri }) => uri.fsPath));
        this.edited.clear(); // the previous operation may have been cancelled
        this.isAnnounced = true;
        if (vscode.workspace.getConfiguration("files.refactoring").get<boolean>("autoSave") !== false) {
            for (const [uri] of edit?.entries() ?? []) {
                if (!unsaved.has(uri.fsPath)) {
                    this.edited.set(uri.fsPath, (await vscode.workspace.openTextDocument(uri)).getText());
                }
            }
        }
        return edit;
    }

    private async onRenamed(renames: Renames): Promise<void> {
        if (this.isAnnounced) {
            await this.save(renames, []);
            return;
        }
        const reversed = renames.map(({ oldUri, newUri }) => ({ oldUri: newUri, newUri: oldUri }));
        const undone = this.changes.find((change) => isSameRenames(change.renames, reversed));
        await this.replaceTexts(undone, "after", "before", renames);
        if (undone === undefined) {
            await this.replaceTexts(this.changes.find((change) => isSameRenames(change.renames, renames)), "before", "after");
        }
    }

    private async deleted(files: readonly string[]): Promise<void> {
        if (this.isAnnounced) {
            await this.save([], files);
        } else {
            await this.replaceTexts(this.changes.find((change) => change.deleted.join("\n") === files.join("\n")), "before", "after");
        }
    }

    /** Saves the files that the operation has changed; in the preview the user may have excluded some. */
    private async save(renames: Renames, deleted: readonly string[]): Promise<void> {
        const before = new Map([...this.edited].map(([file, text]) => [renames.reduce(pathAfterRename, file), text]));
        this.edited.clear();
        this.isAnnounced = false;
        const changed = vscode.workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && before.has(uri.fsPath));
        const texts = changed.map((document) => ({ file: document.uri.fsPath, before: before.get(document.uri.fsPath) ?? "", after: document.getText() }));
        this.changes.unshift({ renames, deleted, texts });
        this.changes.splice(MAX_CHANGES);
        await Promise.all(changed.map((document) => document.save()));
    }

    /** Reverts or repeats the edits of an operation: VS Code undoes only the move of the files, because the edits were saved. */
    private async replaceTexts(change: Change | undefined, expected: "before" | "after", replacement: "before" | "after", renames: Renames = []): Promise<void> {
        for (const text of change?.texts ?? []) {
            const document = await vscode.workspace.openTextDocument(vscode.Uri.file(renames.reduce(pathAfterRename, text.file)));
            if (document.getText() === text[expected]) {
                const edit = new vscode.WorkspaceEdit();
                edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text[replacement]);
                await vscode.workspace.applyEdit(edit);
            }
            if (document.isDirty && document.getText() === text[replacement]) {
                await document.save();
            }
        }
    }
}

function isSameRenames(some: Renames, others: Renames): boolean {
    const [one, other] = [some, others].map((renames) => renames.map(({ oldUri, newUri }) => `${oldUri.fsPath}\n${newUri.fsPath}`).join("\n"));
    return one === other && some.length > 0;
}

/** Returns the path of a file after a rename of the file or of a folder around it. */
function pathAfterRename(file: string, { oldUri, newUri }: { readonly oldUri: vscode.Uri; readonly newUri: vscode.Uri }): string {
    const [from, to] = [oldUri.fsPath, newUri.fsPath];
    return file === from || file.startsWith(from + path.sep) ? to + file.slice(from.length) : file;
}
