// The key ? shows the keys that pages know; so does a button at the foot of each page.
(() => {
  "use strict";

  const help = document.getElementById("keyboard");
  if (!help) return;
  const isTyping = (node) => node.isContentEditable || node.matches?.("input:not([type=checkbox], [type=radio]), textarea, select");
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    event.preventDefault();
    if (help.open) help.close();
    else if (!document.querySelector("dialog[open]")) help.showModal();
  });
  document.addEventListener("click", ({ target }) => {
    if (target.closest?.("[data-keys]")) help.showModal();
    else if (target === help || target.closest?.("[data-close-keys]")) help.close();
  });
  for (const button of document.querySelectorAll("[data-keys]")) button.hidden = false;
})();
