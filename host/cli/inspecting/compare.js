// @ts-check
// Compares results: of files that are in the page, and of those that its reader adds, which stay in the browser.
// What is read, and what counts as a difference, is as `tenfold compare` has it (result_file.cpp).
"use strict";

/**
 * @typedef {{who: string, type: string, op: string, n: number, mode: string, shape: string, seconds: number,
 *            low: number | null, high: number | null, rate: number, peak: number | null,
 *            ceiling: number | null}} Entry
 * @typedef {{what: string, rate: number, date: string, source: string}} Published by others, of memory that is read
 * @typedef {{file: string, device: string, date: string, isModel: boolean, published: Published[], wrong: number, entries: Entry[]}} Results
 * @typedef {"mode" | "n" | "type" | "op" | "who"} Key
 * @typedef {{value: number, low: number | null, high: number | null}} Figure
 * @typedef {{label: string, n: number, found: (Entry | null)[]}} Row of a table, with an entry for each file
 */

const MOST_FILES = 26, MOST_BYTES = 64e6, LEAST_N_OF_SHARES = 2 ** 22;
const BYTES = {i8: 1, u8: 1, f16: 2, bf16: 2, i32: 4, u32: 4, f32: 4, i64: 8, u64: 8, f64: 8};
const UNITS = {ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1};
const FIGURES = ["block", "items", "grid"];
const WRITERS = "tenfold run, ladder, best and model (--json FILE), tenfold_duel and tenfold_bench write what can be compared";
const MODES = {"after-producer": "after a kernel that wrote the input", "in-graph": "in a graph, after a kernel that wrote the input", "": "back to back",
               graph: "back to back in a graph", cpu: "on the CPU"};
const MARKS = ["accent", "conflict-edge", "broadcast-edge", "shuffle", "follow", "key", "barrier", "ink"];

// ---- what a file says -----------------------------------------------------------------------------

/** @param {any} object @param {string} key @returns {any} an object's own, which may be called anything */
const own = (object, key) => object && typeof object === "object" && Object.prototype.hasOwnProperty.call(object, key) ? object[key] : undefined;

/** @param {any} object @param {string} key */
const textAt = (object, key) => (typeof own(object, key) === "string" ? own(object, key).slice(0, 200) : "");

/** @param {any} object @param {string} key @returns {number | null} */
const numberAt = (object, key) => (Number.isFinite(own(object, key)) ? own(object, key) : null);

/** @param {any} entry @param {string} low @param {string} high @param {number} unit */
function within(entry, low, high, unit) {
  const from = numberAt(entry, low), to = numberAt(entry, high);
  return from === null || to === null ? null : [from * unit, to * unit];
}

/** `10_two_pass/f32/sum/n:1024/block:256/items:4/in-graph` @param {string} name */
function parseName(name) {
  const [who, type, op, count, ...rest] = name.split("/");
  if (!count || !/^n:\d+$/.test(count)) return null;
  const isAside = (/** @type {string} */ part) => /^(block|items|grid|iterations|repeats|min_time):/.test(part) ||
    /^\d+_/.test(part) || ["manual_time", "real_time", "back-to-back", "stream"].includes(part);
  return {who, type, op, n: Number(count.slice(2)), mode: rest.filter((part) => !isAside(part)).join("/")};
}

/** What `tenfold model` writes, in the form of what was measured. @param {any} models */
function asMeasured(models) {
  const context = own(models, "context"), kind = own(context, "costs_measured") === false ? "model: at best" : "model";
  return {
    context: {device: `${textAt(context, "gpu")} (${kind})`, date: textAt(context, "date"), model: true, published: own(context, "published")},
    benchmarks: models.models.filter((/** @type {any} */ each) => each && typeof each === "object").map((/** @type {any} */ each) => {
      const n = numberAt(each, "n") || 0, time = numberAt(each, "predicted") || 0, type = textAt(each, "type");
      const stage = String(numberAt(each, "stage") || 0).padStart(2, "0");
      return {name: `${stage}_${textAt(each, "stage_name")}/${type}/${textAt(each, "op")}/n:${n}/after-producer`,
              real_time: time, time_unit: "us", bytes_per_second: (n * (own(BYTES, type) || NaN)) / time * 1e6,
              block: own(each, "block"), items: own(each, "items"), grid: own(each, "grid")};
    }),
  };
}

