/**
 * The folders that belong to the open files: the author of a suite may have written everything in them.
 *
 * It is the boundary that the server draws for links (`project/boundaries.py`).
 */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { namesSuiteFile } from "./suiteFiles";

/** How far above a file its suite is searched, and how many links in a row are followed. */
const [LEVELS_UP, MOST_LINKS] = [10, 40];

/** The open folders, the outermost repository around each, and the boundary of each open file. */
export function boundariesOf(folders: readonly string[], files: readonly string[]): string[] {
    const around = (place: string, boundary: (place: string) => string | undefined) => [place, realPath(place)].map(boundary);
    const found = [...folders, ...folders.flatMap((each) => around(each, repositoryAround)), ...files.flatMap((each) => around(each, boundaryOf))];
    return [...new Set(found.filter((folder) => folder !== undefined))];
}

/** The outermost repository around a file, else the folder of its suite; never the home folder or the root. */
function boundaryOf(file: string): string | undefined {
    const folder = path.dirname(file);
    return repositoryAround(folder) ?? suiteAround(folder) ?? projectFoldersAround(folder).find((each) => each === folder);
}

/** Returns whether a file is in a folder, or is reached through it: a Python finds its packages next to the link that started it. */
export function leadsInto(file: string, folder: string): boolean {
    return links(file).some((place) => levels(place).some((level) => isSame(level, folder)));
}

function repositoryAround(folder: string): string | undefined {
    return projectFoldersAround(folder)
        .filter((level) => orUndefined(() => fs.lstatSync(path.join(level, ".git"))) !== undefined)
        .at(-1);
}

function suiteAround(folder: string): string | undefined {
    return projectFoldersAround(folder)
        .slice(0, LEVELS_UP)
        .find((level) => namesIn(level).some(namesSuiteFile));
}

function projectFoldersAround(folder: string): string[] {
    return levels(folder).filter((level) => path.dirname(level) !== level && !isSame(level, os.homedir()));
}

/** A path and all folders above it, from the inside out. */
function levels(place: string): string[] {
    const above = path.dirname(place);
    return above === place ? [place] : [place, ...levels(above)];
}

/** A path, and where each link leads that it is. */
function links(file: string): string[] {
    const found: string[] = [];
    for (let place: string | undefined = path.resolve(file); place !== undefined && found.length < MOST_LINKS; ) {
        const real: string = path.join(realPath(path.dirname(place)), path.basename(place));
        found.push(place, real);
        const target = linkAt(real);
        place = target === undefined ? undefined : path.resolve(path.dirname(real), target);
    }
    return [...found, realPath(file)];
}

/** By what they are on the disk: the case of letters and short names may differ. */
function isSame(one: string, other: string): boolean {
    if (one === other) {
        return true;
    }
    const [first, second] = [statusOf(one), statusOf(other)];
    return first !== undefined && second !== undefined && first.ino !== 0n && first.ino === second.ino && first.dev === second.dev;
}

function statusOf(place: string): fs.BigIntStats | undefined {
    return orUndefined(() => fs.statSync(place, { bigint: true }));
}

function realPath(place: string): string {
    return orUndefined(() => fs.realpathSync.native(place)) ?? path.resolve(place);
}

function linkAt(place: string): string | undefined {
    return orUndefined(() => fs.readlinkSync(place));
}

export function namesIn(folder: string): string[] {
    return orUndefined(() => fs.readdirSync(folder)) ?? [];
}

/** Returns the result of a disk access; undefined for a path that does not exist or cannot be read. */
export function orUndefined<Value>(ask: () => Value): Value | undefined {
    try {
        return ask();
    } catch {
        return undefined;
    }
}
