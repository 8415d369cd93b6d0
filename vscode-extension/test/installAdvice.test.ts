import assert from "node:assert/strict";
import { test } from "node:test";
import { adviceAfterFailure, adviceWithoutPython, type Machine } from "../src/installAdvice";
import type { PythonInfo } from "../src/interpreters";

function machine(platform: NodeJS.Platform, ...programs: string[]): Machine {
    return { platform, isRoot: false, has: (program) => programs.includes(program) };
}

function python(version: string, hasVenv = true): PythonInfo {
    const interpreter = { command: "/usr/bin/python3", args: [], origin: "test" };
    return { interpreter, version, isRecent: version === "3.12", hasVenv };
}

const debian = machine("linux", "apt");

void test("without Python the advice has the command of the system", () => {
    assert.match(adviceWithoutPython(machine("win32"), []).sentence, /^No Python was found; .*`winget install [^`]*`, then restart VS Code\.$/);
    assert.match(adviceWithoutPython(machine("darwin"), []).sentence, /`brew install python`/);
    assert.match(adviceWithoutPython(debian, []).sentence, /`sudo apt install python3 python3-venv`, then try again\.$/);
    assert.match(adviceWithoutPython(machine("linux", "pacman"), []).sentence, /`sudo pacman -S python`/);
    assert.match(adviceWithoutPython({ ...debian, isRoot: true }, []).sentence, /`apt install python3 python3-venv`/);
});

void test('no "try again" where a window keeps its PATH', () => {
    assert.equal(adviceWithoutPython(machine("win32"), []).canTryAgain, false);
    assert.equal(adviceWithoutPython(debian, []).canTryAgain, true);
});

void test("no package is advised if the packages have only an old Python", () => {
    const sentence = adviceWithoutPython(debian, [python("3.9")]).sentence;
    assert.match(sentence, /^Python 3\.9 \(\/usr\/bin\/python3\) is too old; install uv, /);
    assert.doesNotMatch(sentence, /apt/);
});

void test("a Python without venv is reported before an environment is offered", () => {
    const sentence = adviceWithoutPython(debian, [python("3.9"), python("3.12", false)]).sentence;
    assert.match(sentence, /^Python 3\.12 \(\/usr\/bin\/python3\) has no venv; install it with `sudo apt install python3\.12-venv`/);
    assert.match(adviceWithoutPython(machine("linux"), [python("3.12", false)]).sentence, /install uv, which needs none/);
});

void test("a failure without venv names the package to install", () => {
    const output = "The virtual environment was not created because ensurepip is not available.\n    apt install python3.12-venv\n";
    assert.match(adviceAfterFailure(output, debian, "pip", "?"), /`sudo apt install python3\.12-venv`/);
    assert.match(adviceAfterFailure("No module named venv", machine("darwin"), "pip", "?"), /has no venv/);
});

void test("an unreachable index is reported", () => {
    const pip = "WARNING: Retrying after connection broken by 'NewConnectionError(...)'\nERROR: No matching distribution found for pygls";
    assert.match(adviceAfterFailure(pip, debian, "pip", "?"), /index was not reached/);
    assert.match(adviceAfterFailure("error: Failed to fetch: dns error", debian, "uv", "?"), /index was not reached/);
    const timeout = "WARNING: Retrying (Retry(total=0)) after connection broken by 'ConnectTimeoutError(...)'\nERROR: No matching distribution found for pygls";
    assert.match(adviceAfterFailure(timeout, debian, "pip", "?"), /index was not reached/);
    assert.match(adviceAfterFailure("socket.gaierror: [Errno 8] nodename nor servname provided", machine("darwin"), "pip", "?"), /index was not reached/);
});

void test("each tool has its own way to set another index", () => {
    const offline = "Temporary failure in name resolution";
    assert.match(adviceAfterFailure(offline, debian, "pip", "?"), /`python3 -m pip config set global\.index-url …`/);
    assert.match(adviceAfterFailure(offline, machine("win32"), "pip", "?"), /`py -m pip config set/);
    assert.match(adviceAfterFailure(offline, debian, "uv", "?"), /`UV_INDEX_URL`.* restart VS Code/);
});

void test("a rejected certificate is reported", () => {
    const pip = "connection broken by 'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed'))'";
    assert.match(adviceAfterFailure(pip, debian, "pip", "?"), /certificate of the package index.*global\.cert/);
    assert.match(adviceAfterFailure("invalid peer certificate: UnknownIssuer", debian, "uv", "?"), /SSL_CERT_FILE/);
});

void test("a hash mismatch is reported", () => {
    const pip = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n    needed==1.0";
    assert.match(adviceAfterFailure(pip, debian, "pip", "?"), /not the one that this extension was tested with, so nothing was installed/);
    assert.match(adviceAfterFailure("error: Hash mismatch for `needed==1.0`", debian, "uv", "?"), /not the one that this extension was tested with/);
});

void test("a package that the index lacks is named", () => {
    const pip = "ERROR: Could not find a version that satisfies the requirement pygls==2.1.1 (from versions: none)\nERROR: No matching distribution found for pygls==2.1.1";
    assert.match(adviceAfterFailure(pip, debian, "pip", "?"), /has no `pygls` for this Python; name one that has it with `python3 -m pip config set global\.index-url/);
    const uv = "  × No solution found when resolving dependencies:\n  ╰─▶ Because pygls was not found in the package registry and you require pygls";
    assert.match(adviceAfterFailure(uv, debian, "uv", "?"), /has no `pygls` for this Python/);
});

void test("a full disk and a damaged wheel are reported", () => {
    assert.match(adviceAfterFailure("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", debian, "pip", "?"), /disk is full/);
    const pip = "ERROR: Wheel 'waza-language-server' located at /x/waza_language_server-0.1.0-py3-none-any.whl is invalid.";
    assert.match(adviceAfterFailure(pip, debian, "pip", "?"), /is damaged/);
    assert.match(adviceAfterFailure("error: Failed to read metadata\n  Caused by: Invalid Zip archive", debian, "uv", "?"), /is damaged/);
});

void test("an unknown failure keeps its reason", () => {
    assert.equal(adviceAfterFailure("Segmentation fault", debian, "pip", "pip failed with exit code 1; see the log."), "pip failed with exit code 1; see the log.");
});
