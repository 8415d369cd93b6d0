/**
 * What a person does when the language server cannot be installed: one sentence with the command for this system.
 *
 * Architecture invariant: nothing of `vscode` here, so that plain Node tests cover it.
 */

/** The sentence for a machine without a Python that is new enough; `asked` are the Pythons that were found. */
export function withoutPython(platform: NodeJS.Platform, asked: readonly string[]): string {
    const found = asked.length === 0 ? "No Python was found" : `No Python 3.11 or newer was found (asked: ${asked.join(", ")})`;
    const commands: Partial<Record<NodeJS.Platform, string>> = {
        win32: "install it with `winget install Python.Python.3.13`",
        darwin: "install it with `brew install python`",
        linux: "install it with your package manager, such as `sudo apt install python3 python3-venv`",
    };
    return `${found}; ${commands[platform] ?? "install Python 3.11 or newer"}, then reload the window.`;
}

/** What pip and uv say when the index does not answer: no name, no route, a proxy that refuses, an answer that never comes. */
const UNREACHED = new RegExp(
    [
        "NewConnectionError|Failed to establish a new connection|connection broken by|ConnectTimeoutError|ReadTimeoutError|ProxyError",
        "Temporary failure in name resolution|Name or service not known|nodename nor servname|getaddrinfo failed|Network is unreachable",
        "Could not fetch|dns error|error sending request|client error \\(Connect\\)|tcp connect error|operation timed out",
    ].join("|"),
    "iu",
);

/** The sentence for a step of the installation that failed with `output`; `otherwise` when the output says nothing known. */
export function afterFailure(output: string, platform: NodeJS.Platform, otherwise: string): string {
    if (/ensurepip is not|No module named '?(venv|ensurepip)/.test(output)) {
        const version = /python(3\.\d+)-venv/.exec(output)?.[1] ?? "3";
        return platform === "linux"
            ? `This Python has no venv; install it with \`sudo apt install python${version}-venv\`, then run “Waza: Create a Private Environment” again.`
            : "This Python has no venv; install Python from python.org, then run “Waza: Create a Private Environment” again.";
    }
    if (/CERTIFICATE_VERIFY_FAILED|certificate verify failed|invalid peer certificate/i.test(output)) {
        return "The certificate of the package index was not accepted; set `PIP_CERT` (for uv `SSL_CERT_FILE`) to the certificates of your network, then run “Waza: Create a Private Environment” again.";
    }
    if (UNREACHED.test(output)) {
        return "The package index was not reached; connect to the network, or set `PIP_INDEX_URL` to one that you reach, then run “Waza: Create a Private Environment” again.";
    }
    if (/requires a different Python|Requires-Python/.test(output)) {
        return "This Python is too old; install Python 3.11 or newer, then run “Waza: Create a Private Environment” again.";
    }
    const lacking = /No matching distribution found for ([\w.-]+)/.exec(output)?.[1] ?? /Because ([\w.-]+) was not found in the package registry/.exec(output)?.[1];
    if (lacking !== undefined) {
        return `The package index has no \`${lacking}\` for this Python; set \`PIP_INDEX_URL\` (for uv \`UV_INDEX_URL\`) to one that has it, such as https://pypi.org/simple, then run “Waza: Create a Private Environment” again.`;
    }
    return otherwise;
}
