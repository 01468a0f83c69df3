// A folder that is not trusted: what it sets does not choose the program that runs.
const { has, open, run, seen, until, vscode } = require("./common.js");

exports.run = () =>
  run({
    async findings() {
      seen.trusted = vscode.workspace.isTrusted;
      const { uri } = await open("warps.py");
      await until("the finding", () => has(uri, "TL204"));
      const { workspaceValue, globalValue } = vscode.workspace.getConfiguration("tritonlint").inspect("interpreter");
      seen.inspected = { workspaceValue, globalValue };
    },
  });
