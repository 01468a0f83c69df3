// The heat map: one table a kernel, a row a config, a column a GPU. Written as text at once, since ten thousand cells
// made one by one take seconds.

const SHADES = 8;

function shownRows(state, data) {
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  return data.rows
    .map((row, place) => ({ ...row, place }))
    .filter((row) => row.triton === state.triton)
    .filter((row) => state.kernel === "" || row.kernel === Number(state.kernel))
    .filter((row) => !state.everywhere || state.gpus.every((gpu) => row.cells[gpu] && row.cells[gpu].state === "fits"))
    .filter((row) => {
      const text = `${data.kernels[row.kernel].name} ${row.config.map(parameterText).join(" ")}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
}

// Rows in the order asked for; those without a value last, equals as listed.
function sorted(rows, state) {
  const [kind, key] = state.sort.split(":");
  const direction = state.descending ? -1 : 1;
  const value = {
    listed: (row) => row.place,
    parameter: (row) => (row.config.find(([name]) => name === key) || [])[1],
    gpu: (row) => valueOf(row.cells[Number(key)], state.metric),
    fits: (row) => state.gpus.filter((gpu) => row.cells[gpu] && row.cells[gpu].state === "fits").length,
  }[kind];
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  return [...rows].sort((left, right) => {
    const [a, b] = [value(left), value(right)];
    if (a == null || b == null) return (a == null) - (b == null) || left.place - right.place;
    return direction * compare(a, b) || left.place - right.place;
  });
}

// 1 to SHADES, the best deepest, within one kernel; times within one GPU. Times and bytes by ratio, since they span
// decades.
function shades(rows, state) {
  const { good } = METRICS[state.metric];
  const scaled = (value) => (good < 0 ? -Math.log(Math.max(value, 1e-9)) : value);
  const perColumn = state.metric === "time";
  const values = (gpus) =>
    rows.flatMap((row) => gpus.map((gpu) => valueOf(row.cells[gpu], state.metric))).filter((value) => value != null).map(scaled);
  const range = (found) => [found.reduce((a, b) => Math.min(a, b), Infinity), found.reduce((a, b) => Math.max(a, b), -Infinity)];
  const all = perColumn ? null : range(values(state.gpus));
  const ranges = new Map(state.gpus.map((gpu) => [gpu, all || range(values([gpu]))]));
  return (cell, gpu) => {
    const value = valueOf(cell, state.metric);
    if (value == null) return 0;
    const [low, high] = ranges.get(gpu);
    return high > low ? 1 + Math.round(((scaled(value) - low) / (high - low)) * (SHADES - 1)) : Math.ceil(SHADES / 2);
  };
}

// Parameters with one value in all rows of a kernel are said once.
function constants(rows) {
  const first = rows.length > 1 ? rows[0].config : [];
  return first.filter(([name, value]) =>
    rows.every((row) => row.config.some(([other, own]) => other === name && own === value)));
}

function heatmap(data, state) {
  const rows = sorted(shownRows(state, data), state);
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row.kernel)) groups.set(row.kernel, []);
    groups.get(row.kernel).push(row);
  }
  const parts = [...groups].sort(([a], [b]) => a - b).map(([kernel, own]) => table(data, state, kernel, own));
  return { html: parts.join(""), count: rows.length };
}

function table(data, state, kernel, rows) {
  const shade = shades(rows, state);
  const { name, path } = data.kernels[kernel];
  const same = constants(rows);
  const held = new Set(same.map(([parameter]) => parameter));
  const heads = state.gpus.map((gpu) => {
    const mine = state.sort === `gpu:${gpu}`;
    const order = mine ? (state.descending ? "descending" : "ascending") : "none";
    const arrow = mine ? (state.descending ? " \u25bc" : " \u25b2") : "";
    return `<th scope="col" aria-sort="${order}" title="${escaped(data.gpus[gpu].title || "")}"><button type="button" ` +
      `data-sort="${gpu}">${escaped(data.gpus[gpu].name)}${arrow}</button></th>`;
  });
  const body = rows.map((row) => {
    const own = row.config.filter(([parameter]) => !held.has(parameter)).map(parameterText);
    const cells = state.gpus.map((gpu) => {
      const cell = row.cells[gpu];
      const kind = cell ? cell.state : "none";
      const text = escaped(textOf(cell, state.metric, data.strings));
      const more = escaped(described(cell, data.strings));
      const mark = cell ? `<b role="img" aria-label="${STATES[kind]}">${MARKS[kind]}</b> ` : "";
      return `<td role="gridcell" tabindex="-1" data-row="${row.place}" data-gpu="${gpu}" class="${kind} s${shade(cell, gpu)}" ` +
        `aria-description="${more}">${mark}<span>${text}</span></td>`;
    });
    return `<tr role="row"><th scope="row">${escaped(own.join(" ") || `line ${row.line}`)}</th>${cells.join("")}</tr>`;
  });
  const fit = rows.filter((row) => state.gpus.every((gpu) => row.cells[gpu] && row.cells[gpu].state === "fits")).length;
  const all = same.length ? ` Everywhere: ${same.map(parameterText).join(" ")}.` : "";
  const count = `${rows.length} config${rows.length === 1 ? "" : "s"}, ${fit} fit${fit === 1 ? "s" : ""} on every GPU shown.`;
  return `<section class="kernel"><h2>${escaped(name)} <small>${escaped(path)}</small></h2>` +
    `<p class="note">${escaped(count + all)}</p><div class="scroll"><table role="grid" aria-label="${escaped(name)}: configs by GPU">` +
    `<thead><tr role="row"><th scope="col">config</th>${heads.join("")}</tr></thead><tbody>${body.join("")}</tbody></table></div></section>`;
}

// Arrow keys, Home and End move between cells; one cell at a time is in the tab order.
function moveWithKeys(event, target) {
  const cell = event.target.closest("td[data-row]");
  if (!cell) return;
  const line = cell.parentElement;
  const column = cell.cellIndex;
  const rows = [...document.querySelectorAll("#map tbody tr")];
  const at = rows.indexOf(line);
  const places = {
    ArrowLeft: () => line.cells[column - 1],
    ArrowRight: () => line.cells[column + 1],
    ArrowUp: () => rows[at - 1]?.cells[column],
    ArrowDown: () => rows[at + 1]?.cells[column],
    Home: () => line.cells[1],
    End: () => line.cells[line.cells.length - 1],
  };
  const next = places[event.key]?.();
  if (event.key in places) event.preventDefault();
  if (next && next.dataset.row !== undefined) target(next);
}
