"use strict";
// The list of episodes: filtered, sorted, and only as many rows of it in the page as can be seen.

const ROW = 34; // pixels, the same in report.css

const COLUMNS = [
  { name: "#", of: row => row.id, text: row => row.id + 1, kind: "number" },
  { name: "Run", of: row => row.runName, kind: "run", onlyFor: runs => runs.length > 1 },
  { name: "Outcome", of: row => OUTCOME_ORDER.indexOf(row.outcome), kind: "outcome" },
  { name: "Task", of: row => row.goal || row.task, kind: "task" },
  { name: "Seed", of: row => row.repeat, kind: "number", onlyFor: (runs, rows) => rows.some(row => row.repeat) },
  { name: "Steps", of: row => row.steps, kind: "number" },
  { name: "States", of: row => row.states, kind: "number" },
  { name: "Expl.", title: "exploration degree", of: row => row.degree, text: row => row.degree?.toFixed(2) ?? "–", kind: "number" },
  { name: "Invalid", of: row => row.invalid, kind: "number", onlyFor: (runs, rows) => rows.some(row => row.invalid) },
  { name: "Rollb.", title: "rollbacks", of: row => row.rollbacks, kind: "number", onlyFor: (runs, rows) => rows.some(row => row.rollbacks) },
  { name: "Tokens", title: "tokens of the responses", of: row => row.tokens, text: row => row.tokens.toLocaleString("en"), kind: "number", onlyFor: (runs, rows) => rows.some(row => row.tokens) },
  { name: "Time", of: row => row.seconds, text: row => seconds(row.seconds), kind: "number" },
];

class EpisodeList {
  /** `open(row)` is called for the row that a reader wants to see. */
  constructor(container, index, open) {
    this.rows = index.rows;
    this.open = open;
    this.shown = this.rows;
    this.columns = COLUMNS.filter(column => column.onlyFor?.(index.runs, index.rows) ?? true);
    this.order = { column: this.columns[0], down: false };
    this.filter = { text: "", outcome: "", type: "", repeat: "", run: "" };
    const choices = (name, label, values, say = value => value) => {
      if (values.length < 2) return null;
      const box = el("select", { "aria-label": label, onchange: () => this.narrow({ [name]: box.value }) },
        el("option", { value: "" }, label), values.map(value => el("option", { value }, say(value))));
      (this.boxes ??= {})[name] = box;
      return box;
    };
    const distinct = of => [...new Set(this.rows.map(of))];
    this.search = el("input", {
      type: "search", placeholder: "Search tasks and errors  ( / )", "aria-label": "Search tasks and errors",
      oninput: () => this.narrow({ text: this.search.value }),
    });
    this.count = el("span", { class: "count", "aria-live": "polite" });
    this.heads = this.columns.map(column => el("th", { scope: "col", class: column.kind, title: column.title },
      el("button", { type: "button", onclick: () => this.sort(column) }, column.name)));
    this.body = el("tbody");
    this.before = el("tr", { class: "gap", "aria-hidden": "true" });
    this.after = el("tr", { class: "gap", "aria-hidden": "true" });
    this.window = el("div", { class: "list-window", tabindex: "0", role: "region", "aria-label": "Episodes", onscroll: () => this.draw() },
      el("table", {}, el("thead", {}, el("tr", {}, this.heads)), this.body));
    container.append(
      el("div", { class: "filters" },
        this.search,
        choices("run", "All runs", index.runs.map((run, i) => String(i)), i => index.runs[i].name),
        choices("outcome", "All outcomes", OUTCOME_ORDER.filter(name => this.rows.some(row => row.outcome === name)), name => OUTCOMES[name]),
        choices("type", "All kinds of tasks", distinct(row => row.type).sort()),
        choices("repeat", "All seeds", distinct(row => String(row.repeat)).sort((a, b) => a - b), n => `seed ${n}`),
        this.count),
      this.window);
    new ResizeObserver(() => this.draw()).observe(this.window);
    this.narrow({});
  }

  narrow(change) {
    Object.assign(this.filter, change);
    const { outcome, type, repeat, run } = this.filter;
    const words = this.filter.text.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = this.rows.filter(row =>
      (!outcome || row.outcome === outcome) && (!type || row.type === type) && (!repeat || String(row.repeat) === repeat) &&
      (!run || String(row.run) === run) && words.every(word => row.text.includes(word)));
    for (const [name, box] of Object.entries(this.boxes ?? {})) box.value = this.filter[name];
    this.count.textContent = this.shown.length === this.rows.length ? plural(this.rows.length, "episode") : `${this.shown.length} of ${plural(this.rows.length, "episode")}`;
    this.arrange();
  }

  sort(column) {
    this.order = { column, down: this.order.column === column && !this.order.down };
    this.arrange();
  }

  arrange() {
    const { column, down } = this.order;
    const compare = (a, b) => {
      const [x, y] = [column.of(a), column.of(b)];
      return (typeof x === "string" ? x.localeCompare(y) : x - y) || a.id - b.id;
    };
    this.shown = [...this.shown].sort((a, b) => (down ? compare(b, a) : compare(a, b)));
    this.columns.forEach((each, i) => this.heads[i].setAttribute("aria-sort", each === column ? (down ? "descending" : "ascending") : "none"));
    this.window.scrollTop = 0;
    this.from = null;
    this.draw();
  }

  draw() {
    const room = Math.ceil(this.window.clientHeight / ROW) + 12;
    const from = Math.max(0, Math.min(this.shown.length - room, Math.floor(this.window.scrollTop / ROW) - 6));
    if (from === this.from && room === this.room) return;
    Object.assign(this, { from, room });
    const some = this.shown.slice(from, from + room);
    const gap = (row, rows) => row.replaceChildren(el("td", { colspan: this.columns.length, style: `height:${rows * ROW}px` }));
    gap(this.before, from);
    gap(this.after, Math.max(0, this.shown.length - from - some.length));
    this.body.replaceChildren(this.before, ...some.map(row => this.line(row)), this.after);
    if (!this.shown.length) this.body.replaceChildren(el("tr", {}, el("td", { class: "nothing", colspan: this.columns.length }, "No episode is like that.")));
  }

  line(row) {
    return el("tr", { onclick: event => { if (!event.target.closest("a")) this.open(row); } },
      this.columns.map(column => el("td", { class: column.kind }, this.cell(column, row))));
  }

  cell(column, row) {
    if (column.kind === "outcome") return el("span", { class: `chip fill-${row.outcome}`, title: row.error || null }, OUTCOMES[row.outcome]);
    if (column.kind === "run") return el("span", {}, el("i", { class: `swatch arm-${row.run % 8}` }), row.runName);
    if (column.kind === "task") return [el("a", { href: `#${row.id + 1}/1` }, row.goal || "no goal was seen"), el("small", { title: row.task }, row.task)];
    return column.text ? column.text(row) : column.of(row);
  }
}
