/** What tells suites of one name apart: the part of their paths in which they differ. */

export interface Named {
    readonly name: string;
    /** The path of the suite's file. */
    readonly file: string;
}

/**
 * The part of its path that tells each suite from those of the same name, by its file; of suites whose name no other has there is none.
 *
 * `/a/greeter/eval.yaml` and `/b/greeter/eval.yaml` are `a` and `b`; one of them in a folder above the other is told by its own folder, too.
 */
export function tellingPaths(suites: readonly Named[]): Map<string, string> {
    const byName = new Map<string, string[]>();
    for (const { name, file } of suites) {
        byName.set(name, [...(byName.get(name) ?? []), file]);
    }
    return new Map([...byName.values()].filter((files) => files.length > 1).flatMap(told));
}

function told(files: readonly string[]): [string, string][] {
    const paths = files.map((file) => file.split(/[/\\]/u));
    const first = alike(paths);
    const last = alike(paths.map((path) => path.slice(first).reverse()));
    // Whose path ends where the others' differ would have nothing to be told by.
    const kept = paths.some((path) => path.length - first - last < 1) ? last - 1 : last;
    return paths.map((path, index) => [files[index] ?? "", path.slice(first, path.length - kept).join("/")]);
}

/** How many names all paths begin with. */
function alike(paths: readonly (readonly string[])[]): number {
    const [one = [], ...others] = paths;
    const at = one.findIndex((name, index) => others.some((other) => other[index] !== name));
    return at < 0 ? one.length : at;
}
