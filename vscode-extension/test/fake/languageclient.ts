/** What the tests need of the language client beside the protocol: how it asks what becomes of a connection. */

export * from "vscode-languageserver-protocol";

export enum ErrorAction {
    Continue = 1,
    Shutdown = 2,
}

export enum CloseAction {
    DoNotRestart = 1,
    Restart = 2,
}
