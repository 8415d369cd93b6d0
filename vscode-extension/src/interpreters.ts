/**
 * Finds a Python interpreter that has the language server: candidates in order, and one question to each.
 *
 * A candidate is asked by running `python -m waza_language_server --version`: an argument array, no shell, a deadline,
 * and a working directory of ours, because Python imports modules from the one it is started in.
 */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { namesInFolder, orUndefined } from "./boundary";
import { execute, startRejection } from "./programs";

/** A Python to ask; `args` come before ours, such as `-3` for the Windows launcher. */
export interface Interpreter {
    readonly command: string;
    readonly args: readonly string[];
    /** Where it was found, in words for people. */
    readonly origin: string;
}

/** An interpreter that has the server, and the server's version. */
export interface FoundServer {
    readonly interpreter: Interpreter;
    readonly version: string;
}

/** Why a candidate was passed over. */
export interface Rejection {
    readonly interpreter: Interpreter;
    readonly reason: string;
}

/** The oldest server that speaks what this extension expects. */
export const MINIMUM_SERVER_VERSION = "0.1.0";
/** The oldest Python that the server runs in. */
export const MINIMUM_PYTHON = "3.11";
const TIMEOUT_MS = 20_000;

/** Asks `interpreter` for the server's version; a sentence says why when there is none. */
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

/** A Python interpreter, as it describes itself. */
export interface PythonInfo {
    readonly interpreter: Interpreter;
    /** Such as `3.9`. */
    readonly version: string;
    /** True when the server runs in it. */
    readonly isRecent: boolean;
    /** True when it makes environments: Debian's lacks that until a package of its own is installed. */
    readonly hasVenv: boolean;
}

/** The question in words that Python 2 understands as well. */
const DESCRIPTION_SCRIPT = [
    "import sys",
    "print('%d.%d' % sys.version_info[:2])",
    "try:",
    "    import venv, ensurepip",
    "    print('venv')",
    "except ImportError:",
    "    pass",
].join("\n");

/** Asks `interpreter` what it is; undefined when it does not answer as a Python does. */
export async function describePython(interpreter: Interpreter, workingDirectory: string): Promise<PythonInfo | undefined> {
    const answer = await runPython(interpreter, ["-c", DESCRIPTION_SCRIPT], workingDirectory);
    const [version = "", venv] = answer.ok ? answer.output.split(/\r?\n/) : [];
    if (!/^\d+\.\d+$/.test(version)) {
        return undefined;
    }
    return { interpreter, version, isRecent: !isOlder(version, MINIMUM_PYTHON), hasVenv: venv === "venv" };
}

/** Returns the interpreter of the `waza.interpreter` setting: a path (absolute, or relative to `folder`) or a command on PATH. */
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

/** The Python of the nearest `.venv` in `folder` or above it. */
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

/** The Python inside an environment folder, in the POSIX or the Windows layout. */
export function pythonInEnvironment(environment: string): string | undefined {
    const layouts = [path.join("bin", "python"), path.join("Scripts", "python.exe")];
    return layouts.map((layout) => path.join(environment, layout)).find((file) => fs.existsSync(file));
}

/** The Pythons a terminal would find: by their usual names, then those that say their version, the newest first. */
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

/** Names such as `python3.12` in the folders of PATH: on older systems `python3` is a Python that is too old. */
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

/** One name for all links of a folder that lead to the same program; links between folders may mean environments of their own. */
function programKey(command: string): string {
    return `${path.dirname(command)}${path.delimiter}${orUndefined(() => fs.realpathSync(command)) ?? command}`;
}

function absoluteFolders(searchPath: string): string[] {
    return searchPath.split(path.delimiter).filter((entry) => path.isAbsolute(entry));
}

/** uv: on PATH, or where its installer puts it, which a window that was open before has not on its PATH. */
export function findUv(searchPath: string = process.env["PATH"] ?? "", home: string = os.homedir()): string | undefined {
    return findOnPath("uv", searchPath) ?? findOnPath("uv", path.join(home, ".local", "bin"));
}

/** The file of the program `name` in the absolute folders of PATH: a relative one would depend on the workspace. Skips programs that must not be started. */
export function findOnPath(name: string, searchPath: string = process.env["PATH"] ?? ""): string | undefined {
    const endings = process.platform === "win32" ? [".exe", ".cmd", ".bat", ""] : [""];
    for (const folder of absoluteFolders(searchPath)) {
        for (const ending of endings) {
            const file = path.join(folder, name + ending);
            // A folder that must not be searched, a link to itself and an alias of a Windows app throw.
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
