// What the suites share. They run inside VS Code's extension host, with the packaged extension installed, and write what
// they saw; the test that started them knows what should be seen.
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const { WORKSPACE, RESULT } = process.env;
const seen = {};

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const flat = (range) => [range.start.line, range.start.character, range.end.line, range.end.character];
const diagnostics = (uri) => vscode.languages.getDiagnostics(uri).filter((one) => one.source === "tritonlint");
const shown = (uri) =>
  diagnostics(uri).map((one) => ({
    code: typeof one.code === "object" ? one.code.value : one.code,
    message: one.message,
    severity: one.severity,
    range: flat(one.range),
    related: (one.relatedInformation ?? []).length,
    link: typeof one.code === "object" ? one.code.target.toString() : "",
  }));
const has = (uri, code) => shown(uri).some((one) => one.code === code);

async function until(what, condition) {
  for (let waited = 0; waited < 90_000; waited += 100) {
    const found = await condition();
    if (found) return found;
    await pause(100);
  }
  throw new Error(`waited in vain: ${what}`);
}

async function open(name) {
  const uri = vscode.Uri.file(path.join(WORKSPACE, name));
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  return { uri, document };
}

function replace(document, text) {
  const edit = new vscode.WorkspaceEdit();
  const last = document.lineAt(document.lineCount - 1).range.end;
  edit.replace(document.uri, new vscode.Range(new vscode.Position(0, 0), last), text);
  return vscode.workspace.applyEdit(edit);
}

/** Has the page do something: `see` and `click` are selectors, narrowed by `text`; `press` is a key. */
async function page(asked) {
  const [ask, answer] = [`${RESULT}.asked`, `${RESULT}.answer`];
  fs.writeFileSync(`${ask}.part`, JSON.stringify(asked));
  fs.renameSync(`${ask}.part`, ask);
  await until(`the page: ${JSON.stringify(asked)}`, () => fs.existsSync(answer));
  const said = JSON.parse(fs.readFileSync(answer, "utf8"));
  fs.rmSync(answer);
  if (said.error) throw new Error(said.error);
  return said.value;
}

/** Runs the steps and writes what was seen. */
async function run(steps) {
  seen.version = vscode.version;
  try {
    for (const [name, step] of Object.entries(steps)) {
      seen.step = name;
      await step();
    }
    seen.step = "done";
  } catch (error) {
    seen.error = `${seen.step}: ${error?.stack ?? error}`;
  }
  fs.writeFileSync(`${RESULT}.part`, JSON.stringify(seen));
  fs.renameSync(`${RESULT}.part`, RESULT);
}

module.exports = { diagnostics, fs, has, open, page, path, pause, replace, run, seen, shown, until, vscode, WORKSPACE };
