import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { LanguageClient } from "vscode-languageclient/node";
import { FolderWatcher } from "../src/folderWatcher";
import { directories, files, Uri, watched } from "./fake/vscode";

const DELAY_MILLISECONDS = 700;

let opened: FolderWatcher | undefined;

afterEach(() => {
    opened?.dispose();
    files.clear();
    directories.clear();
});

/** Returns the notifications to the server for created and deleted paths; `known` has the folders of shown suites. */
async function notificationsFor(created: readonly string[], deleted: readonly string[] = [], known: readonly string[] = []): Promise<string[]> {
    const sent: string[] = [];
    const client = {
        code2ProtocolConverter: { asUri: ({ fsPath }: { fsPath: string }) => fsPath },
        sendNotification: ({ method }: { method: string }, params: { files: { uri: string }[] }) => {
            sent.push(...params.files.map(({ uri }) => `${method.replace("workspace/did", "").replace("Files", "")} ${uri}`));
            return Promise.resolve();
        },
    } as unknown as LanguageClient;
    opened = new FolderWatcher(() => client, (folder) => known.includes(folder), () => undefined);
    created.forEach((path) => {
        watched.created.fire(Uri.file(path));
    });
    deleted.forEach((path) => {
        watched.deleted.fire(Uri.file(path));
    });
    await delay(DELAY_MILLISECONDS);
    opened.dispose();
    return sent;
}

void test("folders with a dot and files without one are told apart", async () => {
    directories.add("/ws/alpha/my.suite").add("/ws/alpha/.evals").add("/ws/alpha/empty.d");
    files.add("/ws/alpha/my.suite/eval.yaml").add("/ws/alpha/.evals/eval.yaml").add("/ws/alpha/Makefile").add("/ws/alpha/a.txt");
    const created = ["/ws/alpha/my.suite", "/ws/alpha/.evals", "/ws/alpha/empty.d", "/ws/alpha/Makefile", "/ws/alpha/a.txt", "/ws/alpha/gone"];
    assert.deepEqual(await notificationsFor(created), ["Create /ws/alpha/my.suite", "Create /ws/alpha/.evals"]);
});

void test("deleting a folder with a dot in its name removes its suite", async () => {
    const deleted = ["/ws/alpha/my.suite", "/ws/alpha/other.d"];
    assert.deepEqual(await notificationsFor([], deleted, ["/ws/alpha/my.suite"]), ["Delete /ws/alpha/my.suite"]);
});

void test("of nested new folders only the outermost is searched", async () => {
    const nested = ["/ws/alpha/evals", "/ws/alpha/evals/one", "/ws/alpha/evals/one/tasks"];
    nested.forEach((path) => directories.add(path));
    files.add("/ws/alpha/evals/one/eval.yaml");
    assert.deepEqual(await notificationsFor(nested), ["Create /ws/alpha/evals"]);
});

void test("after many new folders the server reads the whole workspace", async () => {
    const many = Array.from({ length: 60 }, (_, number) => `/ws/alpha/suite-${String(number)}`);
    many.forEach((path) => directories.add(path));
    assert.deepEqual(await notificationsFor(many), ["Create /ws/alpha", "Create /ws/beta"]);
});
