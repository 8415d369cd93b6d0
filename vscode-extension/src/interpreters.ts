/**
 * Finds Python interpreters, and asks each whether it has the language server.
 *
 * This runs `python -m waza_language_server --version` without a shell, with a timeout, and in a folder of the extension, because
 * Python imports modules from the folder in which it is started.
 */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { namesInFolder, orUndefined } from "./boundary";
import { execute, startRejection } from "./programs";

/** A Python interpreter; `args` come before all others, such as `-3` for the Windows launcher. */
export interface Interpreter {
    readonly command: string;
    readonly args: readonly string[];
    /** Where it was found, as shown to the user. */
    readonly origin: string;
}

/** An interpreter that has the server, and the server's version. */
export interface FoundServer {
    readonly interpreter: Interpreter;
    readonly version: string;
}

/** Why an interpreter was skipped. */
export interface Rejection {
    readonly interpreter: Interpreter;
    readonly reason: string;
}

/** The oldest server that supports this extension. */
export const MINIMUM_SERVER_VERSION = "0.1.0";
/** The oldest Python that the server runs in. */
export const MINIMUM_PYTHON = "3.11";
const TIMEOUT_MS = 20_000;

/** Runs the server of an interpreter to get its version; returns the reason if that fails. */
export async function probeServer(interpreter: Interpreter, workingDirectory: string): Promise<FoundServer | Rejection> {
    const answer = await runPython(interpreter, ["-m", "waza_language_server", "--version"], workingDirectory);
    if (!answer.ok) {
        return { interpreter, reason: answer.reason };
    }
    const version = /\d+\.\d+\.\d+\S*/.exec(answer.output)?.[0];
    if (version === undefined) {
        return { interpreter, reason: `answered "${firstLine(answer.output)}" instead of a version` };
    }
    if (isOlder(version, MINIMUM_SERVER_VERSION)) {
        return { interpreter, reason: `has version ${version}; ${MINIMUM_SERVER_VERSION} or newer is needed` };
    }
    return { interpreter, version };
}

/** The version and the abilities of a Python interpreter. */
export interface PythonInfo {
    readonly interpreter: Interpreter;
    /** Such as `3.9`. */
    readonly version: string;
    /** True if it is recent enough for the server. */
    readonly isRecent: boolean;
    /** True if it can create environments; Debian's Python cannot until `python3-venv` is installed. */
    readonly hasVenv: boolean;
}

/** Also runs in Python 2. */
const DESCRIPTION_SCRIPT = [
    "import sys",
    "print('%d.%d' % sys.version_info[:2])",
    "try:",
    "    import venv, ensurepip",
    "    print('venv')",
    "except ImportError:",
    "    pass",
].join("\n");

/** Runs an interpreter to get its version and abilities; returns undefined if it is not a working Python. */
export async function describePython(interpreter: Interpreter, workingDirectory: string): Promise<PythonInfo | undefined> {
    const answer = await runPython(interpreter, ["-c", DESCRIPTION_SCRIPT], workingDirectory);
    const [version = "", venv] = answer.ok ? answer.output.split(/\r?\n/) : [];
    if (!/^\d+\.\d+$/.test(version)) {
        return undefined;
    }
    return { interpreter, version, isRecent: !isOlder(version, MINIMUM_PYTHON), hasVenv: venv === "venv" };
}

/** Returns the interpreter of the setting `waza.interpreter`: a path (absolute, or relative to `folder`) or a command on PATH. */
export function interpreterFromSetting(value: string, folder: string | undefined): Interpreter {
    let command = value.trim();
    if (folder !== undefined) {
        command = command.replaceAll("${workspaceFolder}", folder);
    }
    if (command === "~" || command.startsWith("~/") || command.startsWith("~\\")) {
        command = path.join(os.homedir(), command.slice(1));
    }
    const isPath = command.includes("/") || command.includes(path.sep);
    if (isPath && !path.isAbsolute(command) && folder !== undefined) {
        command = path.join(folder, command);
    }
    return { command: isPath ? command : (findOnPath(command) ?? command), args: [], origin: "the setting waza.interpreter" };
}

/** Returns the Python of the nearest `.venv` in `folder` or above it. */
export function nearestVirtualEnvironment(folder: string): Interpreter | undefined {
    for (let current = path.resolve(folder); ; current = path.dirname(current)) {
        const command = pythonInEnvironment(path.join(current, ".venv"));
        if (command !== undefined) {
            return { command, args: [], origin: `the environment ${path.join(current, ".venv")}` };
        }
        if (path.dirname(current) === current) {
            return undefined;
        }
    }
}

