/**
 * The private Python environment of the extension, created from its bundled wheel.
 *
 * It is created only when the user requests it, in the storage folder of the extension. Once it exists, an update of the extension
 * updates it. uv creates it if it is available (one second instead of several), else `venv` and pip. Agents and judges need
 * more packages than editing: these are added when the user agrees. Each environment is created in its own folder, which is
 * used once its marker is written. The previous one is deleted when the new one is complete, so the older server still works after
 * an update without a network.
 *
 * Architecture invariant: only the wheel is installed, and the packages that the files next to it pin by version and hash. No
 * package is built, because a build downloads unpinned packages.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import type { CancellationToken, LogOutputChannel } from "vscode";
import { adviceAfterFailure, type Machine } from "./installAdvice";
import { findUv, type Interpreter, pythonInEnvironment } from "./interpreters";
import { proxyOfEditor, start } from "./programs";

/** The file that names the wheel of an environment; written last. */
const MARKER = "created-from.txt";
/** The file that marks an environment with the packages of agents. */
const WITH_AGENTS = "with-agents.txt";
/** The requirement files next to the wheel: of the server, of the server with agents, and of pip (`scripts/requirements.py`). */
const SERVER = "server.txt";
const AGENTS = "agents.txt";
const INSTALLER = "installer.txt";
const FOLDER = /^environment(-\w+)?$/;
export const PRIVATE = "the private environment";
/** The length of the end of a tool's output that is searched for the reason of its failure. */
const LAST_CHARACTERS = 20_000;
/** An older environment without a marker is left over from an aborted creation. */
const ABANDONED_AFTER_MS = 3_600_000;

type Log = Pick<LogOutputChannel, "info" | "warn">;
type Cancel = Pick<CancellationToken, "isCancellationRequested" | "onCancellationRequested">;

export class PrivateEnvironment {
    private creation: Promise<Interpreter> | undefined;

    /**
     * @param storage the extension's global storage folder
     * @param bundled the extension's folder with the wheel
     * @param uv where uv is, when there is one
     */
    constructor(
        private readonly storage: string,
        private readonly bundled: string,
        private readonly machine: Machine,
        private readonly log: Log,
        private readonly uv: () => string | undefined = findUv,
    ) {}

    /** The interpreter of the environment with the current wheel, else of the newest environment. */
    get interpreter(): Interpreter | undefined {
        const usable = this.completeEnvironments().filter(({ python }) => python !== undefined);
        const command = (usable.find(({ wheel }) => wheel === this.wheelIdentity()) ?? usable[0])?.python;
        return command === undefined ? undefined : { command, args: [], origin: PRIVATE };
    }

    /** True if an environment exists, but none with the current wheel and a Python: as the user agreed once, it may be updated. */
    get isOutdated(): boolean {
        const completeEnvironments = this.completeEnvironments();
        const isCurrent = completeEnvironments.some(({ wheel, python }) => wheel === this.wheelIdentity() && python !== undefined);
        return completeEnvironments.length > 0 && this.wheel() !== undefined && !isCurrent;
    }

    /**
     * Creates the environment. A call while one is being created returns the same promise.
     *
     * @param base a Python 3.11 or newer that has `venv`; undefined if only uv can create the environment
     * @param report called with a description of each step
     * @throws Error with a sentence for the user; the output of the tools goes to the log
     */
    create(base: Interpreter | undefined, cancel: Cancel, report: (step: string) => void): Promise<Interpreter> {
        this.creation ??= this.createFromWheel(base, cancel, report).finally(() => {
            this.creation = undefined;
        });
        return this.creation;
    }

