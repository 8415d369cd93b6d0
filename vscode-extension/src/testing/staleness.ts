/**
 * The stale results in the Test Explorer: requested from the server after edits, for the suites of which this
 * window has shown something. VS Code marks the results of earlier windows as outdated itself.
 */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { TestTree } from "./tree";

const DELAY_MILLISECONDS = 500;

/** One answer of the request `waza/staleResults`; see docs/protocol.md. */
export interface StaleResult {
    readonly id: string;
    readonly words: string;
    /** Nothing below it holds either. */
    readonly whole: boolean;
}

/** The shown results of a suite: since when, and the records of their runs. */
interface Shown {
    readonly since: string;
    readonly results: string[];
}

export class Staleness implements vscode.Disposable {
    private readonly shown = new Map<string, Shown>();
    /** How many runs of a suite go on, and how many have begun: an answer from before a run says nothing of what it tells. */
    private readonly activeCounts = new Map<string, number>();
    private readonly startCounts = new Map<string, number>();
    private readonly listeners: vscode.Disposable;
    private timer: NodeJS.Timeout | undefined;

    constructor(
        private readonly tree: TestTree,
        private readonly client: () => LanguageClient | undefined,
    ) {
        const later = ({ uri }: vscode.TextDocument) => {
            if (uri.scheme === "file") {
                this.refreshSoon();
            }
        };
        this.listeners = vscode.Disposable.from(
            vscode.workspace.onDidChangeTextDocument(({ document }) => {
                later(document);
            }),
            vscode.workspace.onDidSaveTextDocument(later),
            vscode.window.onDidChangeWindowState(({ focused }) => {
                if (focused) {
                    this.refreshSoon(); // files may have changed meanwhile
                }
            }),
        );
    }

    /** Something of a suite is judged now; call what is returned when that has ended. */
    begin(suite: string): () => void {
        if (!this.shown.has(suite)) {
            this.shown.set(suite, { since: new Date().toISOString(), results: [] });
        }
        this.activeCounts.set(suite, (this.activeCounts.get(suite) ?? 0) + 1);
        this.startCounts.set(suite, (this.startCounts.get(suite) ?? 0) + 1);
        return () => {
            this.activeCounts.set(suite, (this.activeCounts.get(suite) ?? 1) - 1);
            this.refreshSoon();
        };
    }

    /** A run of a suite that is shown was recorded in a file. */
    recorded(suite: string, results: string): void {
        this.shown.get(suite)?.results.push(results);
    }

    /** Asks the server again, soon. */
    refreshSoon(): void {
        if (this.shown.size === 0) {
            return;
        }
        clearTimeout(this.timer);
        this.timer = setTimeout(() => {
            for (const [suite, shown] of this.shown) {
                this.refresh(suite, shown).catch(() => undefined); // the server is gone; it is asked again with the next edit
            }
        }, DELAY_MILLISECONDS);
    }

    dispose(): void {
        clearTimeout(this.timer);
        this.listeners.dispose();
    }

    private async refresh(suite: string, shown: Shown): Promise<void> {
        const [client, startCounts] = [this.client(), this.startCounts.get(suite)];
        if (client === undefined || (this.activeCounts.get(suite) ?? 0) > 0) {
            return;
        }
        const stale = await client.sendRequest<StaleResult[]>("waza/staleResults", { id: suite, ...shown });
        if (this.startCounts.get(suite) === startCounts) {
            this.tree.showStale(suite, stale);
        }
    }
}
