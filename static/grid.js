// A grid of partitions by keyboard: one tab stop, arrows inside, a line that says where one is, and + and - to zoom.
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

  const REST = 250; // milliseconds on a square before more is asked about it
  let told = null;
  let timer = 0;
  const tell = (cell) => {
    const line = document.getElementById("readout");
    if (!line || !cell || (cell === told && line.dataset.told)) return;
    told = cell;
    line.dataset.told = "yes";
    line.textContent = cell.getAttribute("aria-label");
    clearTimeout(timer);
    const key = table(cell) && new URLSearchParams(cell.search).get("key");
    if (!key || cell.dataset.part) return;
    cell.setAttribute("aria-describedby", "readout");
    timer = setTimeout(more, REST, cell, key);
  };
  const more = async (cell, key) => {
    const headers = { "HX-Request": "true", "HX-Target": "readout" };
    const answer = await fetch(`${location.pathname}?${new URLSearchParams({ key })}`, { headers }).catch(() => null);
    const words = answer?.ok && !answer.redirected ? await answer.text() : "";
    if (cell === told && cell.isConnected) document.getElementById("readout")?.insertAdjacentHTML("beforeend", words);
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
  // Into the stretch or the square of many that one points at, and back out.
  const deeper = () => document.querySelector(".bar.tall a:is(:hover, :focus), table[data-grid] a.c[data-part]:is(:hover, :focus)");
  const shallower = () => [...document.querySelectorAll("#board .crumbs a")].at(-1);
  const follow = (link) => {
    link?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
    return Boolean(link);
  };
  const isTyping = (node) => node.matches?.("input, textarea, select");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if ("+=-".includes(event.key) && follow(event.key === "-" ? shallower() : deeper())) event.preventDefault();
  });
  let turned = -Infinity;
  document.addEventListener("wheel", (event) => {
    if (!event.ctrlKey || !event.target.closest?.(".bar.tall")) return;
    event.preventDefault();
    if (performance.now() - turned < 400) return;
    turned = performance.now();
    follow(event.deltaY < 0 ? event.target.closest(".bar.tall a") : shallower());
  }, { passive: false });

  // What is selected or linked may lie beyond the edge of the grid's own box: the box goes there, once.
  const asked = () => ["sel", "key"].map((name) => new URLSearchParams(location.search).get(name)).join(" ");
  let revealed = " ";
  const reveal = () => {
    const box = document.querySelector(".gridbox");
    if (!box || asked() === revealed) return;
    revealed = asked();
    const marked = [...box.querySelectorAll("a.c:is(.on, [aria-current])")].map((cell) => cell.getBoundingClientRect());
    const edge = box.getBoundingClientRect();
    const left = box.querySelector("tbody th[scope=row]")?.getBoundingClientRect().right ?? edge.left;
    const top = box.querySelector("thead")?.getBoundingClientRect().bottom ?? edge.top;
    const sees = (cell) => cell.left >= left && cell.right <= edge.right && cell.top >= top && cell.bottom <= edge.bottom;
    if (marked.length && !marked.some(sees)) box.scrollBy(marked[0].left - left - 8, marked[0].top - top - 8);
  };
  document.querySelector(".lineage .on")?.scrollIntoView({ inline: "center", block: "nearest" });
  // One who zooms by keyboard goes on where they have come to: at the period they come out of, or at the first square.
  let left = null; // the period that is left
  document.addEventListener("click", ({ target, detail }) => {
    const board = target.closest?.("#board");
    if (board) left = !detail && board.contains(document.activeElement) ? new URLSearchParams(location.search).get("zoom") ?? "" : null;
  }, true);
  const goOn = () => {
    if (left === null || document.activeElement !== document.body) return;
    const all = [...document.querySelectorAll("table[data-grid] a.c")];
    const back = all.find((cell) => left && new URLSearchParams(cell.search).get("zoom") === left);
    (back ?? all.find((cell) => cell.tabIndex === 0) ?? document.querySelector("#board a.key"))?.focus();
    left = null;
  };
  for (const act of [settleAll, goOn, settleAll, reveal]) {
    document.addEventListener("htmx:afterSettle", act);
    act();
  }
})();
