// The server: started, restarted, stopped; its commands as the editor's.
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, RevealOutputChannelOn, TransportKind } from "vscode-languageclient/node";
import { Program, find, neutralFolder } from "./interpreter";
import { offer } from "./install";
import { Reports } from "./report";
import { withPages } from "./rule";
import { SECTION, section } from "./settings";
import { Gpu, Status, Target } from "./target";

/** Commands of the server that are answered here, with views of the editor's own. */
const CHOOSE = "tritonlint.chooseTarget";
const REPORT = "tritonlint.report";
const SET = "tritonlint.setTarget";

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private starting: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly target: Target,
    private readonly reports: Reports,
  ) {}

  dispose(): void {
    void this.stop();
  }

  /** Starts anew, one after the other however often it is asked for. */
  restart(): Promise<void> {
    this.starting = this.starting.then(() => this.stop()).then(() => this.start());
    return this.starting;
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.target.show(undefined);
    try {
      await client?.dispose(2_000);
    } catch (error) {
      this.log.warn(String(error));
    }
  }

  async pick(): Promise<void> {
    if (!this.client) return;
    const gpus = await this.execute<Gpu[]>("tritonlint.gpus");
    const picked = await this.target.ask(gpus ?? []);
    if (picked) await this.setTarget(picked);
  }

  async report(uri?: vscode.Uri): Promise<void> {
    const of = uri ?? vscode.window.activeTextEditor?.document.uri;
    if (!of) return;
    const text = await this.execute<string | null>(REPORT, of.toString());
    if (text) await this.reports.show(of, text);
  }

  private async setTarget(gpus: string[]): Promise<void> {
    await this.target.remember(gpus);
    await this.execute(SET, ...gpus);
  }

  private async execute<T>(command: string, ...args: unknown[]): Promise<T | undefined> {
    return this.client?.sendRequest<T>("workspace/executeCommand", { command, arguments: args });
  }

  private async start(): Promise<void> {
    const program = await find(this.log);
    if (!("command" in program)) {
      this.log.warn("tritonlint was not found");
      void offer(this.context.globalState, () => void this.restart());
      return;
    }
    this.log.info(`tritonlint ${program.version} of ${program.from}: ${program.command}`);
    const client = this.create(program);
    client.onNotification("tritonlint/status", (status: Status) => this.target.show(status));
    try {
      await client.start();
      this.client = client;
    } catch (error) {
      this.log.error(`the server did not start: ${String(error)}`);
      await client.dispose().catch(() => undefined);
    }
  }

  private create(program: Program): LanguageClient {
    const { command, args } = program;
    const options: LanguageClientOptions = {
      documentSelector: [
        { scheme: "file", language: "python" },
        { scheme: "untitled", language: "python" },
        { notebook: "*", language: "python" },
        { scheme: "file", pattern: "**/{tritonlint,pyproject}.toml" },
      ],
      outputChannel: this.log,
      traceOutputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: { [SECTION]: section(), statusNotifications: true, target: this.target.picked },
      synchronize: { configurationSection: SECTION },
      markdown: { isTrusted: false, supportHtml: false },
      middleware: {
        handleDiagnostics: (uri, diagnostics, next) => next(uri, withPages(diagnostics)),
        provideDiagnostics: async (document, previous, token, next) => {
          const report = await next(document, previous, token);
          if (report && "items" in report) withPages(report.items);
          return report;
        },
        provideWorkspaceDiagnostics: (previous, token, reporter, next) =>
          next(previous, token, (chunk) => {
            for (const report of chunk?.items ?? []) if ("items" in report) withPages(report.items);
            reporter(chunk);
          }),
        executeCommand: async (name, given, next) => {
          if (name === CHOOSE) return this.pick();
          if (name === REPORT) return this.report(given[0] ? vscode.Uri.parse(String(given[0])) : undefined);
          if (name === SET) return this.setTarget(given.map(String));
          return next(name, given);
        },
      },
    };
    const run = { command, args, transport: TransportKind.stdio, options: { cwd: neutralFolder() } };
    return new LanguageClient(SECTION, "tritonlint", run, options);
  }
}
