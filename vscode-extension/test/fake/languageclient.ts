/** A fake of the parts of the language client that the tests use, next to the protocol types. */

import assert from "node:assert/strict";

export * from "vscode-languageserver-protocol";

/** A client whose server is never started; `begun` counts the attempts. */
export class LanguageClient {
    static begun = 0;

    constructor(
        readonly id: string,
        readonly name: string,
    ) {}

    protected createMessageTransports(encoding: string): Promise<undefined> {
        assert.equal(encoding, "utf-8");
        LanguageClient.begun += 1;
        return Promise.resolve(undefined);
    }
}

export enum ErrorAction {
    Continue = 1,
    Shutdown = 2,
}

export enum CloseAction {
    DoNotRestart = 1,
    Restart = 2,
}
