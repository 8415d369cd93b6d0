/**
 * Folders that come or go outside of the editor: VS Code tells of the folder alone, and nobody who looks for suite files hears of it.
 */

import * as path from "node:path";
import { setTimeout } from "node:timers/promises";
import * as vscode from "vscode";
import { DidCreateFilesNotification, DidDeleteFilesNotification, type LanguageClient } from "vscode-languageclient/node";

const GATHERED_MILLISECONDS = 500;
/** Folders that are looked into at a time: a build makes many, and none of a suite. */
const MOST_LOOKED_INTO = 50;
const SUITE_FILES = "**/{*.yaml,*.yml,SKILL.md}";

export class Folders implements vscode.Disposable {
    private readonly listeners: vscode.Disposable;
    private readonly created = new Map<string, vscode.Uri>();
    private readonly deleted = new Map<string, vscode.Uri>();
    private gathering = false;

    /**
     * @param knows whether a file of a suite lies below a path, as far as it was shown
     * @param told called when the server has been told of something
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
            // The client tells the server of what is renamed or deleted in the editor by itself.
            vscode.workspace.onDidRenameFiles(told),
            vscode.workspace.onDidDeleteFiles(told),
            vscode.workspace.onDidCreateFiles(told),
        );
    }

    /** Lets the server look at all files of the window again. */
    async lookAgain(): Promise<void> {
        const client = this.client();
        const roots = vscode.workspace.workspaceFolders?.map(({ uri }) => uri) ?? [];
        await client?.sendNotification(DidCreateFilesNotification.type, filesOf(client, roots));
    }

    dispose(): void {
        this.listeners.dispose();
    }

    private gather(uris: Map<string, vscode.Uri>, uri: vscode.Uri): void {
        if (path.extname(uri.fsPath) !== "" || this.client() === undefined) {
            return; // a file: who looks for its kind has heard of it
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
        const found = await Promise.all(created.slice(0, MOST_LOOKED_INTO).map(holdsSuiteFiles));
        const come = created.filter((_, index) => found[index] === true);
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

async function holdsSuiteFiles(uri: vscode.Uri): Promise<boolean> {
    return (await vscode.workspace.findFiles(new vscode.RelativePattern(uri, SUITE_FILES), null, 1)).length > 0;
}
