// As much of a browser's document as the page's script asks of it, made from ELEMENTS: [tag, attributes, text, children].
class Element {
  constructor(tag, attributes, text, children) {
    Object.assign(this, { tag, attributes, own: text, children: [], heard: {}, dataset: {}, hidden: "hidden" in attributes });
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("data-")) this.dataset[name.slice(5)] = value;
    }
    this.classes = new Set((attributes.class || "").split(" "));
    this.classList = { toggle: (name, on) => (on ? this.classes.add(name) : this.classes.delete(name)) };
    this.value = "";
    this.checked = "checked" in attributes;
    this.append(...children);
  }
  append(...children) { this.children.push(...children.map((c) => (c instanceof Element ? c : new Element("#text", {}, String(c), [])))); }
  replaceChildren(...children) { this.children = []; this.append(...children); }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  addEventListener(name, listener) { this.heard[name] = listener; }
  get textContent() { return this.own + this.children.map((child) => child.textContent).join(""); }
  set textContent(text) { this.own = text; this.children = []; }
  focus() {}
  fire(name) { this.heard[name]({ preventDefault() {} }); }
  all() { return [this, ...this.children.flatMap((child) => child.all())]; }
  querySelector(tag) { return this.all().find((element) => element.tag === tag); }
}
const made = ([tag, attributes, text, children]) => new Element(tag, attributes, text, children.map(made));
const root = made(ELEMENTS);
globalThis.document = {
  documentElement: root,
  getElementById: (id) => root.all().find((element) => element.attributes.id === id),
  createElement: (tag) => new Element(tag, {}, "", []),
  querySelectorAll: (query) => root.all().filter((e) => (query === ".pick" ? e.classes.has("pick") : e.tag === "tr" && "row" in e.dataset)),
};
globalThis.localStorage = { getItem: () => null, setItem() {} };
