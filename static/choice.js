// A selection of partitions on a grid: dragged, shift-clicked, by its heads or by keys. It is written as text into
// the address; the server says what it means and draws it.
(() => {
  "use strict";

  const STEP = /^(Arrow|Home|End|Page)/;
  const cells = (grid) => [...grid.querySelectorAll("a.c")];
  const cellOf = (node) => node.closest?.("table[data-grid] a.c") ?? null;
  const gridOf = (node) => node.closest?.("table[data-grid]") ?? null;
  const rowOf = (cell) => cell.closest("tr");
  const columnOf = (cell) => cell.closest("td").cellIndex;

  let anchor = null; // where a range begins
  let from = null; // the square on which a button of the mouse went down
  let swallow = false; // the click that ends a drag opens nothing

  const between = (grid, first, last) => {
    const all = cells(grid);
    const inside = (a, b, at) => at >= Math.min(a, b) && at <= Math.max(a, b);
    if (grid.dataset.grid === "line") {
      return all.filter((_, at) => inside(all.indexOf(first), all.indexOf(last), at));
    }
    return all.filter((cell) =>
      inside(rowOf(first).rowIndex, rowOf(last).rowIndex, rowOf(cell).rowIndex)
      && inside(columnOf(first), columnOf(last), columnOf(cell)));
  };

  const show = (grid, chosen) => {
    grid.dataset.choosing = "";
    const on = new Set(chosen);
    for (const cell of cells(grid)) cell.classList.toggle("on", on.has(cell));
  };

  const quoted = (key) =>
    /^[^,[\]*"]+$/.test(key) && key === key.trim() && !key.includes("...")
      ? key
      : `"${key.replace(/[\\"]/g, "\\$&")}"`;

  // The segment of a square that its column stands for: of its key, or the period it leads into.
  const segment = (cell, before) => {
    const query = new URLSearchParams(cell.search);
    if (cell.dataset.part) return query.get("zoom");
    return quoted(query.get("key").split("|")[before.split("|").length - 1]);
  };

  // Runs of squares side by side. In a calendar the next row goes on where the last one ended. No range begins or
  // ends at a key that the definition does not have; where nothing else is selected the server says what is wrong.
  const spans = (grid) => {
    const isKnown = cells(grid).some((cell) => cell.matches(".on:not(.x)"));
    const found = [];
    let open = null;
    for (const cell of cells(grid)) {
      const row = rowOf(cell);
      const { before = "", after = "" } = row.dataset;
      const goesOn = !("each" in grid.dataset && !cell.dataset.part) && open?.before === before && open.after === after && (grid.dataset.grid === "line" || open.row === row);
      if (!cell.classList.contains("on") || "unwritten" in row.dataset) open = null;
      else if (isKnown && cell.classList.contains("x")) continue;
      else if (goesOn) open.last = cell;
      else found.push(open = { before, after, row, first: cell, last: cell });
    }
    return found;
  };

  const text = (grid) => {
    const rows = new Map(); // the rows in which the same stretch is selected
    for (const { before, after, first, last } of spans(grid)) {
      const [start, end] = [segment(first, before), segment(last, before)];
      const stretch = start === end && !first.dataset.part ? start : `[${start}...${end}]`;
      rows.set(stretch, [...(rows.get(stretch) ?? []), [before, after]]);
    }
    const heights = new Set(cells(grid).map(rowOf)).size;
    const terms = [];
    for (const [stretch, around] of rows) {
      const [before, after] = around[0];
      const everyRow = "whole" in grid.dataset && grid.dataset.grid === "box" && around.length === heights;
      if (everyRow && (before + after).split("|").length === 2) terms.push(before ? `*|${stretch}` : `${stretch}|*`);
      else for (const [ahead, behind] of around) terms.push(ahead + stretch + behind);
    }
    return terms.join(", ");
  };

  // The bar says what is selected and offers what can be done with it. While another selection is asked for it does
  // neither: what it says is not what is asked for any more.
  const wanted = (address) => {
    const query = new URL(address, location).searchParams;
    return `${query.get("sel") ?? ""} ${query.get("only") ?? ""}`;
  };
  let drawn = wanted(location);
  const wait = (isWaiting) => {
    const bar = document.querySelector(".choice");
    if (!bar) return;
    bar.ariaBusy = isWaiting ? "true" : null;
    for (const part of bar.querySelectorAll(".acts, .chips")) part.inert = isWaiting;
  };
  document.addEventListener("htmx:beforeSend", ({ detail }) => {
    if (detail.target.id === "board" && wanted(detail.pathInfo.finalRequestPath) !== drawn) wait(true);
  });
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.target.id !== "board") return;
    if (detail.successful) drawn = wanted(detail.pathInfo.finalRequestPath);
    wait(false);
  });

  const write = (words) => {
    const address = new URL(location);
    address.searchParams.delete("only");
    if (words) address.searchParams.set("sel", words);
    else address.searchParams.delete("sel");
    history.replaceState(history.state, "", address);
    if (wanted(address) !== drawn) wait(true);
    htmx.trigger(document.getElementById("board"), "refresh");
  };
  const settle = (grid) => {
    delete grid.dataset.choosing;
    write(text(grid));
  };
  const choose = (grid, chosen) => {
    show(grid, chosen);
    settle(grid);
  };
  const inRow = (grid, row) => cells(grid).filter((cell) => rowOf(cell) === row);
  const inColumn = (grid, column) => cells(grid).filter((cell) => columnOf(cell) === column);

  document.addEventListener("pointerdown", (event) => {
    swallow = false;
    const plain = event.pointerType === "mouse" && !event.button && !event.shiftKey && !event.ctrlKey && !event.metaKey;
    from = plain ? cellOf(event.target) : null;
  });
  document.addEventListener("pointerover", ({ target, buttons }) => {
    const cell = cellOf(target);
    if (!from?.isConnected || !cell || !(buttons & 1) || gridOf(cell) !== gridOf(from)) return;
    if (cell === from && !swallow) return;
    swallow = true;
    show(gridOf(cell), between(gridOf(cell), from, cell));
  });
  document.addEventListener("pointerup", () => {
    if (swallow && from?.isConnected) {
      anchor = from;
      settle(gridOf(from));
    }
    from = null;
  });
  // A finger that rests on a square selects; one that moves at once scrolls, as everywhere.
  const REST = 450;
  const WANDERS = 10; // pixels
  let resting = null; // where it went down, and what waits for it
  const lift = () => {
    clearTimeout(resting?.timer);
    resting = null;
  };
  const isSelecting = () => Boolean(resting?.began && from?.isConnected);
  // A grid that is larger than its box goes on under a finger at the edge of the box.
  const EDGE = 28;
  const onward = (box, x, y) => {
    const { left, right, top, bottom } = box.getBoundingClientRect();
    box.scrollBy((x > right - EDGE) * EDGE - (x < left + EDGE) * EDGE, (y > bottom - EDGE) * EDGE - (y < top + EDGE) * EDGE);
  };
  const begin = () => {
    if (!resting.cell.isConnected) return lift();
    resting.began = swallow = true;
    from = resting.cell;
    show(gridOf(from), [from]);
    navigator.vibrate?.(10);
  };
  document.addEventListener("pointerdown", (event) => {
    lift();
    const cell = event.pointerType !== "mouse" && event.isPrimary && cellOf(event.target);
    if (cell) resting = { cell, x: event.clientX, y: event.clientY, timer: setTimeout(begin, REST) };
  });
  document.addEventListener("pointermove", ({ pointerType, clientX, clientY }) => {
    if (!resting || pointerType === "mouse") return;
    if (!isSelecting()) {
      if (Math.hypot(clientX - resting.x, clientY - resting.y) > WANDERS) lift();
      return;
    }
    onward(gridOf(from).parentElement, clientX, clientY);
    const cell = cellOf(document.elementFromPoint(clientX, clientY) ?? document.body);
    if (cell && gridOf(cell) === gridOf(from)) show(gridOf(cell), between(gridOf(cell), from, cell));
  });
  document.addEventListener("touchmove", (event) => { if (isSelecting() && event.cancelable) event.preventDefault(); }, { passive: false });
  document.addEventListener("contextmenu", (event) => { if (resting && cellOf(event.target)) event.preventDefault(); });
  document.addEventListener("pointerup", lift);
  document.addEventListener("pointercancel", () => {
    if (isSelecting()) settle(gridOf(from));
    from = null;
    lift();
  });

  document.addEventListener("dragstart", (event) => { if (cellOf(event.target)) event.preventDefault(); });

  document.addEventListener("click", (event) => {
    const [grid, cell] = [gridOf(event.target), cellOf(event.target)];
    if (!grid) return;
    const head = event.target.closest("th");
    if (swallow || (cell && event.shiftKey)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      if (!swallow) choose(grid, between(grid, anchor?.isConnected ? anchor : cell, cell));
      swallow = false;
    } else if (cell) anchor = cell;
    else if (head && (event.shiftKey || !event.target.closest("a"))) {
      event.preventDefault();
      event.stopImmediatePropagation();
      if (head.scope === "col") choose(grid, inColumn(grid, head.cellIndex));
      else if (head.scope === "row") choose(grid, inRow(grid, head.parentNode));
    }
  }, true);

  // Runs after grid.js has moved the focus.
  document.addEventListener("keydown", (event) => {
    const [grid, cell] = [gridOf(event.target), cellOf(event.target)];
    if (!cell) return;
    if (STEP.test(event.key)) {
      if (!event.shiftKey) anchor = null;
      else {
        anchor = anchor?.isConnected ? anchor : cell;
        show(grid, between(grid, anchor, cellOf(document.activeElement) ?? cell));
      }
    } else if (event.key === " " && (event.shiftKey || event.ctrlKey)) {
      event.preventDefault();
      choose(grid, event.shiftKey ? inRow(grid, rowOf(cell)) : inColumn(grid, columnOf(cell)));
    } else if (event.key === " ") {
      event.preventDefault();
      anchor = cell;
      choose(grid, [cell]);
    } else if (event.key === "Tab" && !event.shiftKey && grid.querySelector(".on")) {
      // To what can be done with the selection, past the heads of all rows below.
      const first = document.querySelector(".choice .acts :is(a, button)");
      if (first) {
        event.preventDefault();
        first.focus();
      }
    } else if (event.key === "Escape" && grid.querySelector(".on")) choose(grid, []);
  });
  document.addEventListener("keyup", ({ key }) => {
    const grid = key === "Shift" && document.querySelector("table[data-grid][data-choosing]");
    if (grid) settle(grid);
  });
})();
