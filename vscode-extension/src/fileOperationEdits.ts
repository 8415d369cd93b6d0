/**
 * Suites that name a file change with it when it is renamed, moved or deleted in the Explorer. VS Code saves the edits of a refactoring
 * (`files.refactoring.autoSave`), but not these: left unsaved, a suite on disk would name a file that no longer exists.
 */

import * as path from "node:path";
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";

type Renames = readonly Parameters<typeof pathAfterRename>[1][];

/** The files that were renamed or deleted in the Explorer, and the texts of the suites that changed with them. */
interface Change {
    readonly renames: Renames;
    readonly deleted: readonly string[];
    readonly texts: readonly { readonly file: string; readonly before: string; readonly after: string }[];
}

/** Changes that can be undone. */
const MAX_CHANGES = 20;

export class FileOperationEdits implements vscode.Disposable {
    private readonly listeners: vscode.Disposable;
    /** The texts of the files that are edited with the current move; files with unsaved changes before are left for the person to save. */
    private readonly edited = new Map<string, string>();
    /** VS Code has asked what changes with a move: one that it has not asked about is undone or done again. */
    private isAnnounced = false;
    /** The newest first. */
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

    /** Looks on at the edits that the server answers with. */
    readonly middleware: NonNullable<Middleware["workspace"]> = {
        willRenameFiles: async (event, next) => this.prepare(await next(event)),
        willDeleteFiles: async (event, next) => this.prepare(await next(event)),
    };

    dispose(): void {
        this.listeners.dispose();
    }

    private async prepare<Edit extends vscode.WorkspaceEdit | null | undefined>(edit: Edit): Promise<Edit> {
        const unsaved = new Set(vscode.workspace.textDocuments.filter(({ isDirty }) => isDirty).map(({ uri }) => uri.fsPath));
        this.edited.clear(); // of one that was given up
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

    /** Saves what has changed with a move, where the person has not left it out. */
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

    /** Takes the edits of a change back, or makes them again: VS Code does so with the files alone, for those edits were saved. */
    private async replaceTexts(change: Change | undefined, now: "before" | "after", then: "before" | "after", renames: Renames = []): Promise<void> {
        for (const text of change?.texts ?? []) {
            const document = await vscode.workspace.openTextDocument(vscode.Uri.file(renames.reduce(pathAfterRename, text.file)));
            if (document.getText() === text[now]) {
                const edit = new vscode.WorkspaceEdit();
                edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text[then]);
                await vscode.workspace.applyEdit(edit);
            }
            if (document.isDirty && document.getText() === text[then]) {
                await document.save();
            }
        }
    }
}

function isSameRenames(some: Renames, others: Renames): boolean {
    const [one, other] = [some, others].map((renames) => renames.map(({ oldUri, newUri }) => `${oldUri.fsPath}\n${newUri.fsPath}`).join("\n"));
    return one === other && some.length > 0;
}

/** Where a file is after a rename of it, or of a folder around it. */
function pathAfterRename(file: string, { oldUri, newUri }: { readonly oldUri: vscode.Uri; readonly newUri: vscode.Uri }): string {
    const [from, to] = [oldUri.fsPath, newUri.fsPath];
    return file === from || file.startsWith(from + path.sep) ? to + file.slice(from.length) : file;
}
