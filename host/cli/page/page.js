// @ts-check
// What the scripts of all pages begin with.
"use strict";

/**
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {(Node | string)[]} [children]
 * @returns {any}
 */
function make(tag, attributes = {}, children = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  element.append(...children);
  return element;
}

/** @param {string} tag @param {Record<string, any>} attributes @returns {any} */
function draw(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** @param {number} count @param {string} one @param {string} [many] */
const counted = (count, one, many = one + "s") => `${count} ${count === 1 ? one : many}`;

/** What the program wrote into the page. */
const pageData = () => JSON.parse(/** @type {any} */ (document.getElementById("data")).textContent);

/** Where the script shows it. @returns {HTMLElement} */
const pageRoot = () => /** @type {any} */ (document.getElementById("page"));

// A page around this one has a heading of its own, and says which of light and dark its reader chose.
document.documentElement.classList.toggle("embedded", window.parent !== window);
window.addEventListener("message", ({data}) => {
  if (data && ["light", "dark", "auto"].includes(data.theme)) document.documentElement.dataset.theme = data.theme;
});
