/**
 * A Python environment of the extension's own, made from the wheel that it carries.
 *
 * It is created only when the user asks for it, and lives in the extension's storage folder. Once it exists, an
 * update of the extension renews it. uv makes it when there is one (a second instead of half a minute), else
 * `venv` and pip.
 */

import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import type { CancellationToken, LogOutputChannel } from "vscode";
import { afterFailure, withoutPython } from "./installAdvice";
import { findOnPath, pythonOf, type Interpreter } from "./interpreters";

const CREATED_FROM = "created-from.txt";
/** How much of what a tool says is looked at for the reason of its failure. */
const LAST_CHARACTERS = 20_000;

export class PrivateEnvironment {
    private readonly folder: string;

    /**
     * @param storage the extension's global storage folder
     * @param bundled the extension's folder with the wheel
     */
    constructor(
        storage: string,
        private readonly bundled: string,
        private readonly log: LogOutputChannel,
    ) {
        this.folder = path.join(storage, "environment");
    }

    /** Its interpreter, when it was created from the wheel of this very extension. */
    get interpreter(): Interpreter | undefined {
        const command = this.exists && !this.isOutdated ? pythonOf(this.folder) : undefined;
        return command === undefined ? undefined : { command, args: [], origin: "the private environment" };
    }

    /** True when one was created from the wheel of another version: the user agreed once, so it may be renewed. */
    get isOutdated(): boolean {
        return this.exists && fs.readFileSync(this.marker, "utf8") !== this.identityOfWheel();
    }

    /**
     * Creates it anew with `base` (Python 3.11 or newer; undefined when there is none, which leaves it to uv).
     * `report` is told what is being done, in words.
     *
     * @throws Error with a sentence for the user; the tools' output goes to the log
     */
    async create(
        base: Interpreter | undefined,
        cancel: CancellationToken,
        report: (step: string) => void,
    ): Promise<Interpreter> {
        const wheel = this.wheel();
        if (wheel === undefined) {
            throw new Error("This build of the extension carries no language server; install waza-language-server with pip.");
        }
        fs.rmSync(this.folder, { recursive: true, force: true });
        fs.mkdirSync(path.dirname(this.folder), { recursive: true });
        const uv = findOnPath("uv");
        report("making the environment");
        if (uv !== undefined) {
            const python = base === undefined ? ">=3.11" : base.command;
            await this.run(uv, ["venv", "--python", base?.args.length ? ">=3.11" : python, this.folder], cancel);
            report("installing the language server and what it needs");
            await this.run(uv, ["pip", "install", "--compile-bytecode", "--python", this.command(), wheel], cancel);
        } else if (base !== undefined) {
            await this.run(base.command, [...base.args, "-m", "venv", this.folder], cancel);
            report("installing the language server and what it needs; half a minute");
            await this.run(this.command(), ["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", wheel], cancel);
        } else {
            throw new Error(withoutPython(process.platform, []));
        }
        fs.writeFileSync(this.marker, this.identityOfWheel());
        return { command: this.command(), args: [], origin: "the private environment" };
    }

    private get exists(): boolean {
        return fs.existsSync(this.marker);
    }

    private get marker(): string {
        return path.join(this.folder, CREATED_FROM);
    }

    private command(): string {
        const command = pythonOf(this.folder);
        if (command === undefined) {
            throw new Error(`The environment in ${this.folder} has no Python; see the log.`);
        }
        return command;
    }

    private wheel(): string | undefined {
        const names = fs.existsSync(this.bundled) ? fs.readdirSync(this.bundled) : [];
        const name = names.find((candidate) => candidate.endsWith(".whl"));
        return name === undefined ? undefined : path.join(this.bundled, name);
    }

    private identityOfWheel(): string {
        const wheel = this.wheel();
        return wheel === undefined ? "" : `${path.basename(wheel)} ${fs.statSync(wheel).size}`;
    }

    private run(command: string, args: string[], cancel: CancellationToken): Promise<void> {
        this.log.info(`$ ${command} ${args.join(" ")}`);
        return new Promise((resolve, reject) => {
            const child = spawn(command, args, { cwd: path.dirname(this.folder), windowsHide: true });
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
                    reject(new Error(afterFailure(output, process.platform, reason)));
                }
            });
        });
    }
}
