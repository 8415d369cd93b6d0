/**
 * Keeps the YAML extension by Red Hat from validating suite files a second time, where it is installed.
 *
 * That extension lets others supply the schema of a file. Suite files get an empty one: it has nothing to say about them
 * then, while Format Document stays with it. A schema named in the file itself (a modeline) still wins over this.
 */

import * as vscode from "vscode";
import { looksLikeSuiteFile } from "./suiteFiles";

/** The part of that extension's public interface that is used here. */
interface YamlExtensionApi {
    registerContributor(
        name: string,
        requestSchema: (resource: string) => string | undefined,
        requestSchemaContent: (schema: string) => string,
    ): boolean;
}

const YAML_EXTENSION = "redhat.vscode-yaml";
const NO_SCHEMA = "waza://schema/none";

/** Registers with that extension, now or as soon as it is installed. */
export function silenceYamlExtension(log: vscode.LogOutputChannel): vscode.Disposable {
    let registered = false;
    const register = async (): Promise<void> => {
        const extension = vscode.extensions.getExtension<YamlExtensionApi | undefined>(YAML_EXTENSION);
        if (registered || extension === undefined) {
            return;
        }
        registered = true;
        try {
            (await extension.activate())?.registerContributor("waza", schemaOf, () => "{}");
            log.info("The YAML extension leaves suite files to Waza (setting waza.yaml.coexistence).");
        } catch (error) {
            log.warn(`The YAML extension could not be asked to leave suite files to Waza: ${String(error)}`);
        }
    };
    void register();
    return vscode.extensions.onDidChange(() => void register());
}

/** Returns whether that extension shows the outline of YAML files: a second one would duplicate it. */
export function outlinesYaml(): boolean {
    return vscode.extensions.getExtension(YAML_EXTENSION) !== undefined;
}

/** The empty schema for files of ours; undefined leaves a file to that extension. */
function schemaOf(resource: string): string | undefined {
    if (vscode.workspace.getConfiguration("waza").get<string>("yaml.coexistence", "auto") === "off") {
        return undefined;
    }
    const uri = vscode.Uri.parse(resource);
    const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    return open !== undefined && looksLikeSuiteFile(uri.fsPath, open.getText()) ? NO_SCHEMA : undefined;
}