/** Returns the Python in the folder of an environment, in the POSIX or the Windows layout. */
export function pythonInEnvironment(environment: string): string | undefined {
    const layouts = [path.join("bin", "python"), path.join("Scripts", "python.exe")];
    return layouts.map((layout) => path.join(environment, layout)).find((file) => fs.existsSync(file));
}

/** Returns the Pythons on PATH: those with the usual names, then those with a version in their name, the newest first. */
export function interpretersOnPath(searchPath: string = process.env["PATH"] ?? ""): Interpreter[] {
    const usual = process.platform === "win32" ? ["py", "python", "python3"] : ["python3", "python"];
    const found: Interpreter[] = [];
    const files = new Set<string>();
    for (const name of [...usual, ...versionedNames(searchPath)]) {
        const command = findOnPath(name, searchPath);
        if (command !== undefined && !files.has(programKey(command))) {
            files.add(programKey(command));
            found.push({ command, args: name === "py" ? ["-3"] : [], origin: `${name} on PATH` });
        }
    }
    return found;
}

/** Returns names such as `python3.12` in the folders of PATH: on older systems `python3` itself is too old. */
function versionedNames(searchPath: string): string[] {
    const minors = new Set<number>();
    for (const folder of absoluteFolders(searchPath)) {
        for (const name of namesInFolder(folder)) {
            const minor = Number(/^python3\.(\d+)$/.exec(name)?.[1] ?? 0);
            if (!isOlder(`3.${minor}`, MINIMUM_PYTHON)) {
                minors.add(minor);
            }
        }
    }
    return [...minors].sort((one, other) => other - one).map((minor) => `python3.${minor}`);
}

/** Returns a key that is equal for links in one folder to the same program; links in other folders may belong to other environments. */
function programKey(command: string): string {
    return `${path.dirname(command)}${path.delimiter}${orUndefined(() => fs.realpathSync(command)) ?? command}`;
}

function absoluteFolders(searchPath: string): string[] {
    return searchPath.split(path.delimiter).filter((entry) => path.isAbsolute(entry));
}

/** Returns the path of uv: on PATH, or where its installer puts it, which is not on the PATH of a window opened before. */
export function findUv(searchPath: string = process.env["PATH"] ?? "", home: string = os.homedir()): string | undefined {
    return findOnPath("uv", searchPath) ?? findOnPath("uv", path.join(home, ".local", "bin"));
}

/** Returns the path of a program in the absolute folders of PATH (relative ones depend on the workspace), if it may be started. */
export function findOnPath(name: string, searchPath: string = process.env["PATH"] ?? ""): string | undefined {
    const endings = process.platform === "win32" ? [".exe", ".cmd", ".bat", ""] : [""];
    for (const folder of absoluteFolders(searchPath)) {
        for (const ending of endings) {
            const file = path.join(folder, name + ending);
            // Throws for folders without permission, for links to themselves and for aliases of Windows apps.
            if (orUndefined(() => fs.statSync(file, { throwIfNoEntry: false }))?.isFile() === true && startRejection(file) === undefined) {
                return file;
            }
        }
    }
    return undefined;
}

export function isOlder(version: string, minimum: string): boolean {
    const [left, right] = [version, minimum].map((text) => text.split(/\D+/).slice(0, 3).map(Number));
    for (let index = 0; index < 3; index++) {
        const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0);
        if (difference !== 0) {
            return difference < 0;
        }
    }
    return false;
}

type Answer = { readonly ok: true; readonly output: string } | { readonly ok: false; readonly reason: string };

function runPython(interpreter: Interpreter, args: string[], workingDirectory: string): Promise<Answer> {
    const options = { cwd: workingDirectory, timeout: TIMEOUT_MS };
    return new Promise((resolve) => {
        execute(interpreter.command, [...interpreter.args, ...args], options, (error, stdout, stderr) => {
            if (error === null) {
                resolve({ ok: true, output: stdout.trim() });
            } else if (error.killed === true) {
                resolve({ ok: false, reason: `did not answer within ${TIMEOUT_MS / 1000} s` });
            } else if (error.code === "ENOENT") {
                resolve({ ok: false, reason: "does not exist" });
            } else {
                resolve({ ok: false, reason: lastLine(stderr) || error.message });
            }
        });
    });
}

function firstLine(text: string): string {
    return text.split(/\r?\n/, 1)[0] ?? "";
}

function lastLine(text: string): string {
    return text.trimEnd().split(/\r?\n/).at(-1) ?? "";
}
