// Uses the page as a reader would, and prints what it saw as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { MODULES, CHROMIUM, PAGE, SHOTS } = process.env;
const require = createRequire(`${MODULES}/package.json`);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf-8");

const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const seen = { console: [], requests: [] };

async function open(width, scheme) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
  page.on("console", (message) => seen.console.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => seen.console.push(`error: ${error.message}`));
  page.on("request", (request) => request.url() === PAGE || seen.requests.push(request.url().slice(0, 80)));
  await page.goto(PAGE);
  await page.waitForFunction(() => document.documentElement.dataset.drawn);
  return page;
}

const texts = (page, selector) => page.locator(selector).allInnerTexts();
const drawn = (page) => page.waitForTimeout(400);

async function violations(page) {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const found = await axe.run(document, { resultTypes: ["violations"] });
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`);
  });
}

try {
  const page = await open(1400, "light");
  seen.kernels = await texts(page, "#map h2");
  seen.columns = await texts(page, "#map section:first-child thead th");
  seen.rows = await page.locator("#map section:first-child tbody tr").count();
  seen.cells = await texts(page, "#map section:first-child tbody td");
  seen.label = await page.locator("#map td").first().getAttribute("aria-description");
  seen.mark = await page.locator("#map td b").first().getAttribute("aria-label");
  seen.charts = await page.locator("#details .chart svg").count();
  seen.captions = await texts(page, "#details figcaption");
  seen.here = await page.evaluate(() => [...document.querySelectorAll("#details .chart svg text")].map((text) => text.textContent).filter((text) => text.startsWith("here")));
  seen.violations = await violations(page);
  if (SHOTS) await page.screenshot({ path: `${SHOTS}/light.png` });

  // The tables say for every config what the model said.
  seen.looked_up = await page.evaluate(async () => {
    const data = await unpackData();
    const pairs = data.rows.flatMap((row) => row.cells.map((cell, place) => [data.gpus[place], cell]));
    const known = pairs.filter(([, cell]) => cell && cell.state === "fits");
    return { cells: known.length, wrong: known.filter(([gpu, cell]) => residents(gpu, demandOf(cell)) !== cell.ctas).length };
  });

  const cell = page.locator("#map td").first();
  await cell.hover();
  seen.tooltip = await page.locator("#tooltip").innerText();
  await page.mouse.move(5, 5);
  seen.tooltip_gone = await page.locator("#tooltip").isHidden();

  // Keyboard: into the grid, to the right and down, into the details, and back.
  await cell.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  seen.moved = await page.evaluate(() => [document.activeElement.cellIndex, document.activeElement.parentElement.rowIndex]);
  seen.tab_stops = await page.locator("#map td[tabindex='0']").count();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.id === "details-title");
  seen.title = await page.locator("#details-title").innerText();
  await page.keyboard.press("Escape");
  seen.back = await page.evaluate(() => document.activeElement.tagName);

  // Sort by a GPU, twice.
  const numbers = () => page.locator("#map section:first-child tbody td:nth-child(2)").allInnerTexts();
  const head = page.locator("#map section:first-child thead button").first();
  await head.click();
  seen.descending = await numbers();
  seen.sorted = await page.locator("#map section:first-child thead th").nth(1).getAttribute("aria-sort");
  await page.locator("#map section:first-child thead button").first().click();
  seen.ascending = await numbers();

  // Filters and pickers.
  await page.check("#everywhere");
  seen.everywhere = await page.locator("#map tbody tr").count();
  seen.not_fitting = await page.locator("#map td.no").count();
  await page.uncheck("#everywhere");
  await page.fill("#search", "warps=8");
  seen.found = await page.locator("#map tbody tr").count();
  await page.fill("#search", "no such thing");
  seen.nothing = await page.locator("#map").innerText();
  await page.fill("#search", "");
  await page.uncheck("#gpus input[value='0']");
  seen.fewer_columns = await texts(page, "#map section:first-child thead th");
  await page.click("#no-gpus");
  seen.no_gpus = await page.locator("#map td").count();
  await page.click("#all-gpus");
  await page.selectOption("#triton", { index: 0 });
  await page.locator("#map td").first().click();
  await drawn(page);
  seen.release = await page.locator("#details .note").first().innerText();
  await page.selectOption("#metric", "shared");
  seen.bytes = await page.locator("#map td").first().innerText();
  await page.selectOption("#kernel", { index: 1 });
  seen.one_kernel = await page.locator("#map h2").count();

  const dark = await open(1400, "dark");
  seen.dark = await dark.evaluate(() => getComputedStyle(document.body).backgroundColor);
  seen.dark_violations = await violations(dark);
  if (SHOTS) await dark.screenshot({ path: `${SHOTS}/dark.png` });
  await dark.selectOption("#theme", "light");
  seen.forced_light = await dark.evaluate(() => getComputedStyle(document.body).backgroundColor);

  const narrow = await open(400, "light");
  seen.overflow = await narrow.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (SHOTS) await narrow.screenshot({ path: `${SHOTS}/narrow.png`, fullPage: true });
  console.log(JSON.stringify(seen));
} finally {
  await browser.close();
}
