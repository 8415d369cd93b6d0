/**
 * Starts all programs of this extension: Pythons, uv, pip, the language server and terminals.
 *
 * In Restricted Mode no program of a repository is started, whether a setting, PATH, a link or another extension names it.
 *
 * Architecture invariant: no other file starts a program or creates the client that starts the server.
 */

import { execFile, spawn, type ChildProcessWithoutNullStreams, type ExecFileException } from "node:child_process";
import * as path from "node:path";
import * as vscode from "vscode";
import { LanguageClient, type Executable, type LanguageClientOptions, type MessageTransports } from "vscode-languageclient/node";
import { boundariesOf, isReachedThrough } from "./boundary";
import type { Interpreter } from "./interpreters";
import { isTrustedFor, TERMINALS_NEED_TRUST } from "./trust";

/** Returns why a program must not be started, as the end of a sentence; undefined if it may be. */
export function startRejection(command: string): string | undefined {
    if (vscode.workspace.isTrusted) {
        return undefined;
    }
    if (!path.isAbsolute(command)) {
        return "is not an absolute path, which Restricted Mode requires";
    }
    const folder = untrustedFolders().find((each) => isReachedThrough(command, each));
    return folder === undefined ? undefined : `belongs to ${folder}, which is not trusted`;
}

/** Runs a program without a shell, and passes its output to `done`. */
export function execute(
    command: string,
    args: readonly string[],
    options: { readonly cwd: string; readonly timeout: number },
    done: (error: ExecFileException | null, stdout: string, stderr: string) => void,
): void {
    const reason = startRejection(command);
    if (reason === undefined) {
        execFile(command, args, { ...options, env: environmentOfPrograms(), windowsHide: true }, done);
    } else {
        done(new Error(reason), "", "");
    }
}

/**
 * Starts a program whose output is read while it runs.
 *
 * @throws Error if Restricted Mode forbids it
 */
export function start(command: string, args: readonly string[], cwd: string, variables: NodeJS.ProcessEnv = {}): ChildProcessWithoutNullStreams {
    checkStart(command);
    return spawn(command, args, { cwd, env: { ...environmentOfPrograms(), ...variables }, windowsHide: true });
}

/** Returns the proxy of VS Code's user settings as variables for pip and uv; none if the environment names one. */
export function proxyOfEditor(environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
    const settings = vscode.workspace.getConfiguration("http");
    const proxy = settings.inspect<string>("proxy")?.globalValue ?? "";
    const isNamed = Object.keys(environment).some((name) => /^(https?|all)_proxy$/i.test(name) && environment[name] !== "");
    if (proxy === "" || isNamed || settings.inspect("proxySupport")?.globalValue === "off") {
        return {};
    }
    const exceptions = settings.inspect<string[]>("noProxy")?.globalValue ?? [];
    return { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ...(exceptions.length > 0 ? { NO_PROXY: exceptions.join(",") } : {}) };
}

/** Opens a terminal with a shell, or with `program` in its place; undefined in Restricted Mode. */
export function openTerminal(name: string, program?: { readonly file: string; readonly args: string[] }): vscode.Terminal | undefined {
    // A shell finds its programs itself, so this module cannot check them.
    if (!isTrustedFor(TERMINALS_NEED_TRUST)) {
        return undefined;
    }
    const terminal = vscode.window.createTerminal(program === undefined ? { name } : { name, shellPath: program.file, shellArgs: program.args });
    terminal.show();
    return terminal;
}

/** A task of type `waza` in tasks.json. */
interface EngineTask extends vscode.TaskDefinition {
    readonly command: "run" | "check";
    /** An eval file, task file or folder; by default the workspace folder. */
    readonly path?: string;
    readonly args?: readonly string[];
}

const MODULES = { run: "waza_engine", check: "waza_language_server" };

/**
 * Registers the tasks of tasks.json that run suites and check suite files.
 *
 * @param python returns the Python of the server if it is known; with `ensureServer` it starts the server first
 */
export function registerTasks(python: (ensureServer: boolean) => Promise<Interpreter | undefined>): vscode.Disposable {
    return vscode.tasks.registerTaskProvider("waza", {
        provideTasks: async () => {
            const [known, folders] = [await python(false), vscode.workspace.workspaceFolders ?? []];
            return known === undefined ? [] : folders.map((folder) => engineTask({ type: "waza", command: "check" }, folder, known));
        },
        resolveTask: async ({ definition, scope }) => {
            const known = await python(true);
            return known === undefined ? undefined : engineTask(definition as EngineTask, scope ?? vscode.TaskScope.Workspace, known);
        },
    });
}

