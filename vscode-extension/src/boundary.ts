/**
 * The boundaries of the open files: folders in which the author of a suite may have written every file.
 *
 * The server uses the same boundaries for links (`project/boundaries.py`).
 */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { isSuiteFileName } from "./suiteFiles";

/** The number of folders above a file in which its suite is searched, and of links that are followed. */
const [LEVELS_UP, MAX_LINKS] = [10, 40];

/** Returns the open folders, the outermost repository around each, and the boundary of each open file. */
export function boundariesOf(folders: readonly string[], files: readonly string[]): string[] {
    const withRealPath = (location: string, boundary: (location: string) => string | undefined) => [location, realPath(location)].map(boundary);
    const found = [...folders, ...folders.flatMap((each) => withRealPath(each, outermostRepository)), ...files.flatMap((each) => withRealPath(each, boundaryOf))];
    return [...new Set(found.filter((folder) => folder !== undefined))];
}

/** Returns the outermost repository around a file, else the folder of its suite, else its own folder; never the home folder or the root. */
function boundaryOf(file: string): string | undefined {
    const folder = path.dirname(file);
    return outermostRepository(folder) ?? nearestSuiteFolder(folder) ?? projectFoldersAround(folder).find((each) => each === folder);
}

/** Returns whether a file, or a link on the way to it, is in a folder: a Python finds its packages next to the link that started it. */
export function isReachedThrough(file: string, folder: string): boolean {
    return linkChain(file).some((location) => ancestors(location).some((level) => isSameFile(level, folder)));
}

function outermostRepository(folder: string): string | undefined {
    return projectFoldersAround(folder)
        .filter((level) => orUndefined(() => fs.lstatSync(path.join(level, ".git"))) !== undefined)
        .at(-1);
}

function nearestSuiteFolder(folder: string): string | undefined {
    return projectFoldersAround(folder)
        .slice(0, LEVELS_UP)
        .find((level) => namesInFolder(level).some(isSuiteFileName));
}

function projectFoldersAround(folder: string): string[] {
    return ancestors(folder).filter((level) => path.dirname(level) !== level && !isSameFile(level, os.homedir()));
}

/** Returns a path and all folders above it, the innermost first. */
function ancestors(location: string): string[] {
    const above = path.dirname(location);
    return above === location ? [location] : [location, ...ancestors(above)];
}

/** Returns a path and the target of each link on the way to the real file. */
function linkChain(file: string): string[] {
    const found: string[] = [];
    for (let location: string | undefined = path.resolve(file); location !== undefined && found.length < MAX_LINKS; ) {
        const real: string = path.join(realPath(path.dirname(location)), path.basename(location));
        found.push(location, real);
        const target = linkAt(real);
        location = target === undefined ? undefined : path.resolve(path.dirname(real), target);
    }
    return [...found, realPath(file)];
}

/** Compares by inode: the same file may have paths that differ in case, or in short names. */
function isSameFile(one: string, other: string): boolean {
    if (one === other) {
        return true;
    }
    const [first, second] = [statusOf(one), statusOf(other)];
    return first !== undefined && second !== undefined && first.ino !== 0n && first.ino === second.ino && first.dev === second.dev;
}

function statusOf(location: string): fs.BigIntStats | undefined {
    return orUndefined(() => fs.statSync(location, { bigint: true }));
}

function realPath(location: string): string {
    return orUndefined(() => fs.realpathSync.native(location)) ?? path.resolve(location);
}

function linkAt(location: string): string | undefined {
    return orUndefined(() => fs.readlinkSync(location));
}

export function namesInFolder(folder: string): string[] {
    return orUndefined(() => fs.readdirSync(folder)) ?? [];
}

/** Returns the result of a disk access; undefined for a path that does not exist or cannot be read. */
export function orUndefined<Value>(read: () => Value): Value | undefined {
    try {
        return read();
    } catch {
        return undefined;
    }
}