/** What others measured, and where they say so; without an address it counts for nothing. @param {any} figures @returns {Published[]} */
const readPublished = (figures) => !Array.isArray(figures) ? [] : figures.slice(0, 8).flatMap((figure) => {
  const rate = numberAt(figure, "bytes_per_second"), source = textAt(figure, "source");
  return rate !== null && rate > 0 && source.startsWith("https://") ? [{what: textAt(figure, "what"), rate, date: textAt(figure, "date"), source}] : [];
});

/**
 * @param {any} document @param {string} file
 * @returns {Results}
 * @throws {Error} with a line that says what is wrong with it
 */
function readResults(document, file) {
  const fail = (/** @type {string} */ what) => { throw new Error(`${what}; ${WRITERS}`); };
  if (Array.isArray(own(document, "models")) && !own(document, "benchmarks")) document = asMeasured(document);
  const all = own(document, "benchmarks"), context = own(document, "context");
  if (!Array.isArray(all)) return fail('it has no list "benchmarks"');
  if (!all.length) return fail('it has no entry in "benchmarks"');
  /** @type {Map<string, {each: any[], aggregates: Map<string, any>}>} */
  const groups = new Map();
  for (const entry of all) {
    const name = textAt(entry, "run_name") || textAt(entry, "name");
    if (!name) fail('it has an entry without "name"');
    const group = groups.get(name) || {each: [], aggregates: new Map()};
    groups.set(name, group);
    if (textAt(entry, "run_type") === "aggregate") group.aggregates.set(textAt(entry, "aggregate_name"), entry);
    else group.each.push(entry);
  }
  const peak = numberAt(context, "peak_bytes_per_second") || 1e9 * Number((textAt(context, "peak").match(/= (\d+) GB\/s$/) || [])[1] || 0);
  const ceiling = numberAt(context, "read_ceiling_bytes_per_second");
  /** @type {Entry[]} */
  const entries = [];
  let wrong = 0;
  for (const [name, {each, aggregates}] of groups) {
    if (each.some((one) => textAt(one, "verdict") === "WRONG" || own(one, "error_occurred") === true)) {
      ++wrong;
      continue;
    }
    const what = parseName(name);
    if (!what) return fail(`it has an entry '${name}', which names no stage, type, operator and n`);
    const unitOf = (/** @type {any} */ one) => own(UNITS, textAt(one, "time_unit")) || fail(`it gives the time of '${name}' in no unit: use ns, us, ms or s`);
    const secondsOf = (/** @type {any} */ one) => {
      const time = numberAt(one, "real_time");
      return time !== null && time > 0 ? time * unitOf(one) : fail(`it gives '${name}' no time above 0`);
    };
    each.sort((a, b) => secondsOf(a) - secondsOf(b));
    const median = aggregates.get("median") || each[Math.floor(each.length / 2)];
    if (!median) return fail(`it has no median of '${name}'`);
    const seconds = secondsOf(median), rate = numberAt(median, "bytes_per_second");
    if (rate === null || rate < 0) return fail(`it has no number "bytes_per_second" in its entry '${name}'`);
    const [low, high] = aggregates.has("p5") && aggregates.has("p95") ? [secondsOf(aggregates.get("p5")), secondsOf(aggregates.get("p95"))]
      : within(median, "p5", "p95", unitOf(median)) || within(median, "fastest", "slowest", unitOf(median))
      || (each.length > 1 ? [secondsOf(each[0]), secondsOf(each[each.length - 1])] : [null, null]);
    const hasShares = what.n >= LEAST_N_OF_SHARES && what.mode !== "cpu" && textAt(median, "device") !== "cpu";
    const share = (/** @type {number | null} */ told, /** @type {number | null} */ whole) =>
      !hasShares ? null : told !== null ? told : whole ? rate / whole : null;
    entries.push({
      ...what, seconds, low, high, rate,
      shape: FIGURES.filter((key) => (numberAt(median, key) || 0) > 0).map((key) => `${key} ${numberAt(median, key)}`).join(", "),
      peak: share(numberAt(median, "share_of_peak") ?? numberAt(median, "of_peak"), peak),
      ceiling: share(numberAt(median, "share_of_ceiling"), ceiling),
    });
  }
  if (!entries.length) fail("it holds nothing to compare: all its results are wrong");
  const device = textAt(context, "device"), name = textAt(context, "device_name");
  return {file, device: name || device.replace(/^\w+:\d+ \((.*)\)$/, "$1") || "unknown device", date: textAt(context, "date").slice(0, 16).replace("T", " "),
          isModel: own(context, "model") === true, published: readPublished(own(context, "published")), wrong, entries};
}

