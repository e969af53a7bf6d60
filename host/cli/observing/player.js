// @ts-check
// Plays traces of kernels: docs/trace.md says what is in one. The page has them with steps by numbers
// (host/cli/observing/traces.cpp).
"use strict";

/**
 * @typedef {{name: string, space: string, elements: number, element_bytes: number, offset: number,
 *            before?: any[][]}} ArrayFacts
 * @typedef {{launch: number, epoch: number, warp: number, action: string, line: number, array: number,
 *            bytes: number, turns: number, lanes: number[], indices: number[] | null,
 *            values: any[] | null, sources: number[] | null}} Step
 * @typedef {{stage_name: string, stage: number, file: string, type: string, n: number, block: number,
 *            warp: number, banks: number, source: string, result?: string, expected?: string,
 *            is_wrong?: boolean, failure?: string, is_cut?: boolean}} Context
 * @typedef {{kernel: string, blocks: number, block: number, arrays: ArrayFacts[], kinds: any[][],
 *            values: (any[] | null)[], epochs: number[][]}} Launch
 * @typedef {{context: Context, launches: Launch[]}} TraceData
 * @typedef {{doing: string, file: string, line: number, block: number[], thread?: number, warp?: number,
 *            lane?: number, threads?: string}} Witness
 * @typedef {{kind: string, what: string, address: string, remedy: string, witnesses: Witness[]}} Finding
 * @typedef {{name: string, traces: TraceData[], finding: Finding | null}} View
 * @typedef {{value: any, parents: number[], place: string, step: number}} Value
 * @typedef {{cell?: string, thread?: number, value: number}} Change
 */

const SECTOR = 32, BANK = 4;  // bytes

// ---- small things ---------------------------------------------------------------------------------

/** What is changed only where it differs: a browser looks at less. @param {any} element @param {string} name */
function put(element, name, value) {
  if (element[name] !== value) element[name] = value;
}

/** Numbers as ranges: 0–7, 9. @param {number[]} numbers @param {number} [most] of ranges */
function ranges(numbers, most = 4) {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b), found = [];
  for (let i = 0; i < sorted.length;) {
    let end = i;
    while (sorted[end + 1] === sorted[end] + 1) ++end;
    found.push(end === i ? `${sorted[i]}` : end === i + 1 ? `${sorted[i]}, ${sorted[end]}` : `${sorted[i]}–${sorted[end]}`);
    i = end + 1;
  }
  return found.length <= most ? found.join(", ") : `${found.slice(0, most - 1).join(", ")}, … ${found[found.length - 1]}`;
}

/** The reverse of what the program writes: 0-7, 9. @param {string} text */
function lanesOf(text) {
  return text.split(",").filter(Boolean).flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    return Array.from({length: last - first + 1}, (_, i) => first + i);
  });
}

/** A value in so many characters. @param {any} value @param {number} room */
function shorten(value, room) {
  if (value === null || value === undefined) return "·";
  const whole = String(value);
  if (whole.length <= room) return whole;
  for (let digits = room; digits >= 0; --digits) {
    const text = Number(value).toFixed(digits).replace(/^(-?)0\./, "$1.");
    if (text.length <= room && Number(text) !== 0) return text;
  }
  return Number(value).toExponential(0).replace("e+", "e");
}

/** For people to read. @param {any} value */
const spell = (value) => value === null || value === undefined ? "nothing known" : String(Number(Number(value).toPrecision(7)));

// ---- a trace, understood --------------------------------------------------------------------------

/** Steps, and where every value came from. */
class Trace {
  /** @param {TraceData} data */
  constructor(data) {
    this.context = data.context;
    this.launches = data.launches;
    this.warps = Math.ceil(this.context.block / this.context.warp);
    /** @type {Step[]} */
    this.steps = data.launches.flatMap((launch, i) => this.decode(launch, i));
    /** @type {Value[]} */
    this.values = [];
    /** @type {Change[][]} what each step changes */
    this.changes = [];
    /** @type {Map<string, number>[]} what memory held before each launch */
    this.before = [];
    this.result = -1;
    this.understand();
    /** @type {number[][]} of each thread, its steps */
    this.stepsOf = Array.from({length: this.context.block}, () => []);
    this.steps.forEach((step, i) => step.lanes.forEach((lane) => this.stepsOf[this.thread(step, lane)].push(i)));
    // A step takes a turn, or as many as memory needs for it.
    let time = 0;
    this.ends = this.steps.map((step) => (time += this.turnsOf(step)));
  }

  /** @param {Launch} data @param {number} launch @returns {Step[]} */
  decode(data, launch) {
    const kinds = data.kinds.map(([warp, action, line, array = null, bytes = null, turns = null, lanes, indices = null, sources = null]) => {
      const all = lanesOf(lanes), width = array === null ? 1 : Math.max(1, Math.floor(bytes / data.arrays[array].element_bytes));
      return {launch, warp, action, line, array: array === null ? -1 : array, bytes, turns: turns || 0, lanes: all,
              indices: typeof indices === "number" ? all.map((_, i) => indices + i * width) : indices, sources};
    });
    return data.epochs.flatMap(([epoch, ...numbers]) => Array.from({length: numbers.length / 2}, (_, i) =>
      ({...kinds[numbers[2 * i]], epoch, values: data.values[numbers[2 * i + 1]]})));
  }

  /** @param {Step} step @param {number} lane */
  thread(step, lane) { return step.warp * this.context.warp + lane; }

  /** @param {Step} step @returns {ArrayFacts | null} */
  arrayOf(step) { return step.array < 0 ? null : this.launches[step.launch].arrays[step.array]; }

  /** @param {Step} step */
  turnsOf(step) { return Math.max(1, step.turns); }

  /** How many elements each lane touches. @param {Step} step */
  widthOf(step) {
    const array = this.arrayOf(step);
    return array ? Math.max(1, Math.floor(step.bytes / array.element_bytes)) : 1;
  }

  /** @param {any} value @param {number[]} parents @param {string} place @param {number} step */
  add(value, parents, place, step) {
    this.values.push({value, parents, place, step});
    return this.values.length - 1;
  }

  /** Of which of its values a lane made another: those whose sum it is.
   * @param {any} value @param {number[]} held @param {number[]} gathered */
  ingredients(value, held, gathered) {
    const choices = [[...held, ...gathered], gathered, held, gathered.slice(-1)].filter((each) => each.length);
    return choices.find((each) => this.isSum(value, each)) || choices[0] || [];
  }

  /** @param {any} value @param {number[]} ids */
  isSum(value, ids) {
    const terms = ids.map((id) => Number(this.values[id].value));
    const sum = terms.reduce((a, b) => a + b, 0), size = terms.reduce((a, b) => a + Math.abs(b), 0);
    return this.context.type === "u32" ? sum % 2 ** 32 === value : Math.abs(sum - value) <= size * 1e-5;
  }