    /**
     * Adds the packages for agents and judges to the environment.
     *
     * @param report called with a description of each step
     * @throws Error with a sentence for the user; the output of the tools goes to the log
     */
    async addAgents(cancel: Cancel, report: (step: string) => void): Promise<void> {
        const [python, uv] = [this.interpreter?.command, this.uv()];
        if (python === undefined || this.wheel() === undefined) {
            throw new Error("There is no private environment to install the packages in.");
        }
        report("about a hundred megabytes");
        const pinnedArgs = this.pinnedArgs(AGENTS);
        const withUv = uv === undefined ? [] : [() => this.installWithUv(uv, python, pinnedArgs, cancel)];
        await this.firstSuccess([...withUv, () => this.installWithPip(python, pinnedArgs, cancel)], cancel);
        fs.writeFileSync(path.join(path.dirname(path.dirname(python)), WITH_AGENTS), "");
    }

    private async createFromWheel(base: Interpreter | undefined, cancel: Cancel, report: (step: string) => void): Promise<Interpreter> {
        const wheel = this.wheel();
        if (wheel === undefined) {
            throw new Error("This build of the extension contains no language server; install waza-language-server with pip.");
        }
        fs.mkdirSync(this.storage, { recursive: true });
        const hasAgents = this.folders().some((folder) => fs.existsSync(path.join(folder, WITH_AGENTS)));
        const packageSets = [this.pinnedArgs(hasAgents ? AGENTS : SERVER), ["--no-deps", "--no-index", wheel]];
        const uv = this.uv();
        const methods: ((folder: string) => Promise<void>)[] = [];
        if (uv !== undefined) {
            methods.push((folder) => this.createWithUv(uv, base, folder, packageSets, cancel, report));
        }
        if (base !== undefined) {
            methods.push((folder) => this.createWithPip(base, folder, packageSets, cancel, report));
        }
        const inNewFolder = async (method: (folder: string) => Promise<void>): Promise<Interpreter> => {
            const folder = path.join(this.storage, `environment-${Date.now().toString(36)}`);
            try {
                await method(folder);
                const command = pythonIn(folder);
                if (hasAgents) {
                    fs.writeFileSync(path.join(folder, WITH_AGENTS), "");
                }
                fs.writeFileSync(path.join(folder, MARKER), this.wheelIdentity());
                this.removeOthers(folder);
                return { command, args: [], origin: PRIVATE };
            } catch (error) {
                remove(folder);
                throw error;
            }
        };
        return this.firstSuccess(
            methods.map((method) => () => inNewFolder(method)),
            cancel,
        );
    }

    /** Returns the result of the first method that succeeds. pip is tried after uv, which ignores pip's settings for an index or a proxy. */
    private async firstSuccess<Result>(methods: readonly (() => Promise<Result>)[], cancel: Cancel): Promise<Result> {
        let failure = new Error("There is neither uv nor a Python to create it with.");
        for (const method of methods) {
            try {
                return await method();
            } catch (error) {
                failure = error instanceof Error ? error : new Error(String(error));
                if (cancel.isCancellationRequested) {
                    break;
                }
                this.log.warn(failure.message);
            }
        }
        throw failure;
    }

    private async createWithUv(
        uv: string,
        base: Interpreter | undefined,
        folder: string,
        packageSets: readonly (readonly string[])[],
        cancel: Cancel,
        report: (step: string) => void,
    ): Promise<void> {
        report("creating the environment");
        const python = base === undefined || base.args.length > 0 ? ">=3.11" : base.command;
        await this.run("uv", uv, ["venv", "--python", python, folder], cancel);
        report("installing the language server and its dependencies");
        for (const packages of packageSets) {
            await this.installWithUv(uv, pythonIn(folder), packages, cancel);
        }
    }

    private async createWithPip(
        base: Interpreter,
        folder: string,
        packageSets: readonly (readonly string[])[],
        cancel: Cancel,
        report: (step: string) => void,
    ): Promise<void> {
        report("creating the environment");
        await this.run("pip", base.command, [...base.args, "-m", "venv", folder], cancel);
        report("installing the language server and its dependencies; less than half a minute");
        for (const packages of [["--upgrade", ...this.pinnedArgs(INSTALLER)], ...packageSets]) {
            await this.installWithPip(pythonIn(folder), packages, cancel);
        }
    }