// ---- figures and words ----------------------------------------------------------------------------

const letterOf = (/** @type {number} */ file) => String.fromCharCode(65 + file);
const markOf = (/** @type {number} */ file) => `--mark: var(--${MARKS[file % MARKS.length]})`;
const modeText = (/** @type {string} */ mode) => own(MODES, mode) || mode;

/** @param {number} n */
function countText(n) {
  const power = Math.log2(n);
  return n > 1 && Number.isInteger(power) ? `2^${power}` : String(n);
}

/** @param {number} value @param {number} [digits] */
const short = (value, digits = 4) => (value >= 10 ** (digits - 1) ? value.toFixed(0) : String(Number(value.toPrecision(digits))));

/** @param {number} seconds */
function timeText(seconds) {
  const [unit, one] = Object.entries(UNITS).find(([, each]) => seconds < 1000 * each) || ["s", 1];
  return `${short(seconds / one)} ${unit}`;
}

/** Each kind of figure: its text, and how it comes of an entry and of A's. What is a time turns an interval round.
 * @type {Record<string, {name: string, text: (value: number) => string, isLogarithmic: boolean,
 *        of: (entry: Entry, first: Entry | null) => Figure | null}>} */
const KINDS = {
  rate: {name: "GB/s", text: (value) => `${short(value / 1e9)} GB/s`, isLogarithmic: true, of: (entry) => scaled(entry, entry.rate)},
  ceiling: {name: "share of what can be read", text: (value) => `${(100 * value).toFixed(1)}%`, isLogarithmic: false, of: (entry) => scaled(entry, entry.ceiling)},
  peak: {name: "share of the peak on paper", text: (value) => `${(100 * value).toFixed(1)}%`, isLogarithmic: false, of: (entry) => scaled(entry, entry.peak)},
  time: {name: "time", text: timeText, isLogarithmic: true, of: ({seconds, low, high}) => ({value: seconds, low, high})},
  times: {
    name: "times as fast as A", text: (value) => `${value.toFixed(2)} x`, isLogarithmic: false,
    of: (entry, first) => first && {value: first.seconds / entry.seconds, low: ratio(first.low, entry.high), high: ratio(first.high, entry.low)},
  },
};

/** Null where there is none: what a call adds to another may be less than nothing. @param {number | null} a @param {number | null} b */
const ratio = (a, b) => (a !== null && b !== null && a > 0 && b > 0 ? a / b : null);

/** What goes with speed: faster runs give more of it, and a kernel that does nothing none.
 * @param {Entry} entry @param {number | null} value @returns {Figure | null} */
const scaled = ({who, seconds, low, high}, value) => value === null || who === "peer:empty" ? null : {value, low: ratio(value * seconds, high), high: ratio(value * seconds, low)};

/** Whether one median lies within the other's spread; null where there is no spread. @param {Entry} a @param {Entry} b */
function isWithinSpread(a, b) {
  const holds = (/** @type {Entry} */ one, /** @type {Entry} */ other) =>
    one.low !== null && one.high !== null && one.low <= other.seconds && other.seconds <= one.high;
  return a.low === null && b.low === null ? null : holds(a, b) || holds(b, a);
}

// ---- the page -------------------------------------------------------------------------------------

const FASTEST = "the fastest stage", PUBLISHED = "published, of reads";
/** What each view has a row for, and what it lets a reader choose. @type {Record<string, {name: string, by: string, keys: Key[]}>} */
const VIEWS = {
  stages: {name: "Stages", by: "stage or peer", keys: ["mode", "n", "type", "op"]},
  sizes: {name: "Sizes", by: "n", keys: ["mode", "type", "op", "who"]},
  types: {name: "Types", by: "operator and type", keys: ["mode", "n", "who"]},
};
const KEY_NAMES = {mode: "Calls", n: "n", type: "Type", op: "Operator", who: "Of"};