  understand() {
    for (let l = 0; l < this.launches.length; ++l) {
      const {arrays} = this.launches[l];
      /** @type {Map<string, number>} */
      const memory = new Map();
      arrays.forEach((array, a) => (array.before || []).forEach(([first, ...values]) => values.forEach((value, i) =>
        memory.set(`${a}:${first + i}`, this.add(value, [], `${array.name}[${first + i}]`, 0)))));
      this.before.push(new Map(memory));
      /** @type {{held: number[], gathered: number[]}[]} */
      const threads = Array.from({length: this.context.block}, () => ({held: [], gathered: []}));
      this.steps.forEach((step, s) => {
        if (step.launch === l) this.changes.push(this.follow(step, s + 1, memory, threads));
      });
    }
  }

  /** @param {Step} step @param {number} number @param {Map<string, number>} memory
   * @param {{held: number[], gathered: number[]}[]} threads @returns {Change[]} */
  follow(step, number, memory, threads) {
    /** @type {Change[]} */
    const changes = [];
    const array = this.arrayOf(step), width = this.widthOf(step);
    const isRead = /read|atomic/.test(step.action), isWrite = /write|atomic/.test(step.action);
    const inCell = (/** @type {number} */ index, /** @type {any} */ value, /** @type {number[]} */ parents) => {
      const id = this.add(value, parents, `${array && array.name}[${index}]`, number), cell = `${step.array}:${index}`;
      memory.set(cell, id);
      changes.push({cell, value: id});
      if (isWrite && array && array.space === "global" && (this.result < 0 || array.name !== "ticket")) this.result = id;
      return id;
    };
    /** @type {number[]} */
    const sent = [];
    step.lanes.forEach((lane, i) => {
      const thread = this.thread(step, lane), own = threads[thread], value = step.values ? step.values[i] : null;
      const place = `thread ${thread}`;
      if (array && step.indices && isRead) {
        const read = [];
        for (let e = 0; e < width; ++e) {
          const index = step.indices[i] + e, known = memory.get(`${step.array}:${index}`);
          let from = known;
          if (e === 0 && (known === undefined || this.values[known].value !== value))  // others wrote it, or nobody
            from = array.space === "global" || known !== undefined ? inCell(index, value, known === undefined ? [] : [known])
                                                                   : this.add(value, [], `${array.name}[${index}]`, number);
          if (from === undefined) from = this.add(null, [], `${array.name}[${index}]`, number);
          read.push(this.add(this.values[from].value, [from], place, number));
        }
        const shown = width === 1 ? read[0] : this.add(value, read, place, number);
        changes.push({thread, value: shown});
        if (isWrite) {
          const added = [...own.gathered, ...own.held];
          const sum = added.reduce((all, id) => all + Number(this.values[id].value), Number(value));
          inCell(step.indices[i], array.name === "ticket" ? Number(value) + 1 : sum, [...read, ...added]);
          own.held = own.gathered = [];
        }
        own.gathered = [...own.gathered, ...read];
      } else if (array && step.indices && isWrite) {
        const made = this.add(value, this.ingredients(value, own.held, own.gathered), place, number);
        own.held = [made];
        own.gathered = [];
        changes.push({thread, value: made});
        for (let e = 0; e < width; ++e) inCell(step.indices[i] + e, e === 0 ? value : null, [made]);
      } else if (step.action === "shuffle") {
        sent[lane] = this.add(value, this.ingredients(value, own.held, own.gathered), place, number);
        own.held = [sent[lane]];
        own.gathered = [];
      }
    });
    if (step.action === "shuffle" && step.sources)
      step.lanes.forEach((lane, i) => {
        const from = sent[/** @type {number[]} */ (step.sources)[i]], thread = this.thread(step, lane);
        if (from === undefined) return;
        const got = this.add(this.values[from].value, [from], `thread ${thread}`, number);
        threads[thread].gathered = [got];
        // The lane still has what it sent, too.
        changes.push({thread, value: this.add(this.values[got].value, [got, sent[lane]], `thread ${thread}`, number)});
      });
    return changes;
  }

  /** What memory and lanes hold once so many steps are done. It lasts until it is asked for again. @param {number} done */
  stateAfter(done) {
    const launch = done === 0 ? 0 : this.steps[done - 1].launch;
    // A step forward, which is what most are, goes on from the last.
    if (!this.last || this.last.launch !== launch || this.last.done > done)
      this.last = {launch, done: Math.max(0, this.steps.findIndex((step) => step.launch === launch)), cells: new Map(this.before[launch]), threads: /** @type {number[]} */ ([])};
    const {last} = this;
    for (; last.done < done; ++last.done)
      for (const change of this.changes[last.done])
        if (change.cell !== undefined) last.cells.set(change.cell, change.value);
        else last.threads[/** @type {number} */ (change.thread)] = change.value;
    return last;
  }

  /** Of a step, which lanes touch which element, in which turn, and with whom they share it.
   * @param {Step} step
   * @returns {Map<number, {lanes: number[], turn: number, meets: boolean}>} by element */
  touched(step) {
    /** @type {Map<number, {lanes: number[], turn: number, meets: boolean}>} */
    const found = new Map();
    const array = this.arrayOf(step), width = this.widthOf(step);
    if (!array || !step.indices) return found;
    const isShared = array.space === "shared", {banks} = this.context;
    const size = array.element_bytes, together = Math.max(1, Math.floor(banks / Math.max(1, Math.ceil(step.bytes / BANK))));
    /** @type {Map<string, number[]>} of each bank, the words that are asked of it at once */
    const words = new Map();
    /** @type {{index: number, key: string, word: number}[]} */
    const asked = [];
    step.lanes.forEach((lane, i) => {
      for (let e = 0; e < width; ++e) {
        const index = /** @type {number[]} */ (step.indices)[i] + e, known = found.get(index);
        if (known) known.lanes.push(lane);
        else found.set(index, {lanes: [lane], turn: 1, meets: false});
        if (!isShared) continue;
        const byte = array.offset + index * size;
        for (let word = Math.floor(byte / BANK); word * BANK < byte + size; ++word) {
          const key = `${Math.floor(lane / together)} ${((word % banks) + banks) % banks}`, others = words.get(key) || [];
          words.set(key, others);
          if (!others.includes(word)) others.push(word);
          asked.push({index, key, word});
        }
      }
    });
    for (const {index, key, word} of asked) {
      const others = /** @type {number[]} */ (words.get(key)), one = /** @type {any} */ (found.get(index));
      one.turn = Math.max(one.turn, others.indexOf(word) + 1);
      one.meets = one.meets || others.length > 1;
    }
    return found;
  }

  /** @param {Step} step */
  isConflict(step) {
    return this.arrayOf(step) !== null && step.turns > 1 && [...this.touched(step).values()].some(({meets}) => meets);
  }

  /** How many warps have come to a barrier by this step, itself included. @param {number} s */
  arrived(s) {
    const {launch, epoch} = this.steps[s], warps = new Set();
    for (let i = s; i >= 0 && this.steps[i].launch === launch && this.steps[i].epoch === epoch; --i)
      if (this.steps[i].action === "block_barrier") warps.add(this.steps[i].warp);
    return warps;
  }

  /** Whether the step is the last that its barrier waits for. @param {number} s */
  opens(s) {
    const step = this.steps[s], next = this.steps[s + 1];
    return step.action === "block_barrier" && (next ? next.launch !== step.launch || next.epoch !== step.epoch
                                                    : this.arrived(s).size === this.warps);
  }

