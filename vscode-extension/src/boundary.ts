/**
 * The folders that belong to the open files: the author of a suite may have written everything in them.
 *
 * It is the boundary that the server draws for links (`project/boundaries.py`).
 */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { isSuiteFileName } from "./suiteFiles";

/** How far above a file its suite is searched, and how many links in a row are followed. */
const [LEVELS_UP, MAX_LINKS] = [10, 40];

/** The open folders, the outermost repository around each, and the boundary of each open file. */
export function boundariesOf(folders: readonly string[], files: readonly string[]): string[] {
    const around = (location: string, boundary: (location: string) => string | undefined) => [location, realPath(location)].map(boundary);
    const found = [...folders, ...folders.flatMap((each) => around(each, outermostRepository)), ...files.flatMap((each) => around(each, boundaryOf))];
    return [...new Set(found.filter((folder) => folder !== undefined))];
}

/** The outermost repository around a file, else the folder of its suite; never the home folder or the root. */
function boundaryOf(file: string): string | undefined {
    const folder = path.dirname(file);
    return outermostRepository(folder) ?? nearestSuiteFolder(folder) ?? projectFoldersAround(folder).find((each) => each === folder);
}

/** Returns whether a file is in a folder, or is reached through it: a Python finds its packages next to the link that started it. */
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

/** A path and all folders above it, from the inside out. */
function ancestors(location: string): string[] {
    const above = path.dirname(location);
    return above === location ? [location] : [location, ...ancestors(above)];
}

/** A path, and where each link leads that it is. */
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

/** By what they are on the disk: the case of letters and short names may differ. */
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
