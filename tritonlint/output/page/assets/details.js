// What a cell means: the tooltip while a pointer or the focus is on it, and the panel with arithmetic and charts.

function showTooltip(tooltip, anchor, data) {
  const cell = data.rows[anchor.dataset.row].cells[anchor.dataset.gpu];
  if (!cell) return;
  const gpu = data.gpus[anchor.dataset.gpu];
  const why = (cell.why || []).map((entry) => `: ${data.strings[entry]}`).join("");
  const steps = (cell.steps || []).map((step) => element("li", {}, data.strings[step]));
  tooltip.replaceChildren(element("strong", {}, `${MARKS[cell.state]} ${gpu.name}: ${STATES[cell.state]}${why}`));
  if (steps.length) tooltip.append(element("ol", {}, ...steps));
  tooltip.hidden = false;
  const box = anchor.getBoundingClientRect();
  const own = tooltip.getBoundingClientRect();
  const room = document.documentElement.clientWidth - own.width - 8;
  const below = box.bottom + 6;
  const top = below + own.height > innerHeight ? Math.max(8, box.top - own.height - 6) : below;
  tooltip.style.left = `${Math.max(8, Math.min(box.left, room))}px`;
  tooltip.style.top = `${top}px`;
}

const MEANING = {
  threads: "Block size: what other numbers of warps would allow, registers and shared memory as they are",
  registers: "Registers: what other numbers of registers would allow",
  shared: "Shared memory: what other sizes would allow",
};

function factsOf(cell, gpu) {
  const facts = [];
  if (cell.shared != null) {
    facts.push(["shared memory", `${cell.exact ? "" : "about "}${number.format(cell.shared)} B of ${number.format(gpu.sharedLimit)} B`]);
  }
  const [registers, low, high] = cell.registers || [];
  if (registers != null) facts.push(["registers", `about ${registers} (${low} to ${high}); spills: ${cell.spills}`]);
  if (runs(cell)) {
    facts.push(["occupancy", `${cell.ctas} CTA${cell.ctas === 1 ? "" : "s"} per SM, ${percent(cell.occupancy)}, limited by ${cell.limiter}`]);
  }
  if (cell.time != null) {
    const range = cell.timeRange ? ` (${cell.timeRange.map(milliseconds).join(" to ")})` : "";
    facts.push(["predicted time", `${milliseconds(cell.time)}${range}${cell.bound ? `, ${cell.bound}-bound` : ""}`]);
  }
  if (cell.certainty) facts.push(["certainty", cell.certainty]);
  return facts;
}

function listOf(title, entries) {
  if (!entries.length) return [];
  return [element("h3", {}, title), element("ol", { class: "steps" }, ...entries.map((entry) => element("li", {}, entry)))];
}

function chartTable(caption, head, rows) {
  return element("details", {}, element("summary", {}, "as a table"),
    element("table", { class: "plain" }, element("caption", {}, caption),
      element("tr", {}, ...head.map((name) => element("th", { scope: "col" }, name))),
      ...rows.map((row) => element("tr", {}, ...row.map((entry) => element("td", {}, String(entry)))))));
}

async function showDetails(panel, rowPlace, gpuPlace, data, specs) {
  const row = data.rows[rowPlace];
  const gpu = data.gpus[gpuPlace];
  const cell = row.cells[gpuPlace];
  const { name, path } = data.kernels[row.kernel];
  const head = element("h2", { id: "details-title", tabindex: "-1" }, `${name} on ${gpu.title || gpu.name}`);
  const config = element("p", { class: "config" }, row.config.map(parameterText).join(" "));
  const place = element("p", { class: "note" }, `${path}${row.cell ? `:cell ${row.cell}` : ""}:${row.line}, Triton ${row.triton}, ${gpu.name} (${gpu.arch || "not known"})`);
  if (!cell) {
    panel.replaceChildren(head, config, place, element("p", {}, "Nothing is known of this config on this GPU."));
    return;
  }
  const verdict = element("p", { class: `verdict ${cell.state}` }, `${MARKS[cell.state]} ${STATES[cell.state]}`,
    cell.over ? `: ${number.format(cell.over)} B too much shared memory` : "");
  const facts = element("dl", {}, ...factsOf(cell, gpu).flatMap(([term, words]) => [element("dt", {}, term), element("dd", {}, words)]));
  const why = (cell.why || []).map((entry) => data.strings[entry]);
  const charts = [];
  const jobs = [];
  if (cell.shared != null) {
    charts.push(element("h3", {}, "Occupancy: you are here"));
    for (const [resource, sets] of Object.entries(sweeps(gpu, cell))) {
      if (!sets) continue;
      const [here] = sets.here;
      const caption = `${MEANING[resource]}. Here: ${here.words}, ${here.ctas} per SM.`;
      const box = element("div", { class: "chart" });
      const rows = sets.curve.map((entry) => [entry.words, entry.ctas, entry.warps]);
      charts.push(element("figure", {}, element("figcaption", {}, caption), box,
        chartTable(MEANING[resource], ["at", "programs per SM", "warps per SM"], rows)));
      jobs.push([box, specs[resource], sets, { most: gpu.warpsPerSm }, caption]);
    }
  }
  if (cell.waves) {
    const [programs, places, full, share, efficiency] = cell.waves;
    const { waves, first, total } = timeline(cell);
    const rest = programs - full * places;
    const tail = share > 0
      ? `the last one fills ${number.format(rest)} of ${number.format(places)} places (${percent(share)})` : "the last one is full";
    const cut = first ? ` The first ${number.format(first)} are not drawn.` : "";
    const caption = `${number.format(programs)} programs, ${number.format(places)} at a time: ${number.format(total)} wave${total === 1 ? "" : "s"}, ${tail}; ` +
      `efficiency ${percent(efficiency)}.${cut}`;
    const box = element("div", { class: "chart" });
    charts.push(element("h3", {}, "Waves"), element("figure", {}, element("figcaption", {}, caption), box));
    jobs.push([box, specs.waves, { waves }, {}, caption]);
  } else if (runs(cell)) {
    charts.push(element("h3", {}, "Waves"), element("p", { class: "note" }, "The grid or the GPU's number of SMs is not known, so there is no timeline."));
  }
  panel.replaceChildren(head, config, place, verdict, facts, ...listOf("Why not", why), ...charts,
    ...listOf("Arithmetic", (cell.steps || []).map((entry) => data.strings[entry])),
    ...listOf("Assumed", (cell.assumptions || []).map((entry) => data.strings[entry])));
  for (const job of jobs) await draw(...job);
}
