// Filters, and the answers of what was clicked in the matrix.

const data = JSON.parse($("data").textContent);
const MOST = 100; // cards at once
const NAMED = 8; // operators and modes at one condition
const picked = { row: null, column: null };
const rows = [...document.querySelectorAll("#matrix tbody tr")].map((element) => ({
  element, asks: "asks" in element.dataset, name: element.querySelector("th").textContent,
}));
const buttons = [...document.querySelectorAll(".pick")];

const numberOf = (element, key) => (key in element.dataset ? Number(element.dataset[key]) : null);
const labelOf = (answer) => `${rows[answer.row]?.name ?? ""} ${data.columns[answer.column] ?? ""}`.trim();

/** Whether the filters above the matrix let an answer through. */
function passes(answer) {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  answer.hay ??= [labelOf(answer), answer.text, answer.place, answer.user, answer.finding].join("\n").toLowerCase();
  return (!$("asking").checked || answer.asks)
    && (!$("by-kind").value || answer.kind === $("by-kind").value)
    && (!$("by-owner").value || answer.owner === $("by-owner").value)
    && words.every((word) => answer.hay.includes(word));
}

function show() {
  const matching = data.answers.filter(passes);
  const narrowed = Boolean($("by-kind").value || $("by-owner").value);
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const met = new Set(matching.map((answer) => answer.row));
  const cells = new Set(matching.map((answer) => `${answer.row} ${answer.column}`));
  let count = 0;
  rows.forEach((row, number) => {
    const named = !narrowed && words.every((word) => row.name.toLowerCase().includes(word));
    const shown = met.has(number) || (named && (row.asks || !$("asking").checked));
    row.element.hidden = !shown;
    count += shown;
  });
  for (const button of buttons) {
    const [row, column] = [numberOf(button, "row"), numberOf(button, "column")];
    button.setAttribute("aria-pressed", String((row !== null || column !== null) && row === picked.row && column === picked.column));
    if (row !== null && column !== null) button.classList.toggle("off", narrowed && !cells.has(`${row} ${column}`));
  }
  const chosen = matching.filter((answer) => (picked.row === null || answer.row === picked.row)
    && (picked.column === null || answer.column === picked.column));
  $("matches").textContent = `${plural(count, "row")}, ${plural(chosen.length, "answer")}`;
  $("clear").hidden = !(narrowed || words.length || picked.row !== null || picked.column !== null);
  const name = [picked.row === null ? "" : rows[picked.row].name, picked.column === null ? "" : data.columns[picked.column]];
  $("answers-title").textContent = name.some(Boolean) ? `Answers: ${name.join(" ").trim()}` : "Answers";
  $("list").replaceChildren(...cellCards(), ...causes(chosen));
}

/** What the deciding case of the clicked mode says, and the script that shows it. */
function cellCards() {
  return data.columns.flatMap((column, number) => {
    const cell = picked.row === null || (picked.column !== null && picked.column !== number) ? null : data.cells[`${picked.row} ${number}`];
    if (!cell) return [];
    return [h("article", { class: "card" },
      h("h3", null, `${column}: ${cell.status}`),
      cell.message && h("p", null, cell.message),
      cell.script && h("details", null, h("summary", null, "A script that shows it"), h("pre", { tabindex: "0" }, cell.script)))];
  });
}

/** A card for each line that caused something, those with the most answers first. */
function causes(answers) {
  const groups = new Map();
  for (const answer of answers) {
    const key = JSON.stringify([answer.kind, answer.place, answer.whose]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(answer);
  }
  const kinds = Object.keys(data.kinds);
  const ordered = [...groups.values()].sort((a, b) => kinds.indexOf(a[0].kind) - kinds.indexOf(b[0].kind) || b.length - a.length);
  const cards = ordered.slice(0, MOST).map(card);
  if (ordered.length > MOST) cards.push(h("p", { class: "faint" }, `${plural(ordered.length - MOST, "line")} more: filter, or click a cell`));
  if (!ordered.length) cards.push(h("p", { class: "faint" }, "Nothing here."));
  return cards;
}

function card(group) {
  const [first] = group;
  const about = new Map();
  for (const answer of group) about.set(answer.text, [...(about.get(answer.text) || []), answer]);
  const items = [...about].map(([text, same]) => {
    const names = [...new Set(same.map(labelOf))];
    const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
    const users = [...new Set(same.map((answer) => answer.user).filter(Boolean))];
    return h("li", null, h("code", null, text), " ", h("span", { class: "faint" }, names.slice(0, NAMED).join(", ") + more),
      users.slice(0, NAMED).map((user) => h("div", { class: "place" }, `from ${user}`)));
  });
  const said = (key) => [...new Set(group.map((answer) => answer[key]).filter(Boolean))];
  return h("article", { class: "card" },
    h("h3", null, h("span", { class: `badge ${first.kind}`, title: data.kinds[first.kind] }, first.kind), first.place || "no line is named"),
    first.whose && h("p", { class: "faint" }, first.whose),
    h("ul", null, items),
    said("advice").map((text) => h("p", null, text)),
    said("finding").map((text) => h("p", null, text)),
    said("command").map((text) => h("pre", { tabindex: "0" }, text)));
}

function pick(row, column) {
  const again = row === picked.row && column === picked.column;
  picked.row = again ? null : row;
  picked.column = again ? null : column;
  show();
}

for (const button of buttons) {
  button.addEventListener("click", () => pick(numberOf(button, "row"), numberOf(button, "column")));
}
for (const name of ["search", "by-kind", "by-owner", "asking"]) $(name).addEventListener("input", show);
$("filters").addEventListener("submit", (event) => event.preventDefault());
$("clear").addEventListener("click", () => {
  for (const name of ["search", "by-kind", "by-owner"]) $(name).value = "";
  pick(null, null);
  $("search").focus();
});
$("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = dark() ? "light" : "dark";
  setting("theme", document.documentElement.dataset.theme);
});
if (setting("theme")) document.documentElement.dataset.theme = setting("theme");
show();
