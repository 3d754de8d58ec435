// A grid of partitions by keyboard: one tab stop, arrows inside, and a line that says where one is.
(() => {
  "use strict";

  const cells = (grid) => [...grid.querySelectorAll("a.c")];
  const table = (node) => node.closest?.("table[data-grid]");

  const settle = (grid) => {
    const all = cells(grid);
    const stop = all.find((cell) => cell === document.activeElement) ?? all.find((cell) => cell.ariaCurrent) ?? all[0];
    for (const cell of all) cell.tabIndex = cell === stop ? 0 : -1;
  };
  const settleAll = () => document.querySelectorAll("table[data-grid]").forEach(settle);

  const tell = (cell) => {
    const line = document.getElementById("readout");
    if (line && cell) line.textContent = cell.getAttribute("aria-label");
  };

  const rowsOf = (grid) => [...grid.rows].filter((row) => row.querySelector("a.c"));

  const onward = (cell, grid, key) => {
    const all = cells(grid);
    const at = all.indexOf(cell);
    if (key === "ArrowRight") return all[at + 1];
    if (key === "ArrowLeft") return all[at - 1];
    const row = cell.closest("tr");
    if (key === "Home") return row.querySelector("a.c");
    if (key === "End") return [...row.querySelectorAll("a.c")].at(-1);
    const rows = rowsOf(grid);
    const next = rows[rows.indexOf(row) + { ArrowDown: 1, ArrowUp: -1, PageDown: 7, PageUp: -7 }[key]];
    if (!next) return undefined;
    const column = cell.closest("td").cellIndex - (row.cells.length - next.cells.length);
    return next.cells[column]?.querySelector("a.c") ?? [...next.querySelectorAll("a.c")].at(-1);
  };

  document.addEventListener("keydown", (event) => {
    const cell = event.target.closest?.("a.c");
    const grid = cell && table(cell);
    if (!grid || !/^(Arrow|Home|End|Page)/.test(event.key) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = onward(cell, grid, event.key);
    if (!next) return;
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  document.addEventListener("click", ({ target }) => {
    const cell = target.closest?.("table[data-grid] a.c");
    for (const other of cell ? cells(table(cell)) : []) other.ariaCurrent = other === cell ? "true" : null;
  });
  document.addEventListener("focusin", ({ target }) => { tell(target.closest?.("table[data-grid] a.c, .flow a.c")); });
  document.addEventListener("pointerover", ({ target }) => {
    tell(target.closest?.("table[data-grid] a.c, .flow .c, .bar.tall a"));
  });
  document.addEventListener("htmx:afterSettle", settleAll);
  settleAll();
})();