    private installWithUv(uv: string, python: string, packages: readonly string[], cancel: Cancel): Promise<void> {
        return this.run("uv", uv, ["pip", "install", "--compile-bytecode", "--python", python, ...packages], cancel);
    }

    private installWithPip(python: string, packages: readonly string[], cancel: Cancel): Promise<void> {
        return this.run("pip", python, ["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", ...packages], cancel);
    }

    /** Returns the arguments of pip and uv that install the packages of a requirement file. */
    private pinnedArgs(file: string): string[] {
        return ["--require-hashes", "--only-binary", ":all:", "-r", path.join(this.bundled, file)];
    }

    /** Returns the environments with a marker, the newest first; `python` is undefined if it was removed. */
    private completeEnvironments(): { readonly wheel: string; readonly python: string | undefined }[] {
        const found = this.folders().flatMap((folder) => {
            const marker = path.join(folder, MARKER);
            const state = fs.statSync(marker, { throwIfNoEntry: false });
            return state === undefined ? [] : [{ modified: state.mtimeMs, wheel: fs.readFileSync(marker, "utf8"), python: pythonInEnvironment(folder) }];
        });
        return found.sort((one, other) => other.modified - one.modified);
    }

    private folders(): string[] {
        const names = fs.existsSync(this.storage) ? fs.readdirSync(this.storage) : [];
        return names.filter((name) => FOLDER.test(name)).map((name) => path.join(this.storage, name));
    }

    /** Removes all other environments, except one that another window is creating. */
    private removeOthers(current: string): void {
        for (const folder of this.folders()) {
            const isBeingCreated = !fs.existsSync(path.join(folder, MARKER)) && Date.now() - fs.statSync(folder).mtimeMs < ABANDONED_AFTER_MS;
            if (folder !== current && !isBeingCreated) {
                remove(folder);
            }
        }
    }

    private wheel(): string | undefined {
        const names = fs.existsSync(this.bundled) ? fs.readdirSync(this.bundled) : [];
        const name = names.find((candidate) => candidate.endsWith(".whl"));
        return name === undefined ? undefined : path.join(this.bundled, name);
    }

    private wheelIdentity(): string {
        const wheel = this.wheel();
        return wheel === undefined ? "" : `${path.basename(wheel)} ${fs.statSync(wheel).size}`;
    }

    private run(tool: "pip" | "uv", command: string, args: string[], cancel: Cancel): Promise<void> {
        this.log.info(`$ ${command} ${args.join(" ")}`);
        return new Promise((resolve, reject) => {
            const child = start(command, args, this.storage, proxyOfEditor());
            const onCancel = cancel.onCancellationRequested(() => child.kill());
            let output = "";
            const logOutput = (data: Buffer) => {
                output = (output + data.toString()).slice(-LAST_CHARACTERS);
                this.log.info(data.toString().trimEnd());
            };
            child.stdout.on("data", logOutput);
            child.stderr.on("data", logOutput);
            child.on("error", reject);
            child.on("close", (code) => {
                onCancel.dispose();
                if (cancel.isCancellationRequested) {
                    reject(new Error("Canceled."));
                } else if (code === 0) {
                    resolve();
                } else {
                    const reason = `${path.basename(command)} failed with exit code ${code ?? "unknown"}; see the log.`;
                    reject(new Error(adviceAfterFailure(output, this.machine, tool, reason)));
                }
            });
        });
    }
}

function pythonIn(environment: string): string {
    const command = pythonInEnvironment(environment);
    if (command === undefined) {
        throw new Error(`The environment in ${environment} has no Python; see the log.`);
    }
    return command;
}

/** Removes a folder if possible: on Windows a running Python locks its files. */
function remove(folder: string): void {
    try {
        fs.rmSync(folder, { recursive: true, force: true });
    } catch {
        // the next creation tries again
    }
}
