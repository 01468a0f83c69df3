// What the server is told of the settings, and what must be known before it runs.
import * as vscode from "vscode";

export const SECTION = "tritonlint";

export function setting<T>(name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration(SECTION).get<T>(name, otherwise);
}

/** The whole section as the server reads it: nested objects. */
export function section(): unknown {
  return JSON.parse(JSON.stringify(vscode.workspace.getConfiguration(SECTION)));
}
