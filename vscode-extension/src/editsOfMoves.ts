/**
 * What suites say of a file changes with it when it is renamed, moved or deleted in the Explorer. VS Code saves what a refactoring has
 * changed (`files.refactoring.autoSave`), but not these edits: left unsaved, a suite would name on disk what is not there any more.
 */

import * as path from "node:path";
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";

export class EditsOfMoves implements vscode.Disposable {
    private readonly listeners: vscode.Disposable;
    /** The files that are edited with what is moved now; those in which something was unsaved before are the person's to save. */
    private readonly edited = new Set<string>();

    constructor() {
        this.listeners = vscode.Disposable.from(
            vscode.workspace.onDidRenameFiles(({ files }) => {
                this.save((edited) => files.reduce(moved, edited));
            }),
            vscode.workspace.onDidDeleteFiles(() => {
                this.save((edited) => edited);
            }),
        );
    }

    /** Looks on at the edits that the server answers with. */
    readonly middleware: NonNullable<Middleware["workspace"]> = {
        willRenameFiles: async (event, next) => this.noted(await next(event)),
        willDeleteFiles: async (event, next) => this.noted(await next(event)),
    };

    dispose(): void {
        this.listeners.dispose();
    }

    private noted<Edit extends vscode.WorkspaceEdit | null | undefined>(edit: Edit): Edit {
        const unsaved = new Set(vscode.workspace.textDocuments.filter(({ isDirty }) => isDirty).map(({ uri }) => uri.fsPath));
        this.edited.clear(); // of one that was given up
        if (vscode.workspace.getConfiguration("files.refactoring").get<boolean>("autoSave") !== false) {
            for (const [uri] of edit?.entries() ?? []) {
                if (!unsaved.has(uri.fsPath)) {
                    this.edited.add(uri.fsPath);
                }
            }
        }
        return edit;
    }

    private save(placeOf: (edited: string) => string): void {
        const places = new Set([...this.edited].map(placeOf));
        this.edited.clear();
        for (const document of vscode.workspace.textDocuments) {
            if (document.isDirty && places.has(document.uri.fsPath)) {
                void document.save(); // where the person has left the change out, it is not dirty
            }
        }
    }
}

/** Where a file lies after a rename: it, or a folder around it, may be what was renamed. */
function moved(file: string, { oldUri, newUri }: { readonly oldUri: vscode.Uri; readonly newUri: vscode.Uri }): string {
    const [from, to] = [oldUri.fsPath, newUri.fsPath];
    return file === from || file.startsWith(from + path.sep) ? to + file.slice(from.length) : file;
}
