import * as vscode from "vscode";
import { install } from "./install";
import { onChange } from "./interpreter";
import { Reports } from "./report";
import { registerPages } from "./rule";
import { Server } from "./server";
import { SECTION } from "./settings";
import { Target } from "./target";

const NEEDS_RESTART = ["path", "interpreter", "diagnosticMode"];

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("tritonlint", { log: true });
  const target = new Target(context.workspaceState);
  const reports = new Reports();
  const server = new Server(context, log, target, reports);
  const restart = () => void server.restart();

  context.subscriptions.push(
    log,
    target,
    server,
    reports.register(),
    registerPages(),
    vscode.commands.registerCommand("tritonlint.restart", () => server.restart()),
    vscode.commands.registerCommand("tritonlint.showLogs", () => log.show()),
    vscode.commands.registerCommand("tritonlint.selectGpu", () => server.pick()),
    vscode.commands.registerCommand("tritonlint.showReport", () => server.report()),
    vscode.commands.registerCommand("tritonlint.install", () => install(restart)),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (NEEDS_RESTART.some((name) => event.affectsConfiguration(`${SECTION}.${name}`))) restart();
    }),
    ...onChange(restart),
  );
  await server.restart();
}
