// Small tools of every page. All text enters a page as text, never as HTML.

const $ = (id) => document.getElementById(id);

/** An element. Of `props`, functions listen, `class` and `data-`/`aria-` are attributes, null and false are left out. */
function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function setting(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(`symfix-${name}`);
    localStorage.setItem(`symfix-${name}`, value);
  } catch { /* a browser that keeps nothing */ }
  return null;
}

const dark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

