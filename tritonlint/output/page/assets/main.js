// Puts the page together: the pickers change `state`, and everything is drawn from it.

async function start() {
  const data = await unpackData();
  const specs = JSON.parse(document.getElementById("charts").textContent);
  const map = document.getElementById("map");
  const panel = document.getElementById("details");
  const tooltip = document.getElementById("tooltip");
  const control = (name) => document.getElementById(name);
  const state = {
    triton: data.triton[data.triton.length - 1], kernel: "", gpus: data.gpus.map((_, place) => place), everywhere: false,
    metric: "ctas", sort: "listed:", descending: false, text: "", row: 0, gpu: 0,
  };

  function fillPickers() {
    const options = (entries) => entries.map(([value, label]) => element("option", { value }, label));
    control("triton").replaceChildren(...options(data.triton.map((name) => [name, `Triton ${name}`])));
    control("triton").value = state.triton;
    const several = data.kernels.length > 1 ? [["", "all kernels"]] : [];
    control("kernel").replaceChildren(...options([...several, ...data.kernels.map(({ name, path }, place) => [place, `${name} (${path})`])]));
    control("metric").replaceChildren(...options(Object.entries(METRICS).map(([name, { label }]) => [name, label])));
    const parameters = [...new Set(data.rows.flatMap((row) => row.config.map(([name]) => name)))];
    control("sort").replaceChildren(...options([
      ["listed:", "as listed"], ["fits:", "GPUs that fit"],
      ...parameters.map((name) => [`parameter:${name}`, OPTION_NAMES[name] || name]),
      ...data.gpus.map(({ name }, place) => [`gpu:${place}`, name]),
    ]));
    control("gpus").replaceChildren(...data.gpus.map(({ name, title }, place) => element("label", { title },
      element("input", { type: "checkbox", value: place, checked: true }), ` ${name}`)));
  }

  function drawMap() {
    const { html, count } = heatmap(data, state);
    map.innerHTML = html || "<p>No config is left: loosen the filters.</p>";
    control("count").textContent = `${number.format(count)} of ${number.format(data.rows.filter((row) => row.triton === state.triton).length)} configs`;
    control("direction").textContent = state.descending ? "\u25bc descending" : "\u25b2 ascending";
    control("direction").setAttribute("aria-pressed", state.descending);
    const chosen = map.querySelector(`td[data-row="${state.row}"][data-gpu="${state.gpu}"]`) || map.querySelector("td[data-row]");
    if (chosen) choose(chosen, false);
  }

  // One cell is the chosen one: the panel shows it, and the tab key leads to it.
  function choose(cell, focus) {
    map.querySelectorAll("td[tabindex='0']").forEach((other) => other.setAttribute("tabindex", "-1"));
    map.querySelectorAll("td[aria-selected]").forEach((other) => other.removeAttribute("aria-selected"));
    cell.setAttribute("tabindex", "0");
    if (focus) cell.focus();
    cell.setAttribute("aria-selected", "true");
    state.row = Number(cell.dataset.row);
    state.gpu = Number(cell.dataset.gpu);
  }

  let drawing = Promise.resolve(); // one after the other
  function drawDetails() {
    const { row, gpu } = state;
    drawing = drawing.then(() => (row === state.row && gpu === state.gpu ? showDetails(panel, row, gpu, data, specs) : null));
    return drawing;
  }

  const onChange = (name, set) => control(name).addEventListener("input", (event) => { set(event.target); drawMap(); drawDetails(); });
  onChange("triton", (input) => { state.triton = input.value; });
  onChange("kernel", (input) => { state.kernel = input.value; });
  onChange("metric", (input) => { state.metric = input.value; });
  onChange("sort", (input) => { state.sort = input.value; });
  onChange("everywhere", (input) => { state.everywhere = input.checked; });
  onChange("search", (input) => { state.text = input.value; });
  control("direction").addEventListener("click", () => { state.descending = !state.descending; drawMap(); });
  control("gpus").addEventListener("change", () => pickGpus());
  for (const [name, value] of [["all-gpus", true], ["no-gpus", false]]) {
    control(name).addEventListener("click", () => {
      control("gpus").querySelectorAll("input").forEach((input) => { input.checked = value; });
      pickGpus();
    });
  }
  function pickGpus() {
    state.gpus = [...control("gpus").querySelectorAll("input:checked")].map((input) => Number(input.value));
    drawMap();
    drawDetails();
  }

  map.addEventListener("click", (event) => {
    const head = event.target.closest("button[data-sort]");
    const cell = event.target.closest("td[data-row]");
    if (head) {
      const sort = `gpu:${head.dataset.sort}`;
      state.descending = state.sort === sort ? !state.descending : METRICS[state.metric].good > 0;
      state.sort = sort;
      control("sort").value = sort;
      drawMap();
      map.querySelector(`button[data-sort="${head.dataset.sort}"]`).focus();
    }
    if (cell) { choose(cell, true); drawDetails(); }
  });
  map.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { tooltip.hidden = true; return; }
    if (event.key === "Enter" || event.key === " ") {
      const cell = event.target.closest("td[data-row]");
      if (!cell) return;
      event.preventDefault();
      choose(cell, false);
      drawDetails().then(() => document.getElementById("details-title").focus());
      return;
    }
    moveWithKeys(event, (cell) => choose(cell, true));
  });
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") map.querySelector("td[tabindex='0']")?.focus();
  });
  for (const name of ["mouseover", "focusin"]) {
    map.addEventListener(name, (event) => {
      const cell = event.target.closest("td[data-row]");
      if (cell) showTooltip(tooltip, cell, data);
      else tooltip.hidden = true;
    });
  }
  for (const name of ["mouseleave", "focusout"]) map.addEventListener(name, () => { tooltip.hidden = true; });
  addEventListener("scroll", () => { tooltip.hidden = true; }, { passive: true, capture: true });

  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", drawDetails);
  control("theme").addEventListener("input", (event) => {
    document.documentElement.dataset.theme = event.target.value;
    drawDetails();
  });

  fillPickers();
  drawMap();
  document.documentElement.dataset.ready = String(Math.round(performance.now())); // ms since the page was asked for
  drawing = loadLibrary();
  await drawDetails();
  document.documentElement.dataset.drawn = String(Math.round(performance.now()));
}

start().catch((error) => {
  document.getElementById("map").textContent = `This page could not be shown: ${error.message}`;
  throw error;
});
