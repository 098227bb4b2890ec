// Lines of source: syntax, changed words, diffs in one column or two, with context that unfolds.

const CLOSE = 3; // lines of context shown at first

/** The pieces of a line: its syntax runs, cut where marks begin and end. */
function codeOf(number, marks = [], mark = "mark") {
  const line = data.lines[2 * number];
  const pieces = [];
  let at = 0;
  let m = 0;
  const put = (end, kind) => {
    while (at < end) {
      while (m < marks.length && marks[m] <= at) m++;
      const stop = m < marks.length ? Math.min(end, marks[m]) : end;
      const piece = line.slice(at, stop);
      const inside = m % 2 === 1;
      const inner = kind === " " ? piece : h("span", { class: `s-${kind}` }, piece);
      pieces.push(inside ? h(mark, null, inner) : inner);
      at = stop;
    }
  };
  for (const [, length, kind] of data.lines[2 * number + 1].matchAll(/(\d+)(\D)/g)) put(at + Number(length), kind);
  put(line.length, " ");
  return pieces;
}

/** The rows of a block, with their line numbers: {kind, o, n, old, new, oldMarks, newMarks, place}. */
function rowsOf(block) {
  let { o, n } = block;
  return block.r.map((row) => {
    if (typeof row === "number") return { kind: " ", o: o++, n: n++, old: row, new: row };
    const [kind, first, second, third, fourth] = row;
    if (kind === "-") return { kind, o: o++, old: first, oldMarks: second };
    if (kind === "+") return { kind, n: n++, new: first, newMarks: second };
    if (kind === "~") return { kind, o: o++, n: n++, old: first, new: second, oldMarks: third, newMarks: fourth };
    return { kind, o: o++, n: n++, old: first, new: first, oldMarks: second, place: third };
  });
}

const SIGNS = { "-": "removed: ", "+": "added: " };

function line(kind, o, n, number, marks, more) {
  const sign = SIGNS[kind] && h("span", { class: "sr" }, SIGNS[kind]);
  return h("div", { class: `line ${{ "-": "del", "+": "add", "*": "hit" }[kind] || "same"}` },
    h("span", { class: "no", "data-n": o ?? "" }), h("span", { class: "no", "data-n": n ?? "" }),
    h("span", { class: "code" }, sign, ...codeOf(number, marks)), more);
}

/** The elements of rows one under the other: of neighbouring changes the old lines first, then the new ones. */
function unified(rows) {
  const old = rows.filter((row) => row.old !== undefined);
  if (rows[0].kind === " ") return old.map((row) => line(" ", row.o, row.n, row.old));
  return [
    ...old.map((row) => line("-", row.o, undefined, row.old, row.oldMarks)),
    ...rows.filter((row) => row.new !== undefined).map((row) => line("+", undefined, row.n, row.new, row.newMarks)),
  ];
}

function half(kind, lineNumber, number, marks) {
  if (number === undefined) return [h("span", { class: "no void" }), h("span", { class: "code void" })];
  const name = { "-": "del", "+": "add" }[kind] || "same";
  return [
    h("span", { class: `no ${name}`, "data-n": lineNumber }),
    h("span", { class: `code ${name}` }, SIGNS[kind] && h("span", { class: "sr" }, SIGNS[kind]), ...codeOf(number, marks)),
  ];
}

/** The elements of rows side by side. */
function beside(rows) {
  return rows.map((row) => {
    const same = row.kind === " ";
    return h("div", { class: "pair" },
      half(same ? " " : "-", row.o, row.old, row.oldMarks), half(same ? " " : "+", row.n, row.new, row.newMarks));
  });
}

/** `list` cut where `key` changes. */
function runs(list, key) {
  const out = [];
  list.forEach((item, i) => {
    if (i && key(item) === key(list[i - 1])) out.at(-1).push(item);
    else out.push([item]);
  });
  return out;
}

/** Rows with what `notesOf` says of them beside or below: a change and its reasons stand together. */
function chunks(rows, layout, notesOf) {
  return runs(rows, (row) => row.kind === " " && !notesOf(row).length).flatMap((part) => {
    const lines = runs(part, (row) => row.kind === " ").flatMap(layout);
    const notes = part.flatMap(notesOf);
    return notes.length ? h("div", { class: "chunk" }, h("div", { class: "lines" }, lines), notesFor(notes)) : lines;
  });
}

function unfolder(rows, where, layout, notesOf) {
  return h("button", {
    type: "button", class: "unfold",
    click: (event) => {
      const shown = chunks(rows, layout, notesOf);
      event.currentTarget.replaceWith(...shown);
      shown[0].tabIndex = -1;
      shown[0].focus({ preventScroll: true });
    },
  }, `Show ${plural(rows.length, "more line")} ${where}`);
}

/** One file's diff; `notesOf(row)` gives the findings that stand on a line. */
function diffOf(blocks, split, notesOf) {
  const layout = split ? beside : unified;
  const out = [];
  blocks.forEach((block, index) => {
    if (index) out.push(h("div", { class: "gap", "aria-hidden": "true" }));
    const rows = rowsOf(block);
    const told = rows.map((row) => row.kind !== " " || notesOf(row).length > 0);
    const near = new Map(rows.map((row, i) => [row, told.slice(Math.max(0, i - CLOSE), i + CLOSE + 1).includes(true)]));
    const parts = runs(rows, (row) => near.get(row));
    parts.forEach((part, i) => {
      const where = i === 0 ? "above" : i === parts.length - 1 ? "below" : "between";
      if (near.get(part[0]) || (part.length < 3 && where === "between")) out.push(...chunks(part, layout, notesOf));
      else out.push(unfolder(part, where, layout, notesOf));
    });
  });
  return h("div", { class: `diff ${split ? "split" : "unified"}` }, out);
}

/** Source as it stands; `noteOf(row)` is what stands beside a line of a path. */
function excerptOf(blocks, noteOf) {
  const out = [];
  blocks.forEach((block, index) => {
    if (index) out.push(h("div", { class: "gap", "aria-hidden": "true" }));
    out.push(...rowsOf(block).map((row) => line(row.kind, row.o, row.n, row.old, row.oldMarks, row.place && noteOf(row))));
  });
  return h("div", { class: "diff excerpt" }, out);
}
