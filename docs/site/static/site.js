// What a page does for its reader, where scripts run.
"use strict";

/** What is worth copying of a block of code: of a console the commands, of other code all but the line numbers. */
function copied(block) {
  const code = block.querySelector("pre").cloneNode(true);
  code.querySelectorAll(".linenos").forEach((number) => number.remove());
  const commands = [...code.textContent.matchAll(/^\$ (.*\n)/gm)].map(([, command]) => command);
  return block.matches(".highlight-console") ? commands.join("") : code.textContent;
}

function addCopyButton(block) {
  const button = document.createElement("button");
  button.className = "copy";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(copied(block));
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.firstElementChild.prepend(button);
}

// A browser gives pages the clipboard only if it trusts where they come from. A diff is no code to run.
if (navigator.clipboard) {
  document.querySelectorAll("[class*='highlight-']:not(.highlight-diff)").forEach(addCopyButton);
}

// Without a pointer, only what has the focus can be scrolled sideways.
const scrolled = new ResizeObserver((entries) => entries.forEach(({target}) => {
  if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
  else target.removeAttribute("tabindex");
}));
document.querySelectorAll(".table-wrapper, .highlight pre").forEach((element) => scrolled.observe(element));

// A drawing leads to itself. By itself a phone shows it no larger than the page does, so there it opens here.
const dialog = document.createElement("dialog");
dialog.className = "drawing";
dialog.innerHTML = "<form method='dialog'><button>Close</button></form><div></div>";
document.body.append(dialog);
document.querySelectorAll("article a > img").forEach((image) => image.addEventListener("click", (event) => {
  if (image.width >= image.naturalWidth) return;
  event.preventDefault();
  dialog.lastElementChild.replaceChildren(image.cloneNode());
  dialog.showModal();
}));

// A page that the program wrote, such as a player, which takes the place of the drawing above it but in print. It
// is loaded when it is about to be seen, and follows the theme that the reader chose.
const near = new IntersectionObserver((entries) => entries.forEach(({isIntersecting, target}) => {
  if (!isIntersecting) return;
  near.unobserve(target);
  target.src = target.dataset.page;
}), {rootMargin: "300px"});
const tellTheme = (frame) => frame.contentWindow.postMessage({theme: document.body.dataset.theme}, "*");
const frames = [...document.querySelectorAll(".player")].map((place) => {
  const link = place.querySelector("a"), frame = document.createElement("iframe");
  frame.title = place.dataset.title;
  const isStep = /^#(view|step)=/.test(location.hash);  // #step=17 leads to a step here, too
  frame.dataset.page = link.href + (isStep ? location.hash : "");
  frame.addEventListener("load", () => tellTheme(frame));
  if (place.previousElementSibling.querySelector(":scope > a > img, :scope > img")) place.previousElementSibling.classList.add("still");
  link.textContent = "In a page of its own";
  place.prepend(frame);
  near.observe(frame);
  if (isStep) place.scrollIntoView({behavior: "instant"});
  return frame;
});
new MutationObserver(() => frames.forEach(tellTheme)).observe(document.body, {attributeFilter: ["data-theme"]});
