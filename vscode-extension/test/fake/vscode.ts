/** A fake of the VS Code API that records messages and status bar entries. The workspace folders are `/ws/alpha` and `/ws/beta`. */

/** Messages and titles of progress, in order. */
export const shown: string[] = [];
/** The buttons of the last message. */
export const offered: string[] = [];
/** The button that is pressed in every message that has it; with `later`, once that promise resolves. */
export const pressed: { button: string | undefined; later?: Promise<string> | undefined } = { button: undefined };
/** The current entries of the status bar. */
export const entries: { id: string; text: string; accessibilityInformation?: { label: string } }[] = [];
/** The existing files. */
export const files = new Set<string>();
/** The existing folders. */
export const directories = new Set<string>();

type Listener = (value: unknown) => void;

export class EventEmitter {
    private readonly listeners: Listener[] = [];
    readonly event = (listener: Listener): Disposable => {
        this.listeners.push(listener);
        return new Disposable(() => undefined);
    };

    fire(value: unknown): void {
        this.listeners.forEach((listener) => {
            listener(value);
        });
    }

    dispose(): void {
        this.listeners.length = 0;
    }
}

export class CancellationTokenSource {
    private readonly requested = new EventEmitter();
    readonly token = { isCancellationRequested: false, onCancellationRequested: this.requested.event };

    cancel(): void {
        this.token.isCancellationRequested = true;
        this.requested.fire(undefined);
    }

    dispose(): void {
        this.requested.dispose();
    }
}

export class Disposable {
    constructor(readonly dispose: () => void) {}

    static from(...all: readonly Disposable[]): Disposable {
        return new Disposable(() => {
            all.forEach(({ dispose }) => {
                dispose();
            });
        });
    }
}

export class FileSystemError extends Error {
    readonly code = "FileNotFound";
}

export const FileType = { File: 1, Directory: 2 };

export class RelativePattern {
    constructor(
        readonly base: Uri,
        readonly pattern: string,
    ) {}
}

export class TestTag {
    constructor(readonly id: string) {}
}

export class TestMessage {
    expectedOutput?: string;
    actualOutput?: string;

    constructor(readonly message: string) {}

    static diff(message: string, expectedOutput: string, actualOutput: string): TestMessage {
        return Object.assign(new TestMessage(message), { expectedOutput, actualOutput });
    }
}

export class Location {
    constructor(
        readonly uri: Uri,
        readonly range: Range,
    ) {}
}

export class Range {
    constructor(
        readonly startLine: number,
        readonly startCharacter: number,
        readonly endLine: number,
        readonly endCharacter: number,
    ) {}
}

interface Uri {
    readonly fsPath: string;
}

export const Uri = {
    parse: (uri: string): Uri => ({ fsPath: uri.replace("file://", "") }),
    file: (fsPath: string): Uri => ({ fsPath }),
    joinPath: (uri: Uri, ...names: string[]): Uri => ({ fsPath: [uri.fsPath, ...names].join("/") }),
};

const showMessage = (message: string, ...buttons: readonly unknown[]): Promise<string | undefined> => {
    shown.push(message);
    offered.splice(0, offered.length, ...buttons.map(String));
    return pressed.later ?? Promise.resolve(buttons.includes(pressed.button) ? pressed.button : undefined);
};

/** The panel that `createWebviewPanel` returns. */
export const panel = {
    visible: true,
    title: "",
    webview: { html: "", cspSource: "", options: {}, asWebviewUri: (uri: Uri) => uri.fsPath },
    onDidDispose: new EventEmitter().event,
    onDidChangeViewState: new EventEmitter().event,
    reveal: (): void => undefined,
};

export const ProgressLocation = { Notification: 15 };
export const StatusBarAlignment = { Left: 1 };
export const ViewColumn = { Active: -1 };

export const window = {
    showInformationMessage: showMessage,
    showWarningMessage: showMessage,
    showErrorMessage: showMessage,
    withProgress: <T>({ title }: { title: string }, work: (progress: unknown, token: unknown) => T): T => {
        shown.push(title);
        return work({ report: () => undefined }, new CancellationTokenSource().token);
    },
    createStatusBarItem: (id: string) => {
        const item = { id, text: "", show: () => undefined, dispose: () => entries.splice(entries.indexOf(item), 1) };
        entries.push(item);
        return item;
    },
    createWebviewPanel: () => panel,
    createTerminal: (options: object) => {
        terminals.push(options);
        return { show: () => undefined, sendText: () => undefined };
    },
    registerWebviewPanelSerializer: () => new Disposable(() => undefined),
};

const folders = ["alpha", "beta"].map((name) => {
    const fsPath = `/ws/${name}`;
    return { name, root: `${fsPath}/`, uri: { fsPath, toString: () => `file://${fsPath}` } };
});
/** The API of the other extension, and the number of its activations. */
export const otherExtension: { api: unknown; activations: number } = { api: undefined, activations: 0 };

