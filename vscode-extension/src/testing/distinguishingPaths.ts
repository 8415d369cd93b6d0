/** Distinguishes suites with the same name by the part of their paths in which they differ. */

export interface NamedSuite {
    readonly name: string;
    /** The path of the suite's file. */
    readonly file: string;
}

/**
 * Returns, by eval file, the part of the path that distinguishes a suite from others with its name; suites with a unique name are left out.
 *
 * `/a/greeter/eval.yaml` and `/b/greeter/eval.yaml` are `a` and `b`; if one is in a folder above the other, it also gets its own folder.
 */
export function distinguishingPaths(suites: readonly NamedSuite[]): Map<string, string> {
    const byName = new Map<string, string[]>();
    for (const { name, file } of suites) {
        byName.set(name, [...(byName.get(name) ?? []), file]);
    }
    return new Map([...byName.values()].filter((files) => files.length > 1).flatMap(differingParts));
}

function differingParts(files: readonly string[]): [string, string][] {
    const paths = files.map((file) => file.split(/[/\\]/u));
    const first = commonPrefixLength(paths);
    const last = commonPrefixLength(paths.map((path) => path.slice(first).reverse()));
    // If one path has nothing between the common parts, keep one more name of each.
    const commonEnd = paths.some((path) => path.length - first - last < 1) ? last - 1 : last;
    return paths.map((path, index) => [files[index] ?? "", path.slice(first, path.length - commonEnd).join("/")]);
}

/** Returns the number of names that all paths begin with. */
function commonPrefixLength(paths: readonly (readonly string[])[]): number {
    const [one = [], ...others] = paths;
    const at = one.findIndex((name, index) => others.some((other) => other[index] !== name));
    return at < 0 ? one.length : at;
}
