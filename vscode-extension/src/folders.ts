/**
 * Folders that come or go outside of the editor: VS Code reports only the folder, which a watcher for suite files does not match.
 */

import * as path from "node:path";
import { setTimeout } from "node:timers/promises";
import * as vscode from "vscode";
import { DidCreateFilesNotification, DidDeleteFilesNotification, type LanguageClient } from "vscode-languageclient/node";

const GATHERED_MILLISECONDS = 500;
/** Names that are asked whether they are folders: a build makes more files than that, and none of a suite. */
const MOST_ASKED = 500;
/** Folders that are looked into one by one: where a checkout makes more, the server looks at all files of the window instead. */
const MOST_LOOKED_INTO = 50;
const SUITE_FILES = "**/{*.yaml,*.yml,SKILL.md}";
/** Files of suites, which other watchers report; everything else may be a folder, with a dot in its name or without. */
const SUITE_FILE = /(?:\.ya?ml|[/\\]SKILL\.md)$/u;
/** Folders full of files that belong to no suite and are reported one by one. */
const LEFT_OUT = /[/\\](?:node_modules|\.git|\.waza|__pycache__)(?:[/\\]|$)/u;

export class Folders implements vscode.Disposable {
    private readonly listeners: vscode.Disposable;
    private readonly created = new Map<string, vscode.Uri>();
    private readonly deleted = new Map<string, vscode.Uri>();
    private gathering = false;

    /**
     * @param knows returns whether a file of a suite is below a path, as far as it was shown
     * @param told called when a change was reported to the server
     */
    constructor(
        private readonly client: () => LanguageClient | undefined,
        private readonly knows: (folder: string) => boolean,
        private readonly told: () => void,
    ) {
        const watcher = vscode.workspace.createFileSystemWatcher("**", false, true, false);
        this.listeners = vscode.Disposable.from(
            watcher,
            watcher.onDidCreate((uri) => {
                this.gather(this.created, uri);
            }),
            watcher.onDidDelete((uri) => {
                this.gather(this.deleted, uri);
            }),
            // The client itself reports files that are renamed or deleted in the editor.
            vscode.workspace.onDidRenameFiles(told),
            vscode.workspace.onDidDeleteFiles(told),
            vscode.workspace.onDidCreateFiles(told),
        );
    }

    /** Lets the server look at all files of the window again. */
    async lookAgain(): Promise<void> {
        const client = this.client();
        await client?.sendNotification(DidCreateFilesNotification.type, filesOf(client, roots()));
    }

    dispose(): void {
        this.listeners.dispose();
    }

    private gather(uris: Map<string, vscode.Uri>, uri: vscode.Uri): void {
        if (SUITE_FILE.test(uri.fsPath) || LEFT_OUT.test(uri.fsPath) || this.client() === undefined) {
            return; // another watcher reports files of this kind
        }
        uris.set(uri.fsPath, uri);
        if (!this.gathering) {
            this.gathering = true;
            void setTimeout(GATHERED_MILLISECONDS).then(() => this.tell());
        }
    }

    private async tell(): Promise<void> {
        this.gathering = false;
        const [created, deleted] = [[...this.created.values()], [...this.deleted.values()]];
        this.created.clear();
        this.deleted.clear();
        const gone = deleted.filter(({ fsPath }) => this.knows(fsPath));
        const made = await onlyThose(topmost(created).slice(0, MOST_ASKED), isFolder);
        const come = made.length > MOST_LOOKED_INTO ? roots() : await onlyThose(made, holdsSuiteFiles);
        const client = this.client();
        if (client === undefined || gone.length + come.length === 0) {
            return;
        }
        if (gone.length > 0) {
            await client.sendNotification(DidDeleteFilesNotification.type, filesOf(client, gone));
        }
        if (come.length > 0) {
            await client.sendNotification(DidCreateFilesNotification.type, filesOf(client, come));
        }
        this.told();
    }
}

function filesOf(client: LanguageClient, uris: readonly vscode.Uri[]): { files: { uri: string }[] } {
    return { files: uris.map((uri) => ({ uri: client.code2ProtocolConverter.asUri(uri) })) };
}

function roots(): vscode.Uri[] {
    return vscode.workspace.workspaceFolders?.map(({ uri }) => uri) ?? [];
}

async function onlyThose(uris: readonly vscode.Uri[], holds: (uri: vscode.Uri) => Promise<boolean>): Promise<vscode.Uri[]> {
    const found = await Promise.all(uris.map(holds));
    return uris.filter((_, index) => found[index] === true);
}

async function isFolder(uri: vscode.Uri): Promise<boolean> {
    try {
        return ((await vscode.workspace.fs.stat(uri)).type & vscode.FileType.Directory) !== 0;
    } catch {
        return false; // gone again
    }
}

/** Those that lie in none of the others. */
function topmost<Place extends { readonly fsPath: string }>(places: readonly Place[]): Place[] {
    const known = new Set(places.map(({ fsPath }) => fsPath));
    return places.filter(({ fsPath }) => {
        for (let above = path.dirname(fsPath); above !== path.dirname(above); above = path.dirname(above)) {
            if (known.has(above)) {
                return false;
            }
        }
        return true;
    });
}

async function holdsSuiteFiles(uri: vscode.Uri): Promise<boolean> {
    return (await vscode.workspace.findFiles(new vscode.RelativePattern(uri, SUITE_FILES), null, 1)).length > 0;
}
