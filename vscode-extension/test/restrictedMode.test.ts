/** Restricted Mode: no program of a clone is started, whatever names it, and the server is found nevertheless. */

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import type { LogOutputChannel } from "vscode";
import { addAgents } from "../src/agentPackages";
import { createEnvironment, MACHINE } from "../src/interpreterPrompts";
import { PrivateEnvironment } from "../src/privateEnvironment";
import { environmentOfPrograms, execute, GuardedClient, start, startRejection } from "../src/programs";
import { onDidSelectEnvironment } from "../src/pythonExtension";
import { logIn } from "../src/runOptionPrompts";
import { resolveServer } from "../src/serverResolution";
import { LanguageClient } from "./fake/languageclient";
import { CancellationTokenSource, otherExtension, settings, terminals, userSettings, workspace } from "./fake/vscode";

const posixOnly = { skip: process.platform === "win32" ? "shell scripts stand for Python here" : false };
const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as LogOutputChannel;

/** A home with a clone in it, and a Python of the user's own on PATH. */
class Machine {
    readonly home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "waza-")));
    readonly clone = path.join(this.home, "src", "clone");
    readonly evals = path.join(this.clone, "evals");
    readonly suite = this.write("src/clone/evals/eval.yaml", "name: a\n");
    readonly task = this.write("src/clone/evals/tasks/one.yaml", "id: one\n");
    readonly ran = path.join(this.home, "ran");
    /** The Python of the clone, which creates the file `ran` when it is started. */
    readonly theirs = this.program("src/clone/.venv/bin/python", `touch '${this.ran}'; echo 'waza-language-server 9.9.9'`);
    readonly ours = this.program("own/bin/python3", "echo 'waza-language-server 1.0.0'");
    readonly environment = new PrivateEnvironment(path.join(this.home, "storage"), path.join(this.home, "bundled"), MACHINE, log);
    private readonly variables = { ...process.env };

    constructor(context: TestContext, trusted = false) {
        this.hideFoldersAbove(context);
        fs.mkdirSync(path.join(this.clone, ".git"));
        process.env["HOME"] = this.home;
        process.env["PATH"] = path.dirname(this.ours);
        workspace.isTrusted = trusted;
        this.open([], []);
        context.after(() => {
            Object.keys(process.env).forEach((name) => {
                Reflect.deleteProperty(process.env, name);
            });
            Object.assign(process.env, this.variables);
            workspace.isTrusted = true;
            [userSettings, settings.window].forEach((values) => {
                delete values["waza.interpreter"];
            });
            otherExtension.api = undefined;
            fs.rmSync(this.home, { recursive: true });
        });
    }

    /** The folder of temporary files may be in a repository, or hold a suite: it must not decide these tests. */
    private hideFoldersAbove(context: TestContext): void {
        const isAbove = (folder: fs.PathLike) => {
            const below = path.relative(String(folder), this.home);
            return below !== "" && !below.startsWith("..") && !path.isAbsolute(below);
        };
        const { lstatSync, readdirSync } = fs;
        const status = (place: fs.PathLike, options?: fs.StatSyncOptions) =>
            lstatSync(path.basename(String(place)) === ".git" && isAbove(path.dirname(String(place))) ? path.join(this.home, "missing") : place, options);
        const names = (folder: fs.PathLike, ...options: [BufferEncoding]) => (isAbove(folder) ? [] : readdirSync(folder, ...options));
        context.mock.method(fs, "lstatSync", status as typeof lstatSync);
        context.mock.method(fs, "readdirSync", names as typeof readdirSync);
    }

    open(folders: readonly string[], files: readonly string[]): void {
        const uri = (fsPath: string) => ({ scheme: "file", fsPath });
        workspace.workspaceFolders = folders.map((folder) => ({ name: folder, uri: uri(folder) }));
        workspace.textDocuments = files.map((file) => ({ uri: uri(file), languageId: "yaml" }));
    }

    /** The Python that runs the server, in the end. */
    async resolved(): Promise<string | undefined> {
        return (await resolveServer(this.environment, this.home, log)).server?.interpreter.command;
    }

    write(name: string, text: string, mode = 0o644): string {
        const file = path.join(this.home, name);
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(file, text, { mode });
        return file;
    }

    program(name: string, script: string): string {
        return this.write(name, `#!/bin/sh\n${script}\n`, 0o755);
    }

    link(name: string, target: string): string {
        const file = path.join(this.home, name);
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.symlinkSync(target, file);
        return file;
    }

    setPath(...entries: string[]): void {
        process.env["PATH"] = [...entries, path.dirname(this.ours)].join(path.delimiter);
    }
}

