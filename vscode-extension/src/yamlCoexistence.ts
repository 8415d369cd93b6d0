/**
 * Prevents the YAML extension by Red Hat from validating suite files a second time.
 *
 * That extension lets others supply the schema of a file. Suite files get an empty one, so it reports nothing about them, and it still
 * formats them. A schema that the file names itself (a modeline) has precedence.
 */

import * as vscode from "vscode";
import { looksLikeSuiteFile } from "./suiteFiles";

/** The part of its API that is used here. */
interface YamlExtensionApi {
    registerContributor(
        name: string,
        requestSchema: (resource: string) => string | undefined,
        requestSchemaContent: (schema: string) => string,
    ): boolean;
}

const YAML_EXTENSION = "redhat.vscode-yaml";
const NO_SCHEMA = "waza://schema/none";

/** Registers the empty schema, now or as soon as that extension is installed. */
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
            log.info("The YAML extension does not validate suite files (setting waza.yaml.coexistence).");
        } catch (error) {
            log.warn(`The YAML extension still validates suite files: ${String(error)}`);
        }
    };
    void register();
    return vscode.extensions.onDidChange(() => void register());
}

/** Returns whether that extension shows the outline of YAML files, which a second one would duplicate. */
export function outlinesYaml(): boolean {
    return vscode.extensions.getExtension(YAML_EXTENSION) !== undefined;
}

/** Returns the empty schema for a suite file; undefined for any other file. */
function schemaOf(resource: string): string | undefined {
    if (vscode.workspace.getConfiguration("waza").get<string>("yaml.coexistence", "auto") === "off") {
        return undefined;
    }
    const uri = vscode.Uri.parse(resource);
    const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    return open !== undefined && looksLikeSuiteFile(uri.fsPath, open.getText()) ? NO_SCHEMA : undefined;
}
