// The charts of one cell. What fits is looked up in the tables that the occupancy model wrote (`curves` of a GPU).

const SHOWN_WAVES = 48; // of a longer timeline the first ones are left out

// Programs per SM for a demand, and the resource that limits them; the same rule as the model: the least limit.
function residents(gpu, { warps, registers, shared, tensorMemory }) {
  const { curves } = gpu;
  const size = curves.warps.indexOf(warps);
  if (size < 0) return 0;
  const limits = [curves.threads[size], curves.blocks[size], curves.shared.filter((bytes) => shared <= bytes).length];
  if (registers != null) limits.push((curves.registers[size].find(([last]) => registers <= last) || [0, 0])[1]);
  if (tensorMemory != null) limits.push(tensorMemory);
  return Math.min(...limits);
}

function demandOf(cell) {
  return { warps: cell.warps, registers: cell.registers[0], shared: cell.shared, tensorMemory: cell.tensorMemory };
}

function point(gpu, demand, x, words) {
  const ctas = residents(gpu, demand);
  return { x, ctas, warps: ctas * demand.warps, words };
}

function sweeps(gpu, cell) {
  const demand = demandOf(cell);
  const { curves } = gpu;
  const threads = (warps) => warps * gpu.warpSize;
  const byThreads = (warps) =>
    point(gpu, { ...demand, warps }, threads(warps), `${number.format(threads(warps))} threads (num_warps=${warps})`);
  const byRegisters = (registers) => point(gpu, { ...demand, registers }, registers, `${registers} registers`);
  const byShared = (shared) => point(gpu, { ...demand, shared }, shared / 1024, `${number.format(shared)} B`);
  const here = (made, share) => [{ ...made, label: `here: ${made.ctas}`, left: share > 0.7 }];

  const last = curves.registers[0][curves.registers[0].length - 1][0];
  const steps = curves.registers[curves.warps.indexOf(demand.warps)] || [];
  const registers = [1, ...steps.map(([upTo]) => upTo)].filter((value, place, all) => all.indexOf(value) === place);
  const most = Math.max(gpu.sharedLimit, cell.shared);
  const bytes = [...new Set([0, ...curves.shared.filter((value) => value >= 0), most])].sort((a, b) => a - b);
  return {
    threads: { curve: curves.warps.map(byThreads), here: here(byThreads(demand.warps), 0) },
    registers: demand.registers == null ? null
      : { curve: registers.map(byRegisters), here: here(byRegisters(demand.registers), demand.registers / last) },
    shared: { curve: bytes.map(byShared), here: here(byShared(demand.shared), demand.shared / most) },
  };
}

// Each wave as a bar; what the last one leaves empty stands above it.
function timeline(cell) {
  const [programs, places, full, share] = cell.waves;
  const total = full + (share > 0 ? 1 : 0);
  const first = Math.max(0, total - SHOWN_WAVES);
  const bar = (start, low, high, kind, words, label = "") => ({ start, end: start + 1, low, high, kind, words, label });
  const waves = [];
  for (let wave = first; wave < full; wave += 1) {
    waves.push(bar(wave, 0, 1, "full", `${wave + 1} of ${total}: all ${number.format(places)} places`));
  }
  if (share > 0) {
    const rest = programs - full * places;
    const words = `${total} of ${total}: ${number.format(rest)} of ${number.format(places)} places, ${percent(share)}`;
    waves.push(bar(full, 0, share, "last", words, `last: ${number.format(rest)} of ${number.format(places)}`));
    waves.push(bar(full, share, 1, "idle", words));
  }
  return { waves, first, total };
}

function theme() {
  const probe = document.body.appendChild(element("i", { hidden: true })); // resolves light-dark()
  const style = getComputedStyle(probe);
  const colour = (name) => {
    probe.style.color = `var(--${name})`;
    return style.color;
  };
  const font = style.getPropertyValue("--font");
  const made = {
    font,    background: "transparent",
    view: { stroke: null },
    axis: {
      labelColor: colour("ink"), titleColor: colour("ink"), gridColor: colour("line"), domainColor: colour("soft"),
      tickColor: colour("soft"), titleFontWeight: "normal", labelFontSize: 11, titleFontSize: 11,
    },
    style: {
      "curve-area": { color: colour("curve"), opacity: 0.18 },
      "curve-line": { color: colour("curve"), strokeWidth: 2 },
      "curve-bar": { color: colour("curve"), opacity: 0.45 },
      "here-bar": { color: colour("here") },
      "here-rule": { color: colour("here"), strokeDash: [4, 3] },
      "here-point": { shape: "diamond", size: 110, filled: true, color: colour("here"), opacity: 1 },
      "here-label": { color: colour("ink"), fontWeight: "bold", fontSize: 11 },
      wave: { stroke: colour("soft"), strokeWidth: 1 },
    },
    range: { category: [colour("curve"), colour("here"), "transparent"] },
  };
  probe.remove();
  return made;
}

async function draw(place, spec, datasets, values, description) {
  const params = (spec.params || []).map((parameter) =>
    parameter.name in values ? { ...parameter, value: values[parameter.name] } : parameter);
  const whole = { ...spec, params, description, datasets };
  return vegaEmbed(place, whole, { actions: false, renderer: "svg", config: theme(), tooltip: { theme: "custom" } });
}