/** The open folders and files, by description. */
const OPEN: Record<string, (here: Machine) => void> = {
    "the clone": (here) => {
        here.open([here.clone], []);
    },
    "a folder of the clone": (here) => {
        here.open([here.evals], []);
    },
    "a folder of the clone, and a file of it": (here) => {
        here.open([here.evals], [here.suite]);
    },
    "one file of the clone": (here) => {
        here.open([], [here.suite]);
    },
    "a task of the clone beside another folder": (here) => {
        here.open([path.join(here.home, "storage")], [here.task]);
    },
    "two folders, the clone the second": (here) => {
        here.open([path.dirname(here.ours), here.evals].slice(1), []);
        workspace.workspaceFolders?.unshift({ name: "other", uri: { scheme: "file", fsPath: path.join(here.home, "other") } });
    },
    "the clone by a link": (here) => {
        here.open([here.link("shortcut", here.evals)], []);
    },
    "a file by a link into the clone": (here) => {
        here.open([], [path.join(here.link("shortcut", here.evals), "eval.yaml")]);
    },
    "a repository in the clone": (here) => {
        fs.mkdirSync(path.join(here.evals, ".git"));
        here.open([here.evals], []);
    },
    "an older version of a file": (here) => {
        workspace.textDocuments = [{ uri: { scheme: "git", fsPath: here.task }, languageId: "yaml" }];
    },
    "a worktree": (here) => {
        fs.rmdirSync(path.join(here.clone, ".git"));
        here.write("src/clone/.git", "gitdir: /elsewhere\n");
        here.open([], [here.task]);
    },
};

/** The sources that name the Python of the clone. */
const NAMED: Record<string, (here: Machine) => void> = {
    "only the clone itself": () => undefined,
    "PATH": (here) => {
        here.setPath(path.dirname(here.theirs));
    },
    "a link on PATH": (here) => {
        here.setPath(path.dirname(here.link("links/python3", here.theirs)));
    },
    "a link on PATH to a link": (here) => {
        here.setPath(path.dirname(here.link("links/python", here.link("further/python3.13", here.theirs))));
    },
    "a folder on PATH that is a link": (here) => {
        here.setPath(here.link("bin", path.dirname(here.theirs)));
    },
    "a link of the clone that leads out of it": (here) => {
        here.program("other/python3", `touch '${here.ran}'; echo 'waza-language-server 9.9.9'`);
        here.setPath(here.link("src/clone/tools", path.join(here.home, "other")));
    },
    "relative entries of PATH": (here) => {
        here.setPath("", ".", path.relative(process.cwd(), path.dirname(here.theirs)));
    },
    "another extension": (here) => {
        const environments = {
            getActiveEnvironmentPath: () => ({ path: here.theirs }),
            resolveEnvironment: () => Promise.resolve({ executable: { uri: { fsPath: here.theirs } } }),
            onDidChangeActiveEnvironmentPath: () => undefined,
        };
        otherExtension.api = { environments };
    },
    "the setting of the workspace": (here) => {
        settings.window["waza.interpreter"] = here.theirs;
    },
};

for (const [opened, open] of Object.entries(OPEN)) {
    for (const [by, name] of Object.entries(NAMED)) {
        void test(`${opened} open, its Python named by ${by}: the user's own runs the server`, posixOnly, async (context) => {
            const here = new Machine(context);
            open(here);
            name(here);
            assert.equal(await here.resolved(), here.ours);
            assert.ok(!fs.existsSync(here.ran));
        });
    }

    for (const written of ["ABSOLUTE", "${workspaceFolder}/.venv/bin/python", ".venv/bin/python", "../.venv/bin/python", "LINK"]) {
        void test(`${opened} open: the user's setting ${written} starts nothing of it`, posixOnly, async (context) => {
            const here = new Machine(context);
            open(here);
            const links: Record<string, string> = { ABSOLUTE: here.theirs, LINK: here.link("mine", here.theirs) };
            userSettings["waza.interpreter"] = settings.window["waza.interpreter"] = links[written] ?? written;
            const { server, rejections } = await resolveServer(here.environment, here.home, log);
            assert.equal(server, undefined);
            assert.match(rejections[0]?.reason ?? "", /not trusted|does not exist|not an absolute path/u);
            assert.ok(!fs.existsSync(here.ran));
        });
    }

    void test(`${opened} open: the user's setting of a Python elsewhere runs the server`, posixOnly, async (context) => {
        const here = new Machine(context);
        open(here);
        userSettings["waza.interpreter"] = here.program("mine/python", "echo 'waza-language-server 2.0.0'");
        assert.equal(await here.resolved(), path.join(here.home, "mine", "python"));
    });
}

