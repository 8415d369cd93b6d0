/**
 * Requests stale results for the Test Explorer after edits, for the suites that this window has run.
 *
 * VS Code itself marks the results of earlier windows as outdated.
 */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { TestTree } from "./tree";

const DELAY_MILLISECONDS = 500;

/** An answer of `waza/staleResults`; see docs/protocol.md. */
export interface StaleResult {
    readonly id: string;
    readonly words: string;
    /** True if everything below it is stale as well. */
    readonly whole: boolean;
}

/** The shown results of a suite: the time of the first run, and the result files. */
interface Shown {
    readonly since: string;
    readonly results: string[];
}

export class Staleness implements vscode.Disposable {
    private readonly shown = new Map<string, Shown>();
    /** The number of active runs and of all runs of a suite: an answer that was requested before a run does not apply to its results. */
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
                    this.refreshSoon(); // files may have changed
                }
            }),
        );
    }

    /** Marks the begin of a run or re-grade of a suite; returns a function that marks its end. */
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

    /** Adds the result file of a run. */
    recorded(suite: string, results: string): void {
        this.shown.get(suite)?.results.push(results);
    }

    /** Requests the stale results after a delay. */
    refreshSoon(): void {
        if (this.shown.size === 0) {
            return;
        }
        clearTimeout(this.timer);
        this.timer = setTimeout(() => {
            for (const [suite, shown] of this.shown) {
                this.refresh(suite, shown).catch(() => undefined); // the server is gone; the next edit requests them again
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