  /** What happens in a step, in words. @param {number} s */
  describe(s) {
    const step = this.steps[s], array = this.arrayOf(step), lanes = counted(step.lanes.length, "lane");
    const where = `Warp ${step.warp}${step.line ? `, line ${step.line}` : ""}: `;
    const idle = Math.min(this.context.warp, this.context.block - step.warp * this.context.warp) - step.lanes.length;
    const others = idle > 0 ? ` ${counted(idle, "lane is", "lanes are")} idle.` : "";
    if (step.action === "block_barrier") {
      const come = this.arrived(s).size;
      return `${where}${idle > 0 ? `${lanes} arrive${step.lanes.length === 1 ? "s" : ""}` : "it arrives"} at the block's barrier, as ${come} of ${counted(this.warps, "warp")}` +
        (this.opens(s) ? "; all that come have come, and go on." : "; it waits for the others.");
    }
    if (step.action === "warp_barrier") return `${where}${lanes} wait for each other.${others}`;
    if (step.action === "vote") return `${where}${lanes} vote.${others}`;
    if (step.action === "shuffle") {
      const i = step.lanes.findIndex((lane, at) => step.sources && step.sources[at] !== lane);
      const example = i < 0 || !step.sources ? "" : `; lane ${step.lanes[i]} gets what lane ${step.sources[i]} holds`;
      return `${where}${lanes} shuffle${step.lanes.length === 1 ? "s" : ""}${example}.${others}`;
    }
    if (!array || !step.indices) return `${where}${lanes}: ${step.action}.`;
    const touched = this.touched(step), ends = step.lanes.length === 1 ? "s" : "";
    const verb = {read: "read" + ends, write: "write" + ends, atomic: "change" + ends, bulk_read: "have hardware read",
                  bulk_write: "have hardware write"}[step.action] || step.action;
    let text = `${where}${lanes} ${verb} ${array.name}[${ranges([...touched.keys()])}]${step.action === "atomic" ? " atomically" : ""}`;
    const made = step.action === "write" && this.changes[s].some(({thread, value}) => thread !== undefined && this.values[value].parents.length > 1);
    if (made) text += ", which the operator returned";
    const outside = [...touched.keys()].filter((index) => index < 0 || index >= array.elements);
    if (outside.length) text += `. It has ${counted(array.elements, "element")}: that is outside of it`;
    if (array.space === "global") return `${text}; ${counted(step.turns, "sector")} of memory move${step.turns === 1 ? "s" : ""}.${others}`;
    const shared = [...touched.values()].filter((one) => one.lanes.length > 1);
    if (this.isConflict(step)) text += `. Lanes meet in banks: ${step.turns} wavefronts`;
    else text += `; ${counted(step.turns, "wavefront")}`;
    if (shared.length && step.action === "read") text += `; ${counted(shared.length, "element goes", "elements go")} to several lanes at once`;
    return `${text}.${others}`;
  }

  /** All that came of a value. @param {number} id */
  offspring(id) {
    const found = new Set([id]);
    for (let i = id + 1; i < this.values.length; ++i)
      if (this.values[i].parents.some((parent) => found.has(parent))) found.add(i);
    return found;
  }

  /** The elements that a value was made of. @param {number} id */
  origins(id) {
    const seen = new Set([id]), open = [id];
    while (open.length)
      for (const parent of this.values[/** @type {number} */ (open.pop())].parents)
        if (!seen.has(parent)) {
          seen.add(parent);
          open.push(parent);
        }
    return [...seen].filter((each) => !this.values[each].parents.length && each !== id);
  }

  /** The places on a value's way to the result; empty where it does not get there. @param {number} id */
  way(id) {
    const all = this.offspring(id);
    if (!all.has(this.result)) return [];
    const way = [];
    for (let at = this.result; at !== id; at = /** @type {number} */ (this.values[at].parents.find((parent) => all.has(parent))))
      way.push(this.values[at]);
    way.push(this.values[id]);
    return way.reverse().filter((each, i, list) => i === 0 || each.place !== list[i - 1].place);
  }
}

// ---- one trace on the page ------------------------------------------------------------------------

const KEYWORDS = /\b(?:template|typename|class|struct|namespace|using|inline|constexpr|const|static|extern|if|else|for|while|do|return|unsigned|int|float|double|void|bool|auto|__global__|__device__|__shared__|__syncthreads|true|false|std|sizeof)\b/;

class Panel {
  /** @param {TraceData} data @param {Finding | null} finding @param {boolean} isAlone @param {(id: number) => void} follow */
  constructor(data, finding, isAlone, follow) {
    this.trace = new Trace(data);
    this.followed = -1;
    this.finding = finding;
    this.follow = follow;
    this.done = 0;
    const {context} = this.trace;
    const name = context.stage < 1000 ? `${context.stage} ${context.stage_name}` : context.stage_name;
    this.name = name;
    // Of two kernels side by side, each part says whose it is.
    this.owner = isAlone ? "" : `, ${name}`;
    this.source = make("section", {class: "source", tabindex: 0, "aria-label": `Source: ${context.file}${this.owner}`});
    this.inner = make("div", {class: "inner"});
    this.state = make("section", {class: "state", tabindex: 0, "aria-label": `Lanes and memory${this.owner}`}, [this.inner]);
    this.note = make("p", {class: "result"});
    this.element = make("article", {class: "panel"}, [
      make("h2", {class: isAlone ? "unseen" : undefined}, [name]), make("div", {class: "both"}, [this.state, this.source]), this.note]);
    this.showSource();
    this.launch = -1;
  }

  showSource() {
    const {context} = this.trace;
    const lines = make("div", {class: "lines"});
    this.lines = context.source.replace(/\n$/, "").split("\n").map((text, i) => {
      const code = make("code", {}, []);
      const [, before, comment] = /** @type {RegExpMatchArray} */ (text.match(/^(.*?)(\/\/.*)?$/));
      for (const part of before.split(new RegExp(`(${KEYWORDS.source})`)))
        code.append(KEYWORDS.test(part) ? make("span", {class: "key"}, [part]) : part);
      if (comment) code.append(make("span", {class: "comment"}, [comment]));
      const who = make("span", {class: "who"});
      const line = make("div", {class: "line"}, [make("span", {class: "number"}, [String(i + 1)]), code, who]);
      lines.append(line);
      return {line, who};
    });
    this.source.append(lines);
    const found = this.finding ? this.finding.witnesses.filter((each) => each.file === context.file).map((each) => each.line) : [];
    for (const at of found) if (this.lines[at - 1]) this.lines[at - 1].line.classList.add("found");
    if (this.finding && /race/.test(this.finding.kind) && found.length === 2)
      for (let at = Math.min(...found) + 1; at < Math.max(...found); ++at) this.lines[at - 1].line.classList.add("between");
  }

  /** @param {string} kind @param {string} label @param {string} index @param {() => number | undefined} valueOf */
  makeCell(kind, label, index, valueOf) {
    const cell = make("button", {type: "button", class: kind, tabindex: -1, "data-index": index, onclick: () => {
      const id = valueOf();
      if (id !== undefined) this.follow(id);
    }});
    cell.label = label;
    return cell;
  }

