/** The runs that go on, remembered across a reload of the window: what it cuts off is told afterwards. */

import type { Memento } from "vscode";
import type { RunView } from "./runViews";

const KEY = "waza.openRuns";

export class OpenRuns {
    private closing = false;

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
                if (!this.closing) {
                    void this.memory.update(KEY, this.ids().filter((each) => each !== id));
                }
            },
        };
    }

    /** From now on runs end because the window does. */
    close(): void {
        this.closing = true;
    }

    private ids(): readonly string[] {
        return this.memory.get<readonly string[]>(KEY, []);
    }
}
