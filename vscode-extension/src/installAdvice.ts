/**
 * Advice when the language server cannot be installed: one sentence with the command for this system.
 *
 * Architecture invariant: this module does not import `vscode`, so that plain Node tests cover it.
 */

import { MINIMUM_PYTHON, type PythonInfo } from "./interpreters";

/** The machine that the advice is for. */
export interface Machine {
    readonly platform: NodeJS.Platform;
    /** True if the user needs no `sudo`. */
    readonly isRoot: boolean;
    /** Returns whether a program is on PATH. */
    readonly has: (program: string) => boolean;
}

/** A sentence, and whether trying again helps without a restart of VS Code. */
export interface Advice {
    readonly sentence: string;
    readonly canTryAgain: boolean;
}

/** The package managers, and the command of each that installs Python with `venv`. */
const PACKAGE_MANAGERS: readonly (readonly [program: string, command: string])[] = [
    ["apt", "apt install python3 python3-venv"],
    ["dnf", "dnf install python3"],
    ["pacman", "pacman -S python"],
    ["zypper", "zypper install python3"],
    ["apk", "apk add python3"],
];
/** uv downloads a recent Python, which the packages of old systems lack. */
const INSTALL_UV = "curl -LsSf https://astral.sh/uv/install.sh | sh";
/** The message has a button "Try Again". */
const TRY_AGAIN = "then try again";

/** Returns the advice for a machine on which no environment can be created; `pythons` are the installed ones. */
export function adviceWithoutPython(machine: Machine, pythons: readonly PythonInfo[]): Advice {
    const { platform } = machine;
    const recent = pythons.find(({ isRecent }) => isRecent);
    if (recent !== undefined) {
        const problem = `Python ${recent.version} (${recent.interpreter.command}) has no venv`;
        return { sentence: `${problem}; ${venvAdvice(machine, recent.version)}, ${TRY_AGAIN}.`, canTryAgain: true };
    }
    const needed = `Python ${MINIMUM_PYTHON} or newer`;
    const [old] = pythons;
    const found = old === undefined ? "No Python was found" : `Python ${old.version} (${old.interpreter.command}) is too old`;
    if (platform === "win32") {
        // A window keeps the PATH with which it was started.
        return { sentence: `${found}; install ${needed} with \`winget install Python.Python.3.13\`, then restart VS Code.`, canTryAgain: false };
    }
    if (platform === "darwin") {
        return { sentence: `${found}; install ${needed} with \`brew install python\`, ${TRY_AGAIN}.`, canTryAgain: true };
    }
    const packaged = old === undefined ? packagedPython(machine) : undefined; // the packages of this system have that old version
    const install = packaged === undefined ? `install uv, which brings ${old === undefined ? "one" : "a newer one"}, with \`${INSTALL_UV}\`` : `install it with \`${packaged}\``;
    return { sentence: `${found}; ${install}, ${TRY_AGAIN}.`, canTryAgain: true };
}

function venvAdvice(machine: Machine, version: string): string {
    if (machine.platform !== "linux") {
        return "install Python from python.org";
    }
    const debian = `${machine.isRoot ? "" : "sudo "}apt install python${version}-venv`;
    return machine.has("apt") ? `install it with \`${debian}\`` : `install uv, which needs none, with \`${INSTALL_UV}\``;
}

function packagedPython(machine: Machine): string | undefined {
    const command = PACKAGE_MANAGERS.find(([program]) => machine.has(program))?.[1];
    return command === undefined || machine.isRoot ? command : `sudo ${command}`;
}

/** Matches the output of pip and uv if the package index does not answer: no DNS, no route, a proxy error or a timeout. */
const INDEX_UNREACHABLE = new RegExp(
    [
        "NewConnectionError|Failed to establish a new connection|connection broken by|ConnectTimeoutError|ReadTimeoutError|ProxyError",
        "Temporary failure in name resolution|Name or service not known|nodename nor servname|getaddrinfo failed|Network is unreachable",
        "Could not fetch|dns error|error sending request|client error \\(Connect\\)|tcp connect error|operation timed out",
        "network was disabled|Network connectivity is disabled",
    ].join("|"),
    "iu",
);

/** Returns the advice for an installation step that failed with `output`; `fallback` if the output is unknown. */
export function adviceAfterFailure(output: string, machine: Machine, tool: "pip" | "uv", fallback: string): string {
    if (/ensurepip is not|No module named '?(venv|ensurepip)/.test(output)) {
        const version = /python(3\.\d+)-venv/.exec(output)?.[1] ?? "3";
        return `This Python has no venv; ${venvAdvice(machine, version)}, ${TRY_AGAIN}.`;
    }
    if (/No space left on device|os error 28|not enough space/i.test(output)) {
        return `The disk is full; make room for 100 MB, ${TRY_AGAIN}.`;
    }
    if (/BadZipFile|Invalid Zip archive|is not a valid wheel|has an invalid wheel|Wheel '[^']*' located at \S+ is invalid|could not find EOCD/i.test(output)) {
        return "The language server in this extension is damaged; uninstall the extension and install it again.";
    }
    if (/DO NOT MATCH THE HASHES|Hash mismatch/i.test(output)) {
        return `A package of the index is not the one that this extension was tested with, so nothing was installed; ${settingAdvice(machine, tool, "global.index-url", "UV_INDEX_URL", "another index")}.`;
    }
    if (/CERTIFICATE_VERIFY_FAILED|certificate verify failed|invalid peer certificate/i.test(output)) {
        return `The certificate of the package index was not accepted; ${settingAdvice(machine, tool, "global.cert", "SSL_CERT_FILE", "the certificates of your network")}.`;
    }
    const index = (address: string) => settingAdvice(machine, tool, "global.index-url", "UV_INDEX_URL", address);
    if (INDEX_UNREACHABLE.test(output)) {
        return `The package index was not reached; connect to the network, or ${index("one that you reach")}.`;
    }
    if (/requires a different Python|Requires-Python/.test(output)) {
        return `This Python is too old; install Python ${MINIMUM_PYTHON} or newer, ${TRY_AGAIN}.`;
    }
    const missing = /No matching distribution found for ([\w.-]+)/.exec(output)?.[1] ?? /Because ([\w.-]+) was not found in the package registry/.exec(output)?.[1];
    if (missing !== undefined) {
        return `The package index has no \`${missing}\` for this Python; ${index("one that has it")}.`;
    }
    return fallback;
}

/** Returns how to set `value` in the configuration file of pip, which needs no restart, or in a variable for uv. */
function settingAdvice(machine: Machine, tool: "pip" | "uv", pip: string, variable: string, value: string): string {
    if (tool === "uv") {
        return `set \`${variable}\` to ${value} and restart VS Code`;
    }
    const python = machine.platform === "win32" ? "py" : "python3";
    return `name ${value} with \`${python} -m pip config set ${pip} …\`, ${TRY_AGAIN}`;
}
