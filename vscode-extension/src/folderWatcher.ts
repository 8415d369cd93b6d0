/** Reports folders with suites that are created or deleted outside of VS Code: its watchers for suite files do not see the files in them. */

import * as path from "node:path";
import { setTimeout } from "node:timers/promises";
import * as vscode from "vscode";
import { DidCreateFilesNotification, DidDeleteFilesNotification, type LanguageClient } from "vscode-languageclient/node";

const COLLECT_MILLISECONDS = 500;
/** The most new paths that are checked for being folders: a build creates more files than this, and no suites. */
const MAX_CHECKED = 500;
/** The most new folders that are searched one by one: after a larger checkout the server reads the whole workspace again. */
const MAX_SEARCHED = 50;
const SUITE_FILES = "**/{*.yaml,*.yml,SKILL.md}";
/** Files that other watchers report; any other path may be a folder, even with a dot in its name. */
const SUITE_FILE = /(?:\.ya?ml|[/\\]SKILL\.md)$/u;
/** Folders with many files, none of a suite, which VS Code reports one by one. */
const IGNORED = /[/\\](?:node_modules|\.git|\.waza|__pycache__)(?:[/\\]|$)/u;

export class FolderWatcher implements vscode.Disposable {
    private readonly listeners: vscode.Disposable;
    private readonly created = new Map<string, vscode.Uri>();
    private readonly deleted = new Map<string, vscode.Uri>();
    private isCollecting = false;

    /**
     * @param hasSuiteFilesBelow returns whether the Test Explorer shows a suite file below a path
     * @param onReported called after a change was reported to the server
     */
    constructor(
        private readonly client: () => LanguageClient | undefined,
        private readonly hasSuiteFilesBelow: (folder: string) => boolean,
        private readonly onReported: () => void,
    ) {
        const watcher = vscode.workspace.createFileSystemWatcher("**", false, true, false);
        this.listeners = vscode.Disposable.from(
            watcher,
            watcher.onDidCreate((uri) => {
                this.collect(this.created, uri);
            }),
            watcher.onDidDelete((uri) => {
                this.collect(this.deleted, uri);
            }),
            // The client itself reports files that are renamed or deleted in the editor.
            vscode.workspace.onDidRenameFiles(onReported),
            vscode.workspace.onDidDeleteFiles(onReported),
            vscode.workspace.onDidCreateFiles(onReported),
        );
    }

    /** Makes the server read all files of the workspace again. */
    async rescan(): Promise<void> {
        const client = this.client();
        await client?.sendNotification(DidCreateFilesNotification.type, filesOf(client, roots()));
    }

    dispose(): void {
        this.listeners.dispose();
    }

    private collect(uris: Map<string, vscode.Uri>, uri: vscode.Uri): void {
        if (SUITE_FILE.test(uri.fsPath) || IGNORED.test(uri.fsPath) || this.client() === undefined) {
            return; // another watcher reports it, or no server is up
        }
        uris.set(uri.fsPath, uri);
        if (!this.isCollecting) {
            this.isCollecting = true;
            void setTimeout(COLLECT_MILLISECONDS).then(() => this.report());
        }
    }

    private async report(): Promise<void> {
        this.isCollecting = false;
        const [created, deleted] = [[...this.created.values()], [...this.deleted.values()]];
        this.created.clear();
        this.deleted.clear();
        const removed = deleted.filter(({ fsPath }) => this.hasSuiteFilesBelow(fsPath));
        const newFolders = await filterAsync(topmost(created).slice(0, MAX_CHECKED), isFolder);
        const added = newFolders.length > MAX_SEARCHED ? roots() : await filterAsync(newFolders, containsSuiteFiles);
        const client = this.client();
        if (client === undefined || removed.length + added.length === 0) {
            return;
        }
        if (removed.length > 0) {
            await client.sendNotification(DidDeleteFilesNotification.type, filesOf(client, removed));
        }
        if (added.length > 0) {
            await client.sendNotification(DidCreateFilesNotification.type, filesOf(client, added));
        }
        this.onReported();
    }
}

function filesOf(client: LanguageClient, uris: readonly vscode.Uri[]): { files: { uri: string }[] } {
    return { files: uris.map((uri) => ({ uri: client.code2ProtocolConverter.asUri(uri) })) };
}

function roots(): vscode.Uri[] {
    return vscode.workspace.workspaceFolders?.map(({ uri }) => uri) ?? [];
}

async function filterAsync(uris: readonly vscode.Uri[], predicate: (uri: vscode.Uri) => Promise<boolean>): Promise<vscode.Uri[]> {
    const found = await Promise.all(uris.map(predicate));
    return uris.filter((_, index) => found[index] === true);
}

async function isFolder(uri: vscode.Uri): Promise<boolean> {
    try {
        return ((await vscode.workspace.fs.stat(uri)).type & vscode.FileType.Directory) !== 0;
    } catch {
        return false; // gone again
    }
}

/** Returns the paths that are in none of the others. */
function topmost<File extends { readonly fsPath: string }>(files: readonly File[]): File[] {
    const known = new Set(files.map(({ fsPath }) => fsPath));
    return files.filter(({ fsPath }) => {
        for (let above = path.dirname(fsPath); above !== path.dirname(above); above = path.dirname(above)) {
            if (known.has(above)) {
                return false;
            }
        }
        return true;
    });
}

async function containsSuiteFiles(uri: vscode.Uri): Promise<boolean> {
    return (await vscode.workspace.findFiles(new vscode.RelativePattern(uri, SUITE_FILES), null, 1)).length > 0;
}