void test("in a trusted workspace the environment of the clone runs the server", posixOnly, async (context) => {
    const here = new Machine(context, true);
    for (const open of [OPEN["the clone"], OPEN["a folder of the clone"], OPEN["one file of the clone"]]) {
        open?.(here);
        assert.equal(await here.resolved(), here.theirs);
    }
    settings.window["waza.interpreter"] = here.ours;
    assert.equal(await here.resolved(), here.ours);
});

void test("the boundary of a file without a repository is the folder of its suite, never the home folder", posixOnly, (context) => {
    const here = new Machine(context);
    const [suite, beside] = [here.program("loose/bin/python", ""), here.program("python", "")];
    here.write("loose/eval.yaml", "");
    here.open([], [here.write("loose/tasks/one.yaml", "")]);
    assert.match(startRejection(suite) ?? "", /not trusted/u);
    assert.equal(startRejection(beside), undefined);
    here.open([], [here.write("eval.yaml", "")]);
    assert.equal(startRejection(beside), undefined);
    fs.mkdirSync(path.join(here.home, ".git"));
    assert.equal(startRejection(here.ours), undefined);
    here.open([here.home], []);
    assert.match(startRejection(here.ours) ?? "", /not trusted/u);
});

void test("a command that PATH would resolve is not started", posixOnly, (context) => {
    new Machine(context);
    assert.match(startRejection("python3") ?? "", /absolute/u);
    assert.match(startRejection("./python3") ?? "", /absolute/u);
});

void test("no program of the clone is started to probe it or to create an environment", posixOnly, async (context) => {
    const here = new Machine(context);
    OPEN["a folder of the clone"]?.(here);
    const uv = here.program("src/clone/.venv/bin/uv", `touch '${here.ran}'`);
    here.setPath(path.dirname(uv));
    here.write("bundled/server.whl", "");
    await createEnvironment(here.environment, here.home, log);
    const failed = await new Promise((done) => {
        execute(here.theirs, [], { cwd: here.home, timeout: 1000 }, done);
    });
    assert.match(String(failed), /not trusted/u);
    assert.throws(() => start(uv, [], here.home), /not trusted/u);
    const elsewhere = new PrivateEnvironment(path.join(here.home, "storage"), path.join(here.home, "bundled"), MACHINE, log, () => uv);
    await assert.rejects(elsewhere.create(undefined, new CancellationTokenSource().token, () => undefined), /not trusted/u);
    assert.ok(!fs.existsSync(here.ran));
});

void test("no environment variable points into the clone", posixOnly, (context) => {
    const here = new Machine(context);
    here.setPath(path.dirname(here.theirs));
    Object.assign(process.env, { PYTHONPATH: `${here.evals}:/other`, VIRTUAL_ENV: path.join(here.clone, ".venv"), PYTHONHASHSEED: "0", URL: "http://x/y" });
    OPEN["a folder of the clone"]?.(here);
    const { PATH, PYTHONPATH, VIRTUAL_ENV, PYTHONHASHSEED, URL } = environmentOfPrograms();
    assert.deepEqual([PATH, PYTHONPATH, VIRTUAL_ENV, PYTHONHASHSEED, URL], [path.dirname(here.ours), "/other", undefined, "0", "http://x/y"]);
    workspace.isTrusted = true;
    assert.equal(environmentOfPrograms(), process.env);
});

void test("a server is not restarted after a file of its repository was opened", posixOnly, async (context) => {
    const here = new Machine(context);
    class Client extends GuardedClient {
        again(): Promise<unknown> {
            return this.createMessageTransports("utf-8");
        }
    }
    const client = new Client("waza", "Waza", { command: here.theirs }, {});
    await client.again();
    here.open([], [here.task]);
    await assert.rejects(client.again(), /not trusted/u);
    assert.equal(LanguageClient.begun, 1);
});

void test("no terminal is opened and no other extension is activated before the workspace is trusted", posixOnly, async (context) => {
    const here = new Machine(context);
    const open = async () => {
        logIn(here.ours);
        await addAgents(here.environment, { command: here.ours, args: [], origin: "test" }, "pip install x", log);
        await onDidSelectEnvironment(() => undefined);
    };
    otherExtension.activations = 0;
    await open();
    assert.deepEqual([terminals.length, otherExtension.activations], [0, 0]);
    workspace.isTrusted = true;
    await open();
    assert.deepEqual([terminals.length, otherExtension.activations], [2, 2]);
});