  /** Cells that arrow keys go through. @param {any[]} cells */
  rove(cells) {
    if (cells.length) cells[0].tabIndex = 0;
    cells.forEach((cell, i) => cell.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const by = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.columns, ArrowUp: -this.columns}[event.key];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      const next = cells[Math.max(0, Math.min(cells.length - 1, i + by))];
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    }));
  }

  /** Builds what a launch has: its lanes, and what of its arrays it touches. @param {number} launch */
  build(launch) {
    const {trace} = this, {context} = trace, {arrays} = trace.launches[launch];
    this.launch = launch;
    this.columns = Math.min(32, context.warp);
    /** @type {Map<string, any>} */
    this.cells = new Map();
    /** @type {Map<string, any>} */
    this.sectors = new Map();
    /** @type {any[]} */
    this.lanes = [];
    /** @type {any[]} */
    this.boxes = [];
    /** @type {Set<number>[]} */
    const touched = arrays.map(() => new Set());
    /** @type {Set<number>} */
    const read = new Set();
    trace.steps.filter((step) => step.launch === launch && step.array >= 0).forEach((step) => {
      for (const index of trace.touched(step).keys()) touched[step.array].add(index);
      if (/read/.test(step.action)) read.add(step.array);
    });
    const memory = arrays.map((array, a) => touched[a].size === 0 ? null : array.space === "shared"
      ? this.makeShared(array, a, touched[a]) : this.makeGlobal(array, a, touched[a]));
    const isAbove = arrays.map((array, a) => array.space === "global" && read.has(a) && array.name !== "ticket");
    const parts = arrays.map((_, a) => a).sort((a, b) => Number(arrays[a].space === "global") - Number(arrays[b].space === "global"));
    this.arrows = draw("svg", {class: "arrows", "aria-hidden": "true"});
    this.inner.replaceChildren(
      ...(trace.launches.length > 1 ? [make("p", {class: "about"}, [
        `Launch ${launch + 1} of ${trace.launches.length}: block ${trace.launches[launch].block} of ${counted(trace.launches[launch].blocks, "block")}.`])] : []),
      ...parts.filter((a) => isAbove[a] && memory[a]).map((a) => memory[a]), this.makeLanes(),
      ...parts.filter((a) => !isAbove[a] && memory[a]).map((a) => memory[a]), this.arrows);
    this.fit();
  }

  makeLanes() {
    const {warp, block} = this.trace.context;
    const groups = make("div", {class: "groups"});
    for (let w = 0; w < this.trace.warps; ++w) {
      const status = make("span"), name = make("span", {}, [`warp ${w}`]);
      const box = make("div", {class: "group warp", role: "group", "aria-label": `Warp ${w}`}, [
        make("header", {}, [name, status]), make("span", {class: "post"})]);
      const cells = [];
      for (let thread = w * warp; thread < Math.min(block, (w + 1) * warp); ++thread) {
        const cell = this.makeCell("cell idle", `thread ${thread}`, String(thread - w * warp), () => this.now && this.now.threads[thread]);
        this.lanes.push(cell);
        cells.push(cell);
      }
      box.append(...cells);
      this.rove(cells);
      this.boxes.push({box, status});
      groups.append(box);
    }
    return make("section", {class: "lanes", "aria-label": `Lanes${this.owner}`}, [
      make("h3", {}, ["Lanes ", make("span", {}, ["and the value that each held last"])]), groups]);
  }

  /** @param {ArrayFacts} array @param {number} a @param {number} index */
  makeElement(array, a, index, kind = "cell") {
    const key = `${a}:${index}`;
    const cell = this.makeCell(kind, `${array.name}[${index}]`, String(index), () => this.now && this.now.cells.get(key));
    this.cells.set(key, cell);
    return cell;
  }

  /** @param {ArrayFacts} array @param {number} a @param {Set<number>} touched */
  makeOutside(array, a, touched) {
    const outside = [...touched].filter((index) => index < 0 || index >= array.elements).sort((x, y) => x - y);
    if (!outside.length) return [];
    const cells = outside.slice(0, 64).map((index) => this.makeElement(array, a, index, "cell outside"));
    this.rove(cells);
    return [make("h3", {}, [`outside of ${array.name}`]), make("div", {class: "groups"}, cells)];
  }

  /** @param {ArrayFacts} array @param {number} a @param {Set<number>} touched */
  makeGlobal(array, a, touched) {
    const groups = make("div", {class: "groups"}), size = array.element_bytes;
    const sectorOf = (/** @type {number} */ index) => Math.floor((array.offset + index * size) / SECTOR);
    const wanted = [...new Set([...touched].filter((index) => index >= 0 && index < array.elements).map(sectorOf))].sort((x, y) => x - y);
    /** @type {any[]} */
    const all = [];
    for (const sector of wanted) {
      const box = make("div", {class: "group sector"});
      const first = Math.max(0, Math.ceil((sector * SECTOR - array.offset) / size));
      let columns = 0;
      for (let index = first; index < array.elements && sectorOf(index) === sector; ++index, ++columns) {
        const cell = this.makeElement(array, a, index);
        all.push(cell);
        box.append(cell);
      }
      box.style.gridTemplateColumns = `repeat(${columns}, max-content)`;
      this.sectors.set(`${a}:${sector}`, box);
      groups.append(box);
    }
    this.rove(all);
    return make("section", {class: "memory", "aria-label": `Global memory, ${array.name}${this.owner}`}, [
      make("h3", {}, [`${array.name} `, make("span", {}, [`global memory, ${counted(array.elements, "element")}, in sectors of 32 bytes`])]),
      groups, ...this.makeOutside(array, a, touched)]);
  }

  /** @param {ArrayFacts} array @param {number} a @param {Set<number>} touched */
  makeShared(array, a, touched) {
    const {banks} = this.trace.context, size = array.element_bytes;
    const box = make("div", {class: "group"});
    const wordOf = (/** @type {number} */ index) => Math.floor((array.offset + index * size) / BANK);
    const rowOf = (/** @type {number} */ index) => Math.floor(wordOf(index) / banks);
    const rows = [...new Set([...touched].filter((index) => index >= 0 && index < array.elements).map(rowOf))].sort((x, y) => x - y);
    /** @type {any[]} */
    const all = [];
    const isWide = array.elements > 1;
    if (isWide) for (let bank = 0; bank < banks; ++bank) box.append(make("span", {class: "bank", "aria-hidden": "true"}, [String(bank)]));
    for (let index = 0; index < array.elements; ++index) {
      const row = rows.indexOf(rowOf(index));
      if (row < 0) continue;
      const cell = this.makeElement(array, a, index);
      if (isWide && size >= BANK) {
        cell.style.gridColumn = `${((wordOf(index) % banks) + banks) % banks + 1} / span ${size / BANK}`;
        cell.style.gridRow = String(row + 2);
        if (size > BANK) cell.style.width = "100%";
      }
      all.push(cell);
      box.append(cell);
    }
    this.rove(all);
    return make("section", {class: "memory", "aria-label": `Shared memory, ${array.name}${this.owner}`}, [
      make("h3", {}, [`${array.name} `, make("span", {}, [`shared memory${isWide ? `, a column for each of ${banks} banks` : ""}`])]),
      make("div", {class: "groups"}, [box]), ...this.makeOutside(array, a, touched)]);
  }

  /** Cells as wide as there is room for. */
  fit() {
    const {context} = this.trace, room = this.state.clientWidth - 24;
    const most = Math.min(Math.max(16, this.columns), context.block);
    const width = context.warp === 8 ? Math.max(36, Math.min(46, Math.floor(room / most) - 4))
                                     : Math.max(24, Math.min(40, Math.floor(room / most) - 2));
    this.columns = Math.min(32, context.warp);
    // On a phone a row of lanes breaks where that keeps it in sight.
    while (this.columns > 8 && this.columns * (width + 2) > Math.max(room, 600)) this.columns /= 2;
    this.lineHeight = this.lines[0].line.offsetHeight;
    this.room = Math.floor((width - 2) / (width < 34 ? 5.45 : 6.7));
    this.inner.style.setProperty("--cell-width", `${width}px`);
    this.inner.classList.toggle("tiny", width < 34);
    this.inner.style.setProperty("--cell-font", width < 34 ? "9px" : "11px");
    const {banks} = context, columns = Math.max(this.columns, this.inner.querySelector(".bank") ? banks : 8);
    this.inner.style.width = `${Math.max(this.state.clientWidth - 4, columns * (width + 2) + 20)}px`;
    for (const {box} of this.boxes) box.style.gridTemplateColumns = `repeat(${this.columns}, max-content)`;
    for (const bank of this.inner.querySelectorAll(".bank:first-child")) bank.parentElement.style.gridTemplateColumns = `repeat(${banks}, ${width}px)`;
  }

  /** Shows what is so once so many steps are done, the last of them as it happens. @param {number} done */
  show(done) {
    const {trace} = this, step = done > 0 ? trace.steps[done - 1] : null;
    this.done = done;
    this.now = trace.stateAfter(done);
    if (this.now.launch !== this.launch) this.build(this.now.launch);
    // Asked before anything changes: afterwards a browser would measure the page anew.
    const view = {height: this.source.clientHeight, before: this.source.scrollTop};
    const array = step && trace.arrayOf(step), touched = step ? trace.touched(step) : new Map();
    const followed = this.followed < 0 ? null : trace.offspring(this.followed);
    const origins = new Set(this.followed < 0 ? [] : trace.origins(this.followed));
    const mark = (/** @type {number | undefined} */ id) =>
      id === undefined ? "" : (followed && followed.has(id) ? " followed" : "") + (origins.has(id) ? " origin" : "");
    for (const [key, cell] of this.cells) {
      const [a, index] = key.split(":").map(Number), id = this.now.cells.get(key);
      const one = step && step.array === a ? touched.get(index) : undefined;
      this.fill(cell, id, (cell.classList.contains("outside") ? "cell outside" : "cell") + (one ? this.kindOf(one, step) : "") + mark(id),
                one && one.meets ? String(one.turn) : "");
    }
    const changed = new Set(done > 0 ? trace.changes[done - 1].filter(({thread, value}) => thread !== undefined
      && trace.values[value].parents.length > 1 && step && step.action === "write").map(({thread}) => thread) : []);
    this.lanes.forEach((cell, thread) => {
      const lane = thread % trace.context.warp, id = this.now && this.now.threads[thread];
      const isActive = step !== null && step.warp === Math.floor(thread / trace.context.warp) && step.lanes.includes(lane);
      const of = isActive && array && array.space === "shared" && step.indices ? touched.get(step.indices[step.lanes.indexOf(lane)]) : undefined;
      this.fill(cell, id, "cell" + (isActive ? (of ? this.kindOf(of, step) : " active") : " idle") + (changed.has(thread) ? " folded" : "") + mark(id),
                of && of.meets ? String(of.turn) : "");
    });
    const moved = new Set();
    if (step && array && array.space === "global")
      for (const index of touched.keys()) moved.add(`${step.array}:${Math.floor((array.offset + index * array.element_bytes) / SECTOR)}`);
    let isFirst = true;
    for (const [key, box] of this.sectors) {
      box.classList.toggle("moved", moved.has(key));
      if (!moved.has(key) || !isFirst) continue;
      const all = box.parentElement, top = box.offsetTop - all.offsetTop;
      if (top < all.scrollTop || top + box.offsetHeight > all.scrollTop + all.clientHeight) all.scrollTop = top;
      isFirst = false;
    }
    this.showWarps(step, done);
    this.showLines(step, done, view);
    this.showNote();
    this.drawArrows(step, touched);
  }

  /** @param {{lanes: number[], meets: boolean}} one @param {Step | null} step */
  kindOf(one, step) {
    const array = step && this.trace.arrayOf(step);
    if (one.meets) return " conflict";
    return array && array.space === "shared" && one.lanes.length > 1 ? " broadcast" : " active";
  }

  /** @param {any} cell @param {number | undefined} id @param {string} kind @param {string} turn */
  fill(cell, id, kind, turn) {
    put(cell, "className", kind);
    if (turn) cell.dataset.turn = turn;
    else if (cell.dataset.turn) delete cell.dataset.turn;
    if (cell.filled === `${id} ${this.room}`) return;
    cell.filled = `${id} ${this.room}`;
    const value = id === undefined ? undefined : this.trace.values[id];
    put(cell, "textContent", value === undefined ? "" : shorten(value.value, this.room || 5));
    const made = value && value.parents.length > 1 && this.trace.isSum(value.value, value.parents) ? ` = ${value.parents.map((each) => spell(this.trace.values[each].value)).join(" + ")}` : "";
    put(cell, "title", `${cell.label}: ${value === undefined ? "nothing yet" : spell(value.value)}${made.length < 90 ? made : ""}`);
    cell.setAttribute("aria-label", cell.title);
  }

  /** @param {Step | null} step @param {number} done */
  showWarps(step, done) {
    const {trace} = this;
    const waiting = step && !trace.opens(done - 1) ? trace.arrived(done - 1) : new Set();
    const passed = done > 0 && trace.opens(done - 1);
    this.boxes.forEach(({box, status}, w) => {
      const left = trace.steps.findIndex((each, i) => i >= done && each.warp === w && each.launch === this.launch) >= 0;
      const isRunning = step !== null && step.warp === w;
      box.className = `group warp${isRunning ? " runs" : ""}${waiting.has(w) ? " waits" : ""}${passed ? " passed" : ""}`;
      put(status, "textContent", passed ? "past the barrier" : waiting.has(w) ? "at the barrier" : isRunning ? this.deed(step)
        : left || done === 0 ? "" : "has ended");
    });
  }

  /** @param {Step} step */
  deed(step) {
    return {read: "reads", write: "writes", atomic: "changes", shuffle: "shuffles", vote: "votes", warp_barrier: "at its barrier"}[step.action] || "";
  }

  /** Where lanes are: those that do not take part wait where they go on. @param {Step | null} step @param {number} done
   * @param {{height: number, before: number}} view of the source */
  showLines(step, done, view) {
    const {trace} = this;
    /** @type {Map<number, Map<number, number>>} lanes by line, by warp */
    const at = new Map();
    if (done > 0)
      trace.stepsOf.forEach((own) => {
        let begin = 0, end = own.length;  // the first of its steps from this one on
        while (begin < end) {
          const middle = (begin + end) >> 1;
          if (own[middle] < done - 1) begin = middle + 1;
          else end = middle;
        }
        const next = own[begin];
        if (next === undefined || trace.steps[next].launch !== this.launch) return;
        const {line, warp} = trace.steps[next], warps = at.get(line) || new Map();
        warps.set(warp, (warps.get(warp) || 0) + 1);
        at.set(line, warps);
      });
    this.lines.forEach(({line, who}, i) => {
      const warps = at.get(i + 1), isNow = step !== null && step.line === i + 1;
      line.classList.toggle("now", isNow);
      const texts = warps ? [...warps].map(([warp, count]) => {
        const all = Math.min(trace.context.warp, trace.context.block - warp * trace.context.warp);
        return `warp ${warp}${count < all ? `, ${count} of ${all}` : ""}`;
      }) : [];
      const shown = texts.length > 4 ? [counted(texts.length, "warp")] : texts;
      if (who.textContent !== shown.join("")) who.replaceChildren(...shown.map((text) => make("span", {}, [text])));
    });
    const {height, before} = view, top = ((step ? step.line : this.firstLine()) - 1) * this.lineHeight;
    const seen = (top - before) / height;
    if (step === null || seen < 0.1 || seen > 0.7) this.source.scrollTop = top - 0.4 * height;
  }

  firstLine() {
    const lines = this.trace.steps.map((step) => step.line).filter(Boolean);
    return lines.length ? Math.min(...lines) : 1;
  }

  showNote() {
    const {context, steps} = this.trace;
    let text = "";
    if (this.done === steps.length) {
      if (context.failure) text = `Here it fails: ${context.failure}`;
      else if (context.is_cut) text = `A page shows no more than ${steps.length} steps; the kernel goes on.`;
      else text = `The sum of ${context.n} ${context.type} is ${context.result}` + (context.is_wrong ? `, and should be ${context.expected}.` : ".");
    }
    put(this.note, "textContent", text);
    put(this.note, "hidden", text === "");
  }

  /** From memory to lanes, from lanes to memory, and between lanes. @param {Step | null} step @param {Map<number, any>} touched */
  drawArrows(step, touched) {
    /** @type {Node[]} */
    const arrows = [];
    if (step) this.findArrows(step, touched, (path, x, y, down, kind) => arrows.push(
      draw("path", {d: path, class: `moves ${kind}`}), draw("path", {d: `M${x},${y} l-3.5,${-6 * down} h7 z`, class: `tip ${kind}`})));
    this.arrows.replaceChildren(...arrows);  // at once: in between a browser would measure anew
  }

  /** @param {Step} step @param {Map<number, any>} touched
   * @param {(path: string, x: number, y: number, down: number, kind: string) => void} add */
  findArrows(step, touched, add) {
    const base = this.inner.getBoundingClientRect();
    const boxOf = (/** @type {any} */ cell) => {
      const {left, top, bottom, width} = cell.getBoundingClientRect();
      const seen = cell.closest(".groups").getBoundingClientRect();
      const within = (/** @type {number} */ y) => Math.max(seen.top, Math.min(seen.bottom, y)) - base.top;
      return {x: left - base.left + width / 2, top: within(top), bottom: within(bottom)};
    };
    const laneCell = (/** @type {number} */ lane) => this.lanes[this.trace.thread(step, lane)];
    if (step.action === "shuffle" && step.sources) {
      step.lanes.forEach((lane, i) => {
        const source = /** @type {number[]} */ (step.sources)[i];
        if (source === lane || !laneCell(source)) return;
        const from = boxOf(laneCell(source)), to = boxOf(laneCell(lane));
        const height = Math.min(26, 8 + Math.abs(from.x - to.x) / 8);
        add(`M${from.x},${from.top} C${from.x},${from.top - height} ${to.x},${to.top - height} ${to.x},${to.top}`, to.x, to.top, 1, "shuffle");
      });
      return;
    }
    const isRead = /read|atomic/.test(step.action);
    for (const [index, one] of touched) {
      const cell = this.cells.get(`${step.array}:${index}`);
      if (!cell) continue;
      const there = boxOf(cell), kind = this.kindOf(one, step).trim();
      for (const lane of one.lanes) {
        const here = boxOf(laneCell(lane)), isAbove = there.top < here.top;
        const a = isAbove ? {x: there.x, y: there.bottom} : {x: there.x, y: there.top};
        const b = isAbove ? {x: here.x, y: here.top} : {x: here.x, y: here.bottom};
        const [from, to] = isRead ? [a, b] : [b, a], middle = (from.y + to.y) / 2;
        add(`M${from.x},${from.y} C${from.x},${middle} ${to.x},${middle} ${to.x},${to.y}`, to.x, to.y, to.y > from.y ? 1 : -1, kind);
      }
    }
  }
}