export const extensions = {
    getExtension: () => ({
        activate: () => {
            otherExtension.activations += 1;
            return Promise.resolve(otherExtension.api);
        },
    }),
};

/** The terminals that were opened. */
export const terminals: object[] = [];

/** The user settings; `settings` has the effective values. */
export const userSettings: Record<string, unknown> = {};

/** The effective settings of the window, and those that differ in a folder, by path. */
export const settings: { window: Record<string, unknown>; folders: Record<string, Record<string, unknown>> } = { window: {}, folders: {} };

const [renamed, deleted, created] = [new EventEmitter(), new EventEmitter(), new EventEmitter()];
/** The events of files that were renamed, deleted or created in VS Code. */
export const filesOfWindow = { renamed, deleted, created };

/** An edit that replaces entire texts. */
export class WorkspaceEdit {
    readonly texts: [Uri, string][] = [];

    replace(uri: Uri, _range: Range, text: string): void {
        this.texts.push([uri, text]);
    }

    createFile({ fsPath }: Uri): void {
        files.add(fsPath);
    }

    entries(): [Uri, string][] {
        return this.texts;
    }
}

/** The events of file system watchers. */
export const watched = { created: new EventEmitter(), deleted: new EventEmitter() };

/** The registered MCP providers by id; only newer VS Code versions have this API. */
export const mcpProviders: Record<string, { provideMcpServerDefinitions: () => Promise<unknown[]> }> = {};
export const lm = {
    registerMcpServerDefinitionProvider: (id: string, provider: { provideMcpServerDefinitions: () => Promise<unknown[]> }): Disposable => {
        mcpProviders[id] = provider;
        return new Disposable(() => undefined);
    },
};

export class McpStdioServerDefinition {
    constructor(
        readonly label: string,
        readonly command: string,
        readonly args: string[],
    ) {}
}

export const workspace = {
    isTrusted: true,
    textDocuments: [] as object[],
    onDidRenameFiles: renamed.event,
    onDidDeleteFiles: deleted.event,
    onDidCreateFiles: created.event,
    openTextDocument: ({ fsPath }: Uri) => Promise.resolve(textAt(fsPath)),
    applyEdit: ({ texts }: WorkspaceEdit) => {
        texts.forEach(([{ fsPath }, text]) => Object.assign(textAt(fsPath) ?? {}, { text, isDirty: true }));
        return Promise.resolve(true);
    },
    createFileSystemWatcher: () => ({ onDidCreate: watched.created.event, onDidDelete: watched.deleted.event, dispose: () => undefined }),
    findFiles: ({ base: { fsPath } }: RelativePattern) => Promise.resolve([...files].filter((file) => file.startsWith(`${fsPath}/`)).map(Uri.file)),
    workspaceFolders: folders as object[] | undefined,
    getConfiguration: (section: string, scope?: Uri) => ({
        get: (name: string, fallback?: unknown) => {
            const values = { ...settings.window, ...(scope === undefined ? {} : settings.folders[scope.fsPath]) };
            return values[`${section}.${name}`] ?? fallback;
        },
        inspect: (name: string) => ({ globalValue: userSettings[`${section}.${name}`] }),
    }),
    asRelativePath: ({ fsPath }: Uri) => fsPath.replace(/^\/ws\/\w+\//u, ""),
    getWorkspaceFolder: ({ fsPath }: Uri) => folders.find(({ root }) => fsPath.startsWith(root)),
    fs: {
        stat: ({ fsPath }: Uri) => {
            const type = files.has(fsPath) ? FileType.File : directories.has(fsPath) ? FileType.Directory : undefined;
            return type === undefined ? Promise.reject(new FileSystemError()) : Promise.resolve({ type });
        },
    },
};

export class ProcessExecution {
    constructor(
        readonly process: string,
        readonly args: readonly string[],
        readonly options: object,
    ) {}
}

export class Task {
    constructor(
        readonly definition: object,
        readonly scope: object,
        readonly name: string,
        readonly source: string,
        readonly execution: ProcessExecution,
        readonly problemMatchers: string,
    ) {}
}

export const TaskScope = { Workspace: 2 };

/** The registered task providers, by type. */
export const taskProviders: Record<string, unknown> = {};

export const tasks = {
    registerTaskProvider: (type: string, provider: unknown) => {
        taskProviders[type] = provider;
        return new Disposable(() => undefined);
    },
};

function textAt(file: string): object | undefined {
    return (workspace.textDocuments as { uri: Uri }[]).find(({ uri }) => uri.fsPath === file);
}

const registered = new Map<string, (...args: unknown[]) => unknown>();

export const commands = {
    registerCommand: (command: string, action: (...args: unknown[]) => unknown) => {
        registered.set(command, action);
        return new Disposable(() => registered.delete(command));
    },
    executeCommand: (command: string, ...args: unknown[]) =>
        Promise.resolve(command === "markdown.api.render" ? `<p>${String(args[0])}</p>` : registered.get(command)?.(...args)),
};
