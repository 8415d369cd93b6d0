/** The active runs, stored across a reload of the window: the runs that it interrupts are reported afterwards. */

import type { Memento } from "vscode";
import type { RunView } from "./runViews";

const KEY = "waza.openRuns";

export class InterruptedRuns {
    private isClosing = false;

    constructor(private readonly memory: Memento) {}

    /** Returns the ids of the runs that the last window left behind, and forgets them. */
    async takeInterrupted(): Promise<readonly string[]> {
        const ids = this.ids();
        await this.memory.update(KEY, undefined);
        return ids;
    }

    /** Remembers a run until it has ended. */
    view(id: string): RunView {
        void this.memory.update(KEY, [...this.ids(), id]);
        return {
            take: () => undefined,
            end: () => {
                if (!this.isClosing) {
                    const [ids, at] = [this.ids(), this.ids().indexOf(id)];
                    void this.memory.update(KEY, ids.filter((_, index) => index !== at)); // another run of the same may be active
                }
            },
        };
    }

    /** From now on runs end because the window does. */
    close(): void {
        this.isClosing = true;
    }

    private ids(): readonly string[] {
        return this.memory.get<readonly string[]>(KEY, []);
    }
}