// ---- the page -------------------------------------------------------------------------------------

class Player {
  /** @param {View[]} views @param {HTMLElement} root */
  constructor(views, root) {
    this.views = views;
    this.root = root;
    this.at = 0;
    this.timer = this.keeping = 0;
    this.caption = make("p", {class: "caption", role: "status"});
    this.count = make("span", {class: "count"});
    this.followed = make("div", {class: "follow", "aria-live": "polite"});
    this.strips = make("div", {class: "strips", "aria-hidden": "true"});
    this.slider = make("input", {type: "range", min: 0, "aria-label": "Step", oninput: () => this.go(Number(this.slider.value))});
    this.playButton = make("button", {type: "button", class: "play", onclick: () => this.toggle()}, ["▶ Play"]);
    this.speed = make("select", {"aria-label": "Steps in a second", onchange: () => this.isPlaying() && this.play()},
                      [0.5, 1, 2, 5, 20].map((speed) => make("option", {value: speed, selected: speed === 2}, [`${speed} a second`])));
    const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ act) =>
      make("button", {type: "button", title: label, "aria-label": label, onclick: () => { this.pause(); act(); }}, [text]);
    this.buttons = {
      barrier: button("Barrier ▸", "Go to the next barrier (B)", () => this.jump("barrier", 1)),
      conflict: button("Conflict ▸", "Go to the next bank conflict (C)", () => this.jump("conflict", 1)),
    };
    this.transport = make("section", {class: "transport", "aria-label": "Steps"}, [
      this.caption, this.strips, this.slider,
      make("div", {class: "buttons"}, [
        button("❙◀", "Go to the start (Home)", () => this.go(0)), button("◀", "One step back (left arrow)", () => this.go(this.at - 1)),
        this.playButton, button("▶", "One step forward (right arrow)", () => this.go(this.at + 1)),
        button("▶❙", "Go to the end (End)", () => this.go(this.times.length - 1)),
        this.buttons.barrier, this.buttons.conflict, this.speed, this.count])]);
    this.readAddress();
    window.addEventListener("hashchange", () => this.readAddress());
    window.addEventListener("resize", () => { this.panels.forEach((panel) => panel.fit()); this.refresh(); });
    document.addEventListener("keydown", (event) => this.press(event));
  }

  readAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const view = Math.max(1, Math.min(this.views.length, Number(wanted.get("view")) || 1)) - 1;
    if (view !== this.view) this.open(view);
    if (wanted.has("step")) this.go(Number(wanted.get("step")) || 0, false);
  }

  /** @param {number} number */
  open(number) {
    this.pause();
    this.view = number;
    const {traces, finding} = this.views[number], isAlone = traces.length === 1;
    this.panels = traces.map((trace) => {
      /** @type {Panel} */
      const panel = new Panel(trace, finding, isAlone, (id) => this.follow(panel, id));
      return panel;
    });
    const ends = isAlone ? this.panels[0].trace.steps.map((_, i) => i + 1)
                         : [...new Set(this.panels.flatMap((panel) => panel.trace.ends))].sort((a, b) => a - b);
    this.isAlone = isAlone;
    this.times = [0, ...ends];
    this.slider.max = this.times.length - 1;
    const {context, warps, launches} = this.panels[0].trace;
    const isNarrow = Math.min(32, context.warp) <= 8;
    this.followed.replaceChildren("Click an element or a lane to follow its value to the result.");
    this.root.replaceChildren(
      make("h1", {}, [this.panels.map((panel) => panel.name).join(" beside ")]),
      make("p", {class: "about"}, [
        `The sum of ${context.n} ${context.type}, ${context.block} threads a block, ${counted(warps, "warp")} of ${context.warp} lanes, ` +
        `shared memory in ${context.banks} banks. ` +
        (isAlone ? "" : "Both go by one clock: a step takes a turn, an access to memory as many as it has wavefronts or sectors. It counts turns; it measures no time. ") +
        (launches[0].blocks > 1 ? `Block ${launches[0].block} of ${launches[0].blocks} is shown.` : "")]),
      ...this.makeViews(), ...(finding ? [this.makeFinding(finding)] : []),
      make("div", {class: `panels ${isAlone ? "one" : "two"} ${isNarrow ? "narrow" : "wide"}`}, this.panels.map((panel) => panel.element)),
      this.followed, this.makeLegend(), this.transport);
    this.panels.forEach((panel) => panel.build(0));
    this.makeStrips();
    this.marks = {barrier: this.positionsOf((trace, s) => trace.steps[s].action === "block_barrier"),
                  conflict: this.positionsOf((trace, s) => trace.isConflict(trace.steps[s]))};
    this.buttons.barrier.disabled = !this.marks.barrier.length;
    this.buttons.conflict.disabled = !this.marks.conflict.length;
    this.go(finding ? Math.max(0, ...this.stepsOfFinding(finding)) : 0, false);
  }

  makeViews() {
    if (this.views.length < 2) return [];
    return [make("fieldset", {class: "views"}, [make("legend", {class: "unseen"}, ["What is shown"]), ...this.views.map((view, i) =>
      make("label", {}, [make("input", {type: "radio", name: "view", checked: i === this.view, onchange: () => {
        this.open(i);
        this.keep();
        /** @type {any} */ (this.root.querySelectorAll(".views input")[i]).focus();
      }}), make("span", {}, [view.name])]))])];
  }

  /** Where in the trace a witness was; 0 where it is not told. @param {Finding} finding */
  stepsOfFinding(finding) {
    const {trace} = this.panels[0], [, name, index] = finding.address.match(/^(.*)\[(-?\d+)\]/) || [];
    return finding.witnesses.map((witness) => {
      const isThere = (/** @type {Step} */ step) => step.line === witness.line && witness.file === trace.context.file
        && (witness.thread === undefined || (step.warp === witness.warp && step.lanes.includes(/** @type {number} */ (witness.lane))));
      const isElement = (/** @type {Step} */ step) => {
        const array = trace.arrayOf(step), one = trace.touched(step).get(Number(index));
        return array !== null && array.name === name && one !== undefined && (witness.lane === undefined || one.lanes.includes(witness.lane));
      };
      const exact = trace.steps.findIndex((step) => isThere(step) && isElement(step));
      return (exact < 0 ? trace.steps.findIndex(isThere) : exact) + 1;
    });
  }

  /** @param {Finding} finding */
  makeFinding(finding) {
    const steps = this.stepsOfFinding(finding);
    return make("section", {class: "finding", "aria-label": "What went wrong"}, [
      make("h2", {}, [`${finding.kind.replace(/_/g, " ")}: ${finding.what}`]),
      make("ol", {}, finding.witnesses.map((witness, i) => {
        const who = witness.thread !== undefined ? `thread ${witness.thread} (warp ${witness.warp}, lane ${witness.lane})`
          : witness.threads ? `threads ${witness.threads}` : "a thread";
        const text = `${witness.line ? `line ${witness.line} ` : ""}${witness.doing}: ${who} of block ${witness.block[0]}`;
        return make("li", {}, [steps[i] ? make("button", {type: "button", class: "link", onclick: () => { this.pause(); this.go(steps[i]); }},
                                              [`${text}, step ${steps[i]}`]) : text]);
      })), make("p", {}, [make("b", {}, ["What to do: "]), finding.remedy])]);
  }

  makeLegend() {
    const item = (/** @type {string} */ kind, /** @type {string} */ text) =>
      make("li", {}, [make("span", {class: `cell ${kind}`, "aria-hidden": "true"}), text]);
    const keys = [["Space", "play or pause"], ["← →", "a step"], ["Home End", "start, end"], ["B C", "next barrier, next conflict; with Shift the one before"],
                  ["+ −", "speed"], ["Esc", "follow no more"], ["Tab, arrows", "go through cells"]];
    return make("div", {}, [
      make("ul", {class: "legend"}, [
        item("active", "takes part"), item("idle", "idle"), item("conflict", "meets another in its bank; the turn it gets"),
        item("broadcast", "goes to several lanes"), item("followed", "followed"), item("origin", "what it was made of")]),
      make("details", {}, [make("summary", {}, ["Keys"]), make("p", {}, keys.flatMap(([key, what], i) =>
        [i ? " · " : "", make("kbd", {}, [key]), ` ${what}`])), make("p", {}, ["The address #step=17 leads to a step."])])]);
  }

  makeStrips() {
    const length = this.times[this.times.length - 1] || 1;
    this.strips.replaceChildren(...this.panels.map(({trace}) => {
      const height = 7 * Math.min(8, trace.warps);
      const strip = draw("svg", {class: "strip", viewBox: `0 0 ${length} ${trace.warps}`, preserveAspectRatio: "none"});
      strip.style.setProperty("--strip-height", `${Math.max(14, height)}px`);
      trace.steps.forEach((step, s) => {
        const end = this.isAlone ? s + 1 : trace.ends[s], begin = this.isAlone ? s : end - trace.turnsOf(step);
        const kind = trace.isConflict(step) ? "conflict" : step.action;
        const isWhole = trace.opens(s);
        strip.append(draw("rect", {class: kind, x: isWhole ? end - 0.35 : begin + 0.06, y: isWhole ? 0 : step.warp + 0.08,
                                   width: isWhole ? 0.35 : end - begin - 0.12, height: isWhole ? trace.warps : 0.84}));
      });
      strip.append(draw("rect", {class: "later", y: 0, height: trace.warps}), draw("rect", {class: "cursor", y: 0, height: trace.warps}));
      strip.addEventListener("click", (/** @type {MouseEvent} */ event) => {
        const time = (event.offsetX / strip.clientWidth) * length;
        this.pause();
        this.go(this.times.findIndex((each) => each >= time));
      });
      return strip;
    }));
  }

  /** @param {(trace: Trace, s: number) => boolean} isOne */
  positionsOf(isOne) {
    return [...new Set(this.panels.flatMap(({trace}) => trace.steps.flatMap((_, s) =>
      isOne(trace, s) ? [this.isAlone ? s + 1 : this.times.indexOf(trace.ends[s])] : [])))].sort((a, b) => a - b);
  }

  /** @param {number} at @param {boolean} [isKept] whether the address shall lead there */
  go(at, isKept = true) {
    this.at = Math.max(0, Math.min(this.times.length - 1, Math.round(at) || 0));
    this.refresh();
    if (isKept && !this.isPlaying()) this.keep();
  }

  /** Has the address lead here, once nothing changed for a moment: browsers refuse what comes too often. */
  keep() {
    window.clearTimeout(this.keeping);
    this.keeping = window.setTimeout(() =>
      history.replaceState(null, "", `#${this.view ? `view=${this.view + 1}&` : ""}step=${this.at}`), 200);
  }

  /** How many of its steps a panel has done. @param {Panel} panel */
  doneOf(panel) {
    if (this.isAlone) return this.at;
    const later = panel.trace.ends.findIndex((end) => end > this.times[this.at]);
    return later < 0 ? panel.trace.steps.length : later;
  }

  refresh() {
    const last = this.times.length - 1, time = this.times[this.at], length = this.times[last] || 1;
    const texts = this.panels.map((panel, i) => {
      const done = this.doneOf(panel), {trace} = panel, strip = this.strips.children[i];
      panel.show(done);
      const cursor = strip.querySelector(".cursor"), later = strip.querySelector(".later");
      const at = Math.min(time, this.isAlone ? time : trace.ends[trace.ends.length - 1] || 0);
      cursor.setAttribute("x", Math.max(0, at - length / 400));
      cursor.setAttribute("width", length / 200);
      later.setAttribute("x", at);
      later.setAttribute("width", Math.max(0, length - at));
      const ended = done === trace.steps.length && !this.isAlone ? ` It ended after ${trace.ends[done - 1] || 0} turns.` : "";
      const text = done === 0 ? "Nothing has happened yet." : trace.describe(done - 1);
      return (this.isAlone ? text : `${panel.name}: ${text}`) + ended;
    });
    const where = this.isAlone ? `Step ${this.at} of ${last}` : `Turn ${time} of ${length}`;
    const result = this.isAlone && this.at === last && !this.panels[0].note.hidden ? ` ${this.panels[0].note.textContent}` : "";
    this.caption.replaceChildren(make("b", {}, [`${where}. `]), ...texts.flatMap((text) => this.isAlone ? [text] : [make("br"), text]), result);
    put(this.count, "textContent", this.isAlone ? `${this.at} / ${last}` : `${time} / ${length}`);
    put(this.slider, "value", String(this.at));
    this.slider.setAttribute("aria-valuetext", where);
  }

  isPlaying() { return this.timer !== 0; }

  play() {
    window.clearTimeout(this.timer);
    if (this.at >= this.times.length - 1) this.go(0, false);
    this.caption.setAttribute("aria-live", "off");  // too much to be read aloud
    this.playButton.textContent = "❚❚ Pause";
    const wait = () => {
      const turns = Math.min(8, this.times[this.at + 1] - this.times[this.at]);
      this.timer = window.setTimeout(() => {
        this.go(this.at + 1);
        if (this.at >= this.times.length - 1) this.pause();
        else wait();
      }, (1000 / Number(this.speed.value)) * turns);
    };
    wait();
  }

  pause() {
    if (!this.isPlaying()) return;
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.caption.removeAttribute("aria-live");
    this.playButton.textContent = "▶ Play";
    this.keep();
  }

  toggle() {
    if (this.isPlaying()) this.pause();
    else this.play();
  }

  /** @param {"barrier" | "conflict"} kind @param {number} by */
  jump(kind, by) {
    const all = by > 0 ? this.marks[kind] : [...this.marks[kind]].reverse();
    const next = all.find((at) => by > 0 ? at > this.at : at < this.at);
    if (next !== undefined) this.go(next);
    else if (all.length && by > 0) this.go(all[0]);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (target.tagName === "SELECT" || /** @type {any} */ (target).type === "radio") return;
    if (event.key === " " && (target.tagName === "BUTTON" || target.tagName === "SUMMARY")) return;
    const move = (/** @type {() => void} */ act) => { this.pause(); act(); };
    const kind = {b: "barrier", c: "conflict"}[event.key.toLowerCase()];
    if (event.key === " ") this.toggle();
    else if (event.key === "ArrowRight") move(() => this.go(this.at + 1));
    else if (event.key === "ArrowLeft") move(() => this.go(this.at - 1));
    else if (event.key === "Home") move(() => this.go(0));
    else if (event.key === "End") move(() => this.go(this.times.length - 1));
    else if (kind) move(() => this.jump(/** @type {any} */ (kind), event.shiftKey ? -1 : 1));
    else if (event.key === "+" || event.key === "-") {
      this.speed.selectedIndex = Math.max(0, Math.min(this.speed.length - 1, this.speed.selectedIndex + (event.key === "+" ? 1 : -1)));
      if (this.isPlaying()) this.play();
    } else if (event.key === "Escape") this.follow(this.panels[0], -1);
    else return;
    event.preventDefault();
  }

  /** @param {Panel} panel @param {number} id -1: nothing any more */
  follow(panel, id) {
    for (const each of this.panels) each.followed = each === panel && id !== each.followed ? id : -1;
    if (panel.followed < 0) {
      this.followed.replaceChildren("Click an element or a lane to follow its value to the result.");
    } else {
      const {trace} = panel, value = trace.values[id], way = trace.way(id);
      const made = trace.origins(id).map((each) => trace.values[each].place);
      const shown = way.length > 14 ? [...way.slice(0, 7), null, ...way.slice(-6)] : way;
      this.followed.replaceChildren(
        `${value.place} holds ${spell(value.value)}${made.length ? `, made of ${made.slice(0, 8).join(", ")}${made.length > 8 ? ` and ${made.length - 8} more` : ""}` : ""}. `,
        way.length ? "Its way to the result: " : "It does not come to the result.",
        ...shown.flatMap((each, i) => {
          if (each === null) return [" → …"];
          const step = make("button", {type: "button", class: "link", onclick: () => { this.pause(); this.goToStep(panel, each.step); }},
                            [`${each.place}${each.step ? ` (${each.step})` : ""}`]);
          return i ? [" → ", step] : [step];
        }));
    }
    this.refresh();
  }

  /** @param {Panel} panel @param {number} step */
  goToStep(panel, step) {
    this.go(this.isAlone || step === 0 ? step : this.times.indexOf(panel.trace.ends[step - 1]));
  }
}

const player = new Player(pageData(), pageRoot());
