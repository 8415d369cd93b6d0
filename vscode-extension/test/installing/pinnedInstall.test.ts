/** The private environment, created by a real Python from a local package index, without network. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { findUv } from "../../src/interpreters";
import { PrivateEnvironment } from "../../src/privateEnvironment";

const never = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };
const machine = { platform: process.platform, isRoot: true, has: () => false };
const python = ["PYTHON" in process.env ? path.resolve(process.env.PYTHON ?? "") : "", "../.venv/bin/python", "../.venv/Scripts/python.exe"]
    .map((file) => path.resolve(file))
    .find((file) => fs.existsSync(file) && fs.statSync(file).isFile());
const noPython = { skip: python === undefined ? "there is no Python of `make .venv/.ready`" : false };

/** Creates the index: `needed` in two versions, a `pip` newer than any, and the wheel of the extension, which accepts any `needed`. */
const CREATE_INDEX = `
import base64, ensurepip, hashlib, io, pathlib, re, sys, zipfile

index, bundled = map(pathlib.Path, sys.argv[1:])

def wheel(folder, name, version, files, requires=()):
    info = f"{name}-{version}.dist-info"
    requirements = "".join(f"Requires-Dist: {each}\\n" for each in requires)
    files = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n{requirements}".encode(),
             f"{info}/WHEEL": b"Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"}
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip('=')},{len(content)}\\n"
        for path, content in files.items())
    place = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(place, "w") as archive:
        for path, content in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\\n".encode()}.items():
            archive.writestr(path, content)
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(place.read_bytes()).hexdigest()}\\n"

needed = wheel(index, "needed", "1.0", {"needed.py": b"VERSION = 1"})
wheel(index, "needed", "2.0", {"needed.py": b"VERSION = 2"})
agent = wheel(index, "agent", "1.0", {"agent.py": b""}, ["needed"])
wheel(bundled, "waza_language_server", "0.1.0", {"waza_language_server.py": b""}, ["needed>=1", "never-there"])
seed = next((pathlib.Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"), None)
if seed is None:
    sys.exit("this Python has no wheel of pip")
with zipfile.ZipFile(seed) as archive:
    code = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
installer = wheel(index, "pip", "99.0", code)
(bundled / "server.txt").write_text(needed)
(bundled / "agents.txt").write_text(needed + agent)
(bundled / "installer.txt").write_text(installer)
`;
const VERSIONS = `
import importlib.metadata, json
print(json.dumps({each.name: each.version for each in importlib.metadata.distributions()}))
`;

let root = "";
const index = () => path.join(root, "index");
const bundled = () => path.join(root, "bundled");
const base = { command: python ?? "", args: [], origin: "test" };

before(() => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), "waza-pinned-"));
    fs.mkdirSync(index());
    fs.mkdirSync(bundled());
    const settings = { PIP_NO_INDEX: "1", PIP_FIND_LINKS: index(), PIP_CONFIG_FILE: os.devNull, PIP_NO_CACHE_DIR: "1" };
    Object.assign(process.env, settings, { UV_OFFLINE: "1", UV_FIND_LINKS: index(), UV_NO_CACHE: "1", UV_NO_CONFIG: "1" });
    if (python !== undefined) {
        const created = spawnSync(python, ["-c", CREATE_INDEX, index(), bundled()], { encoding: "utf8" });
        assert.equal(created.status, 0, created.stderr);
    }
});

after(() => {
    fs.rmSync(root, { recursive: true, force: true });
});

function environment(name: string, uv?: string): PrivateEnvironment {
    const log = { info: () => undefined, warn: () => undefined };
    return new PrivateEnvironment(path.join(root, name), bundled(), machine, log, () => uv);
}

function versionsOf(command: string): Record<string, string> {
    return JSON.parse(spawnSync(command, ["-c", VERSIONS], { encoding: "utf8" }).stdout) as Record<string, string>;
}

void test("a newer pip installs the pinned versions only", noPython, async () => {
    const created = environment("pip");
    const { command } = await created.create(base, never, () => undefined);
    const first = versionsOf(command);
    assert.deepEqual([first.needed, first["waza_language_server"], first.pip, first.agent], ["1.0", "0.1.0", "99.0", undefined]);

    const agent = path.join(index(), "agent-1.0-py3-none-any.whl");
    const original = fs.readFileSync(agent);
    fs.appendFileSync(agent, "more");
    await assert.rejects(created.addAgents(never, () => undefined), /not the one that this extension was tested with/u);
    assert.equal(versionsOf(command).agent, undefined);

    fs.writeFileSync(agent, original);
    await created.addAgents(never, () => undefined);
    const later = versionsOf(command);
    assert.deepEqual([later.needed, later.agent], ["1.0", "1.0"]);
});

const uv = findUv();
void test("so does uv", { skip: python === undefined || uv === undefined ? "there is no uv" : false }, async () => {
    const created = environment("uv", uv);
    const { command } = await created.create(base, never, () => undefined);
    await created.addAgents(never, () => undefined);
    const { needed, agent, waza_language_server: server } = versionsOf(command);
    assert.deepEqual([needed, agent, server], ["1.0", "1.0", "0.1.0"]);
});
