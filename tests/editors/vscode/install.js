// An environment without tritonlint: the offer to install it is taken, and findings follow.
const { has, open, page, run, seen, until } = require("./common.js");

const NOTE = ".notification-list-item";

exports.run = () =>
  run({
    async offer() {
      const { uri } = await open("warps.py");
      seen.offer = await until("the offer", async () => {
        const found = await page({ see: NOTE, text: "tritonlint is not installed" });
        return found.length && found;
      });
      await page({ click: `${NOTE} .monaco-button`, text: "Install" });
      await until("the finding", () => has(uri, "TL204"));
      seen.installed = true;
    },
  });