function engineTask(definition: EngineTask, scope: vscode.WorkspaceFolder | vscode.TaskScope, python: Interpreter): vscode.Task {
    checkStart(python.command);
    const { command, path: target = ".", args = [] } = definition;
    // -P: do not import a folder of the workspace that has the name of the module.
    const all = [...python.args, "-P", "-m", MODULES[command], command, target, ...args];
    const cwd = typeof scope === "object" ? { cwd: scope.uri.fsPath } : {};
    return new vscode.Task(definition, scope, `${command} ${target}`, "waza", new vscode.ProcessExecution(python.command, all, cwd), "$waza");
}

const MCP_TIMEOUT_MS = 20_000;

/** The MCP interface of newer VS Code versions; the oldest supported version has none. */
interface McpEditor {
    readonly lm?: {
        readonly registerMcpServerDefinitionProvider?: (
            id: string,
            provider: { onDidChangeMcpServerDefinitions: vscode.Event<void>; provideMcpServerDefinitions: () => Promise<unknown[]> },
        ) => vscode.Disposable;
    };
    readonly McpStdioServerDefinition?: new (label: string, command: string, args: string[], env: object, version: string) => unknown;
}

/**
 * Offers the MCP server `waza-engine mcp` of each open folder to chat agents, which checks and fixes suites but does not run them.
 *
 * They are not offered in Restricted Mode, for a Python without the package `mcp`, and for virtual folders.
 *
 * @param python returns the Python of the server, if it is known
 * @param changed fires when the Python, the folders or their trust may have changed
 */
export function registerMcpServers(python: () => Interpreter | undefined, changed: vscode.Event<void>, version: string): vscode.Disposable {
    const { lm, McpStdioServerDefinition: Server } = vscode as McpEditor;
    if (lm?.registerMcpServerDefinitionProvider === undefined || Server === undefined) {
        return new vscode.Disposable(() => undefined);
    }
    // Keyed by the command of a Python.
    const mcpSupport = new Map<string, Promise<boolean>>();
    return lm.registerMcpServerDefinitionProvider("waza", {
        onDidChangeMcpServerDefinitions: changed,
        provideMcpServerDefinitions: async () => {
            const found = vscode.workspace.isTrusted ? python() : undefined;
            const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
            const first = folders[0];
            if (found === undefined || first === undefined || startRejection(found.command) !== undefined) {
                return [];
            }
            const key = JSON.stringify([found.command, found.args]);
            const answer = mcpSupport.get(key) ?? canImportMcp(found, first.uri.fsPath);
            mcpSupport.set(key, answer);
            if (!(await answer)) {
                return [];
            }
            const args = [...found.args, "-P", "-m", "waza_engine", "mcp"];
            return folders.map(({ name, uri }) => new Server(folders.length > 1 ? `Waza (${name})` : "Waza", found.command, [...args, uri.fsPath], {}, version));
        },
    });
}

function canImportMcp(python: Interpreter, cwd: string): Promise<boolean> {
    return new Promise((resolve) => {
        execute(python.command, [...python.args, "-P", "-c", "import mcp"], { cwd, timeout: MCP_TIMEOUT_MS }, (error) => { resolve(error === null); });
    });
}

/** A client that checks before each start of its server, also before a restart, because other files may be open by then. */
export class GuardedClient extends LanguageClient {
    constructor(
        id: string,
        name: string,
        private readonly program: Executable,
        options: LanguageClientOptions,
    ) {
        super(id, name, program, options);
    }

    protected override async createMessageTransports(encoding: string): Promise<MessageTransports> {
        checkStart(this.program.command);
        return super.createMessageTransports(encoding);
    }
}

/** Returns the variables of this process; in Restricted Mode without paths into a repository, because PATH, PYTHONPATH and VIRTUAL_ENV decide which code a Python loads. */
export function environmentOfPrograms(): NodeJS.ProcessEnv {
    if (vscode.workspace.isTrusted) {
        return process.env;
    }
    const folders = untrustedFolders();
    const isOutside = (location: string) => !path.isAbsolute(location) || !folders.some((folder) => isReachedThrough(location, folder));
    const variables = Object.entries(process.env).flatMap(([name, value = ""]) => {
        const locations = value.split(path.delimiter);
        const outside = locations.filter(isOutside);
        return outside.length === 0 ? [] : [[name, outside.join(path.delimiter)]];
    });
    return Object.fromEntries(variables) as NodeJS.ProcessEnv;
}

function checkStart(command: string): void {
    const reason = startRejection(command);
    if (reason !== undefined) {
        throw new Error(`${command} was not started: it ${reason}.`);
    }
}

function untrustedFolders(): string[] {
    // Any scheme counts: a git revision of a file or a notebook cell has the path of the file.
    const locations = (uris: readonly vscode.Uri[]) => uris.map(({ fsPath }) => fsPath).filter((location) => path.isAbsolute(location));
    const folders = vscode.workspace.workspaceFolders ?? [];
    return boundariesOf(locations(folders.map(({ uri }) => uri)), locations(vscode.workspace.textDocuments.map(({ uri }) => uri)));
}
