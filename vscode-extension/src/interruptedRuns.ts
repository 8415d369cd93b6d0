/** Stores the active runs of a window, so that the next window reports those that a reload has interrupted. */

import type { Memento } from "vscode";
import type { RunView } from "./runViews";

const KEY = "waza.openRuns";

export class InterruptedRuns {
    private isClosing = false;

    constructor(private readonly memory: Memento) {}

    /** Returns the ids of the runs that the last window has interrupted, and removes them from the store. */
    async takeInterrupted(): Promise<readonly string[]> {
        const ids = this.ids();
        await this.memory.update(KEY, undefined);
        return ids;
    }

    /** Stores a run until it has ended. */
    view(id: string): RunView {
        void this.memory.update(KEY, [...this.ids(), id]);
        return {
            take: () => undefined,
            end: () => {
                if (!this.isClosing) {
                    const [ids, index] = [this.ids(), this.ids().indexOf(id)];
                    void this.memory.update(KEY, ids.filter((_, at) => at !== index)); // keeps another active run with the same id
                }
            },
        };
    }

    /** Keeps the stored runs from now on: they end because the window closes. */
    close(): void {
        this.isClosing = true;
    }

    private ids(): readonly string[] {
        return this.memory.get<readonly string[]>(KEY, []);
    }
}
