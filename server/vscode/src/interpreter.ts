// Which program to run: the settings, then the environment that is selected for the workspace, then the PATH.
import { execFile } from "node:child_process";
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { setting } from "./settings";

/** A command that starts tritonlint, with how it was found. */
export interface Program {
  command: string;
  args: string[];
  version: string;
  from: string;
}

/** What of other extensions' interfaces is used here. */
interface PythonExtension {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath?: vscode.Event<unknown>;
  };
}
interface EnvironmentsExtension {
  getEnvironment?(scope?: vscode.Uri): Promise<{ execInfo?: { run?: { executable?: string } } } | undefined>;
  onDidChangeEnvironment?: vscode.Event<unknown>;
}

const ENVIRONMENTS = "ms-python.vscode-python-envs";
const PYTHON = "ms-python.python";

/** The first candidate that has tritonlint, or why there is none with the interpreter to install it into. */
export async function find(log: vscode.LogOutputChannel): Promise<Program | { interpreter: string | undefined }> {
  const own = expand(setting("path", ""));
  if (own) {
    const program = await asProgram(own, "the setting tritonlint.path", log);
    if (program) return program;
  }
  let first: string | undefined;
  for await (const [interpreter, from] of interpreters()) {
    first ??= interpreter;
    const program = await withInterpreter(interpreter, from, log);
    if (program) return program;
  }
  const program = await asProgram("tritonlint", "the PATH", log);
  return program ?? { interpreter: first };
}

/** The interpreter that tritonlint would be installed into. */
export async function interpreterToUse(): Promise<string | undefined> {
  for await (const [interpreter] of interpreters()) return interpreter;
  return undefined;
}

/** Tells of every change after which another interpreter may be the right one. */
export function onChange(act: () => void): vscode.Disposable[] {
  const python = vscode.extensions.getExtension<PythonExtension>(PYTHON)?.exports?.environments;
  const environments = vscode.extensions.getExtension<EnvironmentsExtension>(ENVIRONMENTS)?.exports;
  return [python?.onDidChangeActiveEnvironmentPath, environments?.onDidChangeEnvironment]
    .filter((event): event is vscode.Event<unknown> => event !== undefined)
    .map((event) => event(act));
}

async function* interpreters(): AsyncGenerator<[string, string]> {
  const own = expand(setting("interpreter", ""));
  if (own) yield [own, "the setting tritonlint.interpreter"];
  // A folder that is not trusted must not choose what runs, and these are chosen by the folder.
  if (vscode.workspace.isTrusted) {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const selected = (await fromEnvironments(folder)) ?? (await fromPython(folder));
    if (selected) yield [selected, "the selected Python environment"];
  }
  for (const name of os.platform() === "win32" ? ["python"] : ["python3", "python"]) yield [name, "the PATH"];
}

async function fromEnvironments(folder?: vscode.Uri): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<EnvironmentsExtension>(ENVIRONMENTS);
  try {
    const found = await (await extension?.activate())?.getEnvironment?.(folder);
    return found?.execInfo?.run?.executable;
  } catch {
    return undefined;
  }
}

async function fromPython(folder?: vscode.Uri): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>(PYTHON);
  try {
    const environments = (await extension?.activate())?.environments;
    if (!environments) return undefined;
    const found = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
    return found?.executable.uri?.fsPath;
  } catch {
    return undefined;
  }
}

async function withInterpreter(interpreter: string, from: string, log: vscode.LogOutputChannel) {
  const version = await ask(interpreter, ["-m", "tritonlint", "--version"], log);
  return version ? { command: interpreter, args: ["-m", "tritonlint", "server"], version, from } : undefined;
}

async function asProgram(command: string, from: string, log: vscode.LogOutputChannel) {
  const version = await ask(command, ["--version"], log);
  return version ? { command, args: ["server"], version, from } : undefined;
}

/** The version that a command prints; undefined where it is not tritonlint. */
function ask(command: string, args: string[], log: vscode.LogOutputChannel): Promise<string | undefined> {
  return new Promise((resolve) => {
    // The working folder is one without Python files: `-m` looks there first.
    execFile(command, args, { timeout: 20_000, cwd: neutralFolder() }, (error, stdout) => {
      const found = /^tritonlint (\S+)/m.exec(stdout ?? "");
      if (!found) log.debug(`${command} ${args.join(" ")}: ${error?.message ?? "is not tritonlint"}`);
      resolve(found?.[1]);
    });
  });
}

/** A folder in which nothing stands that Python could import by mistake. */
export function neutralFolder(): string {
  return path.join(__dirname, "..");
}

function expand(text: string): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  return text
    .trim()
    .replace(/\$\{workspaceFolder\}/g, folder)
    .replace(/\$\{userHome\}|^~(?=[\\/])/g, os.homedir());
}
