// The dialogs: rules, keys, export, and deciding many at once.

function dialog(title, ...content) {
  const back = document.activeElement;
  const box = h("dialog", { "aria-labelledby": "dialog-title" },
    h("form", { method: "dialog" }, h("h2", { id: "dialog-title" }, title), h("button", { class: "icon close", "aria-label": "Close" }, "\u00d7")), content);
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  box.addEventListener("close", () => { box.remove(); back?.focus?.({ preventScroll: true }); });
  $("dialogs").replaceChildren(box);
  box.showModal();
  return box;
}

function showRule(name) {
  const { mode, level, doc, examples } = data.rules[name];
  const paragraphs = doc.split(/\n\s*\n/).map((part) => (/^(\s|- |\* |\|)/m.test(part) ? h("pre", null, part) : h("p", null, prose(part.replace(/\s+/g, " ")))));
  dialog(name, h("p", { class: "why" }, badge(level), h("span", { class: "badge mode" }, `mode ${mode}`, ` ${MODES[mode]}`)), paragraphs,
    examples.map(([note, before, after]) => h("section", null, h("h3", null, note || (after === null ? "Left alone" : "Example")),
      h("pre", { class: after === null ? "" : "del" }, before.trim()), after === null ? null : h("pre", { class: "add" }, after.trim()))));
}

/** Have the reviewer write what a change's lines should read, and accept that. */
function showEdit(group) {
  if (!group.draft) return say("The page cannot give this file's text back byte for byte: e in symfix review edits it.");
  const area = h("textarea", { rows: "22", "aria-label": "The lines as they should read", spellcheck: "false", wrap: "off" });
  area.value = drafts.get(group.key) ?? group.draft;
  const take = () => {
    const written = area.value.trim() && area.value !== group.draft ? area.value : undefined;
    const changes = written !== drafts.get(group.key);
    box.close();
    if (!changes) return say("Not edited; nothing was decided.");
    write(group, written);
    showChoices([group]);
    return say(`${STATES[choiceOf(group)]}: ${group.findings[0].function}`);
  };
  const box = dialog("Edit the change",
    h("p", null, "Write these lines as they should read. symfix review --import checks them, and apply that the file still parses. Emptied, it is as symfix would write it."),
    area, h("p", { class: "actions" }, h("button", { type: "button", class: "primary", id: "take", click: take }, "Accept as edited")));
  box.addEventListener("click", (event) => { if (event.target === box) event.stopImmediatePropagation(); }, true); // what is written is not lost
  area.setSelectionRange(0, 0);
  return area.focus();
}

const KEYS = [
  ["y", "accept this change, go on to the next undecided"], ["n", "reject it, go on"],
  ["a", "accept the rest of this operator"], ["d", "reject the rest of this operator"],
  ["e", "edit what it writes, and accept that"], ["s", "skip: go on without deciding"], ["u", "undo the last decision"],
  ["j k", "next, previous change"], ["] [", "next, previous operator"], ["/", "search"],
  ["v", "unified or side by side"], ["t", "light or dark"], ["x", "export decisions"], ["?", "these keys"],
];

function showHelp() {
  dialog("Keys", h("table", { class: "keys" }, h("tbody", null, KEYS.map(([keys, what]) => h("tr", null,
    h("th", { scope: "row" }, keys.split(" ").map((key) => h("kbd", null, key))), h("td", null, what))))),
  h("p", null, "Decisions are kept in this browser and leave it with Export; ", h("code", null, "symfix review --import"), " takes the file, and ",
    h("code", null, "symfix apply --accepted"), " writes what was accepted."),
  data.failures.length ? h("section", null, h("h3", null, "Could not be analysed"), h("ul", null, data.failures.map((line) => h("li", null, line)))) : null,
  h("p", { class: "faint" }, `Made by symfix ${data.symfix}.`));
}

function showExport() {
  const document_ = decisionsDocument();
  const count = (choice) => editable.filter((group) => choiceOf(group) === choice).length;
  const accepted = count("accept") + count("edit");
  const name = "symfix-decisions.json";
  const url = URL.createObjectURL(new Blob([document_], { type: "application/json" }));
  const status = h("p", { role: "status" });
  const area = h("textarea", { readonly: true, rows: "6", "aria-label": "The decisions file", spellcheck: "false" });
  area.value = document_;
  const file = h("input", {
    type: "file", accept: ".json,application/json", class: "sr", id: "import",
    change: async (event) => {
      try {
        const [read, taken] = takeDecisions(await event.target.files[0].text());
        showChoices(editable);
        status.textContent = `Took ${taken} of ${plural(read, "decision")}${taken < read ? "; the rest are about other code" : ""}.`;
        area.value = decisionsDocument();
      } catch (error) {
        status.textContent = `That file cannot be read: ${error.message}`;
      }
    },
  });
  const box = dialog("Export decisions",
    h("p", null, `${plural(accepted, "change")} accepted, ${count("reject")} rejected, ${editable.filter((group) => !choiceOf(group)).length} undecided.`),
    h("p", { class: "actions" },
      h("a", { class: "button primary", href: url, download: name, id: "download" }, `Download ${name}`),
      h("button", {
        type: "button", class: "button",
        click: async () => {
          area.select();
          try { await navigator.clipboard.writeText(area.value); status.textContent = "Copied."; } catch { status.textContent = "Selected; copy it with Ctrl+C."; }
        },
      }, "Copy"),
      h("label", { class: "button", for: "import" }, "Load decisions\u2026"), file),
    h("p", null, "Then, in the checkout:"),
    h("pre", { class: "command" }, `symfix review --import ${name}\nsymfix apply --accepted`), area, status);
  box.addEventListener("close", () => URL.revokeObjectURL(url));
}

/** Ask, and decide all that the filters show and that is not decided. */
function showBulk() {
  const some = editable.filter(stillUndecided);
  const where = plural(new Set(some.map((group) => group.shard)).size, "operator");
  const act = (choice) => () => {
    choose(some, choice);
    box.close();
    showChoices(some);
    say(`${STATES[choice]}: ${plural(some.length, "change")} of ${where}`);
  };
  const box = dialog("Decide all that is shown",
    h("p", null, some.length ? `${plural(some.length, "undecided change")} in ${where} match the filters. One undo takes all of it back.`
      : "Every change that the filters show is decided."),
    some.length ? h("p", { class: "actions" },
      h("button", { type: "button", class: "accept", click: act("accept") }, `Accept ${some.length}`),
      h("button", { type: "button", class: "reject", click: act("reject") }, `Reject ${some.length}`)) : null);
}