class Compare {
  /** @param {HTMLElement} root */
  constructor(root) {
    /** @type {Results[]} */
    this.files = [];
    this.view = "stages";
    this.kind = "rate";
    /** @type {Partial<Record<Key, any>>} */
    this.chosen = {};
    this.list = make("ol", {class: "files", "aria-label": "Files"});
    this.troubles = make("div", {role: "alert"});
    this.choices = make("div", {class: "buttons"});
    this.plot = make("div", {class: "plot"});
    this.table = make("div", {class: "table", tabindex: 0, role: "region", "aria-label": "Figures"});
    const picker = make("input", {type: "file", multiple: true, accept: ".json,application/json", class: "unseen", tabindex: -1,
                                  "aria-label": "Files of results", onchange: () => { this.take([...picker.files]); picker.value = ""; }});
    const button = make("button", {type: "button", onclick: () => picker.click()}, ["Add files"]);
    this.drop = make("section", {class: "take buttons", "aria-label": "Add files"}, [
      button, picker, make("span", {}, ["or drop them here: what "]), make("code", {}, ["tenfold ladder --json FILE"]),
      make("span", {}, ["writes, for one. Nothing leaves your browser."])]);
    this.tabs = make("fieldset", {class: "views"}, [make("legend", {class: "unseen"}, ["Rows"]), ...Object.entries(VIEWS).map(([key, {name}]) =>
      make("label", {}, [make("input", {type: "radio", name: "view", checked: key === this.view, onchange: () => { this.view = key; this.show(); }}),
                         make("span", {}, [name])]))]);
    root.append(make("h1", {}, ["Compare results"]), this.drop, this.troubles, this.list, this.tabs, this.choices, this.plot, this.table);
    const over = (/** @type {DragEvent} */ event) => { event.preventDefault(); this.drop.classList.add("over"); };
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", () => this.drop.classList.remove("over"));
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      this.drop.classList.remove("over");
      if (event.dataTransfer) this.take([...event.dataTransfer.files]);
    });
    window.addEventListener("resize", () => this.show());
  }

  /** @param {{name: string, size: number, text: () => Promise<string>}[]} files from a dialog, or dropped */
  async take(files) {
    this.troubles.replaceChildren();
    for (const file of files) {
      const text = file.size > MOST_BYTES ? null : await file.text().catch(() => null);
      this.add(file.name, () => {
        if (file.size > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES / 1e6} MB`);
        if (text === null) throw new Error("it cannot be read");
        return parsed(text);
      });
    }
    this.show();
  }

  /** Or says in a line why not. @param {string} file @param {() => any} read */
  add(file, read) {
    try {
      if (this.files.length === MOST_FILES) throw new Error(`a page shows ${MOST_FILES} files at most`);
      this.files.push(readResults(read(), file));
    } catch (error) {
      this.troubles.append(make("p", {class: "trouble"}, [make("bdi", {}, [file.slice(0, 200)]), `: ${/** @type {Error} */ (error).message}`]));
    }
  }

  show() {
    this.showFiles();
    const isEmpty = !this.files.length;
    for (const each of [this.tabs, this.choices, this.plot, this.table]) each.hidden = isEmpty;
    if (isEmpty) return;
    const rows = this.rowsOf(this.choose());
    this.showChoices();
    this.plot.replaceChildren(this.view === "sizes" ? this.drawLines(rows) : this.drawBars(rows));
    this.showTable(rows);
  }

  showFiles() {
    this.list.replaceChildren(...this.files.map(({file, device, date, isModel, published, wrong, entries}, i) =>
      make("li", {style: markOf(i), class: isModel ? "model" : ""}, [
        make("span", {class: "letter"}, [letterOf(i)]), make("b", {}, [make("bdi", {}, [device])]),
        make("span", {class: "about"}, [make("bdi", {}, [file]), `, ${date || "no date"}, ${counted(entries.length, "result")}` +
          (isModel ? ", calculated and not measured" : "") + (wrong ? `; ${counted(wrong, "result is", "results are")} wrong and left out` : ""),
          ...published.map(({what, rate, date: when, source}) => make("span", {class: "published"}, [
            `Published, not measured here: ${KINDS.rate.text(rate)}, `, make("a", {href: source, rel: "noreferrer"}, [what]), when && `, ${when}`]))]),
        make("span", {class: "buttons"}, [
          make("button", {type: "button", disabled: i === 0, title: "The others are compared with A", "aria-label": `Make ${letterOf(i)} the first`,
                          onclick: () => { this.files.unshift(...this.files.splice(i, 1)); this.show(); }}, ["First"]),
          make("button", {type: "button", "aria-label": `Remove ${letterOf(i)}`, onclick: () => { this.files.splice(i, 1); this.show(); }}, ["Remove"])])])));
  }

  /** Settles what is shown: what a reader chose, as far as it is there, else what most files and rows have.
   * @returns {Entry[][]} of each file, the entries that remain */
  choose() {
    let left = this.files.map(({entries}) => entries);
    /** @type {Partial<Record<Key, any[]>>} */
    this.options = {};
    for (const key of VIEWS[this.view].keys) {
      /** @type {Map<any, number>} */
      const weights = new Map();
      left.forEach((entries) => {
        const seen = new Set(entries.map((entry) => entry[key]));
        for (const value of seen) weights.set(value, (weights.get(value) || 0) + 1e6);
        for (const entry of entries) weights.set(entry[key], (weights.get(entry[key]) || 0) + 1);
      });
      const options = [...weights.keys()].sort((a, b) => (a < b ? -1 : 1));
      if (key === "who" && this.view === "sizes") options.unshift(FASTEST);
      const best = options[0] === FASTEST ? FASTEST : options.reduce((a, b) => ((weights.get(b) || 0) > (weights.get(a) || 0) ? b : a), options[0]);
      const value = options.includes(this.chosen[key]) ? this.chosen[key] : best;
      this.options[key] = options;
      this.chosen[key] = value;
      left = left.map((entries) => entries.filter((entry) => (value === FASTEST ? !/^peer:|^best$/.test(entry.who) : entry[key] === value)));
    }
    return left;
  }

  /** The fastest entry of each file in each row. @param {Entry[][]} left @returns {Row[]} */
  rowsOf(left) {
    /** @type {Map<string, Row>} */
    const rows = new Map();
    left.forEach((entries, file) => entries.forEach((entry) => {
      const label = this.view === "stages" ? entry.who : this.view === "sizes" ? countText(entry.n) : `${entry.op} of ${entry.type}`;
      const row = rows.get(label) || {label, n: entry.n, found: this.files.map(() => null)};
      rows.set(label, row);
      const known = row.found[file];
      if (!known || entry.seconds < known.seconds) row.found[file] = entry;
    }));
    const all = [...rows.values()];
    if (this.view === "sizes") return all.sort((a, b) => a.n - b.n);
    const isPeer = (/** @type {Row} */ row) => row.label.startsWith("peer:");
    return all.sort((a, b) => Number(isPeer(a)) - Number(isPeer(b)) || a.label.localeCompare(b.label, "en", {numeric: true}));
  }

  showChoices() {
    const select = (/** @type {string} */ name, /** @type {any[]} */ options, /** @type {any} */ value,
                    /** @type {(option: any) => string} */ text, /** @type {(option: any) => void} */ act) =>
      make("label", {}, [name, make("select", {"data-name": name, onchange: (/** @type {any} */ event) => {
        act(options[event.target.selectedIndex]);
        this.show();
        this.choices.querySelector(`[data-name="${name}"]`).focus();
      }}, options.map((option) => make("option", {selected: option === value}, [text(option)])))]);
    const textOf = {mode: modeText, n: countText, type: String, op: String, who: String};
    this.choices.replaceChildren(
      ...VIEWS[this.view].keys.map((key) => select(KEY_NAMES[key], (this.options || {})[key] || [], this.chosen[key], textOf[key],
                                                   (option) => { this.chosen[key] = option; })),
      select("Figure", Object.keys(KINDS), this.kind, (kind) => KINDS[kind].name, (kind) => { this.kind = kind; }));
  }

  /** @param {Row} row @param {number} file @returns {Figure | null} */
  figureOf(row, file) {
    const entry = row.found[file];
    return entry && KINDS[this.kind].of(entry, row.found[0]);
  }

  title() {
    const {mode, n, type, op, who} = this.chosen;
    const what = this.view === "stages" ? `${op} of ${countText(n)} ${type}` : this.view === "sizes" ? `${op} of ${type} by ${who}` : `${countText(n)} elements by ${who}`;
    return `${KINDS[this.kind].name}, ${what}, ${modeText(mode)}`;
  }

  /** @param {number} width @param {number} height */
  canvas(width, height) {
    const svg = draw("svg", {viewBox: `0 0 ${width} ${height}`, role: "img"});
    svg.setAttribute("aria-label", `${this.title()}. The table below has the figures.`);
    return svg;
  }

  /** @param {any} parent @param {string} tag @param {Record<string, any>} attributes @param {string} [text] */
  put(parent, tag, attributes, text) {
    const element = draw(tag, attributes);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  /** What others published, below what was measured or calculated. @returns {{row: Row, figures: (Figure | null)[]}[]} */
  publishedBars() {
    const most = this.kind === "rate" ? Math.max(0, ...this.files.map(({published}) => published.length)) : 0;
    return Array.from({length: most}, (_, p) => ({
      row: {label: PUBLISHED, n: 0, found: []},
      figures: this.files.map(({published}) => published[p] ? {value: published[p].rate, low: null, high: null} : null)}));
  }

  /** @param {Row[]} rows */
  drawBars(rows) {
    const width = Math.max(300, this.plot.clientWidth || 900), thin = 15, isNarrow = width < 560;
    const left = isNarrow ? 22 : 190, right = 92, gap = isNarrow ? 30 : 12;
    const shown = rows.map((row) => ({row, figures: this.files.map((_, i) => this.figureOf(row, i))}))
      .filter(({figures}) => figures.some(Boolean));
    const most = Math.max(...[...shown, ...this.publishedBars()].flatMap(({figures}) => figures.map((each) => (each ? Math.max(each.value, each.high || 0) : 0))), 1e-300);
    const x = (/** @type {number} */ value) => left + (width - left - right) * (value / most);
    let y = isNarrow ? 4 : 8;
    const svg = this.canvas(width, 1);
    for (const {row, figures} of [...shown, ...this.publishedBars()]) {
      const name = row.label.length > 26 ? `${row.label.slice(0, 25)}…` : row.label;
      if (isNarrow) y += 16;
      const bars = figures.filter(Boolean).length;
      this.put(svg, "text", isNarrow ? {x: 0, y: y - 4} : {x: left - 24, y: y + (bars * thin) / 2 + 4, "text-anchor": "end"}, name);
      figures.forEach((figure, i) => {
        if (!figure) return;
        const group = this.put(svg, "g", {style: markOf(i), class: row.label === PUBLISHED ? "published" : this.files[i].isModel ? "model" : ""});
        const middle = y + thin / 2;
        this.put(group, "text", {x: left - 6, y: middle + 4, "text-anchor": "end", class: "soft"}, letterOf(i));
        this.put(group, "rect", {class: "bar", x: left, y: y + 2, width: Math.max(1, x(figure.value) - left), height: thin - 4});
        if (figure.low !== null && figure.high !== null) {
          const [from, to] = [x(figure.low), x(figure.high)];
          this.put(group, "path", {class: "spread", d: `M${from},${middle - 4}v8M${from},${middle}H${to}M${to},${middle - 4}v8`});
        }
        this.put(group, "text", {x: x(Math.max(figure.value, figure.high || 0)) + 6, y: middle + 4, class: "soft"}, KINDS[this.kind].text(figure.value));
        y += thin;
      });
      y += isNarrow ? 6 : gap;
    }
    svg.setAttribute("viewBox", `0 0 ${width} ${y + 4}`);
    return svg;
  }

  /** @param {Row[]} rows */
  drawLines(rows) {
    const width = Math.max(300, this.plot.clientWidth || 900), height = Math.min(420, width * 0.7), left = 62, right = 24, top = 14, bottom = 34;
    const {text, isLogarithmic} = KINDS[this.kind], svg = this.canvas(width, height);
    /** @type {{letter: string, x: number, y: number}[]} */
    const labels = [];
    const lines = this.files.map((_, i) => rows.flatMap((row) => {
      const figure = this.figureOf(row, i);
      return figure && figure.value > 0 && row.n > 0 ? [{n: row.n, low: figure.low || figure.value, high: figure.high || figure.value, value: figure.value}] : [];
    }));
    const all = lines.flat();
    if (!all.length) {
      this.put(svg, "text", {x: left, y: 40}, "No file has such figures.");
      return svg;
    }
    const scale = isLogarithmic ? Math.log10 : (/** @type {number} */ value) => value;
    const ends = [Math.min(...all.map(({low}) => low)), Math.max(...all.map(({high}) => high))];
    const [least, most] = isLogarithmic ? ends.map(scale) : [0, ends[1]];
    const [first, last] = [Math.min(...all.map(({n}) => n)), Math.max(...all.map(({n}) => n))].map(Math.log2);
    const x = (/** @type {number} */ n) => left + (width - left - right) * (last === first ? 0.5 : (Math.log2(n) - first) / (last - first));
    const y = (/** @type {number} */ value) => height - bottom - (height - bottom - top) * (most === least ? 0.5 : (scale(value) - least) / (most - least));
    const ticks = isLogarithmic ? Array.from({length: 40}, (_, i) => 10 ** (Math.floor(least) + i)).filter((each) => scale(each) >= least && scale(each) <= most)
                                : [0.25, 0.5, 0.75, 1].map((part) => part * most);
    for (const value of ticks.length ? ticks : ends) {
      this.put(svg, "path", {class: "grid", d: `M${left},${y(value)}H${width - right}`});
      this.put(svg, "text", {x: left - 6, y: y(value) + 4, "text-anchor": "end", class: "soft"}, text(value));
    }
    const apart = Math.max(1, Math.ceil((last - first) / (width / 60)));
    for (let power = Math.ceil(first); power <= last; power += apart)
      this.put(svg, "text", {x: x(2 ** power), y: height - 12, "text-anchor": "middle", class: "soft"}, `2^${power}`);
    lines.forEach((line, i) => {
      if (!line.length) return;
      const group = this.put(svg, "g", {style: markOf(i), class: this.files[i].isModel ? "model" : ""});
      const path = (/** @type {{n: number, at: number}[]} */ points) => points.map(({n, at}, p) => `${p ? "L" : "M"}${x(n).toFixed(1)},${y(at).toFixed(1)}`).join("");
      this.put(group, "path", {class: "band", d: `${path([...line.map(({n, high}) => ({n, at: high})), ...[...line].reverse().map(({n, low}) => ({n, at: low}))])}Z`});
      this.put(group, "path", {class: "line", d: path(line.map(({n, value}) => ({n, at: value})))});
      for (const {n, value} of line) {
        const dot = this.put(group, "circle", {class: "dot", cx: x(n), cy: y(value), r: 3});
        this.put(dot, "title", {}, `${letterOf(i)}, ${countText(n)}: ${text(value)}`);
      }
      const end = line[line.length - 1];
      labels.push({letter: letterOf(i), x: x(end.n) + 7, y: y(end.value) + 4});
    });
    // One below the other where they would meet.
    labels.sort((a, b) => a.y - b.y).forEach((label, i) => {
      label.y = Math.max(label.y, i ? labels[i - 1].y + 12 : 12);
      this.put(svg, "text", {x: label.x, y: label.y}, label.letter);
    });
    return svg;
  }

  /** @param {Row[]} rows */
  showTable(rows) {
    const {text} = KINDS[this.kind], by = VIEWS[this.view].by;
    const cell = (/** @type {Row} */ row, /** @type {number} */ i) => {
      const entry = row.found[i], figure = this.figureOf(row, i), first = row.found[0];
      if (!entry) return make("td", {}, ["–"]);
      const spread = figure && figure.low !== null && figure.high !== null ? `${text(figure.low)} to ${text(figure.high)}` : "";
      const against = i && first ? `${(first.seconds / entry.seconds).toFixed(2)} x A${isWithinSpread(first, entry) ? " ~" : ""}` : "";
      return make("td", {title: `${entry.who} ${entry.shape}`}, [
        figure ? text(figure.value) : "–", ...[spread, against, this.chosen.who === FASTEST && this.view === "sizes" ? entry.who : ""]
          .filter(Boolean).map((line) => make("span", {}, [line]))]);
    };
    this.table.replaceChildren(make("table", {}, [
      make("caption", {}, [`${this.title()}. Below each median its interval: from the 5th to the 95th percentile, or from the fastest run to the slowest. ` +
        "~ marks a difference from A within the spread. Of several shapes the fastest stands here." +
        (this.files.some(({isModel}) => isModel) ? " What a model says is calculated, and has no interval." : "") +
        (this.files.some(({published}) => published.length) ? " What was published is of memory that others read, not measured here, and is in no row of the table." : "")]),
      make("thead", {}, [make("tr", {}, [make("th", {scope: "col"}, [by]), ...this.files.map(({device}, i) =>
        make("th", {scope: "col"}, [`${letterOf(i)} `, make("bdi", {}, [device])]))])]),
      make("tbody", {}, rows.map((row) => make("tr", {}, [make("th", {scope: "row"}, [make("bdi", {}, [row.label])]),
                                                         ...this.files.map((_, i) => cell(row, i))])))]));
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`it is no JSON; ${WRITERS}`);
  }
}

const compare = new Compare(pageRoot());
for (const {file, document} of pageData()) compare.add(file, () => document);
compare.show();
