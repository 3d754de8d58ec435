// A panel about one thing of a grid or a list. One goes to it where it lies below what it is about, and back to
// where one came from when it is closed. Beside a list it is gone to in any case: the lines between are many.
(() => {
  "use strict";

  let opener = null; // the link for which it is on its way
  let origin = null; // the link of a list that opened it
  const isOpen = (panel) => panel.hasAttribute("hx-get");
  const goTo = (panel) => {
    panel.tabIndex = -1;
    panel.focus({ preventScroll: true });
  };
  const bring = (panel) => {
    if (panel.getBoundingClientRect().top < innerHeight - 120) return;
    goTo(panel);
    panel.scrollIntoView();
  };
  const mark = (row) => {
    for (const other of document.querySelectorAll("tr[aria-current]")) other.ariaCurrent = null;
    if (row) row.ariaCurrent = "true";
  };
  const leave = () => {
    mark(null);
    (origin?.isConnected ? origin : document.querySelector("table[data-grid] a.c[tabindex='0']"))?.focus();
    origin = null;
  };

  document.addEventListener("panel", ({ target }) => { opener = target; });
  document.addEventListener("htmx:afterSettle", ({ detail }) => {
    if (detail.elt.id !== "panel" || !opener) return;
    const link = opener;
    opener = null;
    if (!isOpen(detail.elt)) return leave();
    if (link.dataset.beside) {
      origin = link;
      mark(link.closest("tr"));
      goTo(detail.elt);
    } else bring(detail.elt);
  });
  const isFresh = performance.getEntriesByType("navigation")[0]?.type === "navigate";
  const linked = document.getElementById("panel");
  if (isFresh && linked && isOpen(linked)) bring(linked);
})();
