// Rows of a list that are ticked, to act on several at once. What is ticked is written into the address; the server
// draws the rows and the bar of deeds from there. The address is what counts, not the boxes: a part that is polled may
// have been asked for before the last tick.
(() => {
  "use strict";

  const boxes = () => [...document.querySelectorAll("input[form=selected][name=sel]")];
  const isBox = (node) => Boolean(node?.matches?.("input[form=selected][name=sel]"));
  const all = () => document.querySelector("[data-pick-all]");
  const bar = () => document.getElementById("selected");

  let anchor = null; // the number of the row where a stretch begins
  let isAsked = false; // whether the question that is open is about what is ticked

  // The numbers of the rows that are ticked. Where all that match are, they are those of this page from here on.
  const ticked = () => {
    const sel = new URLSearchParams(location.search).getAll("sel").join(",");
    return new Set(sel === "all" ? boxes().map((box) => box.value) : sel.split(",").filter(Boolean));
  };
  // While another selection is asked for, the bar offers nothing: what it says is not what is ticked any more.
  const draw = () => {
    if (!bar()) return;
    const on = ticked();
    const isOld = bar().dataset.drawn !== new URLSearchParams(location.search).getAll("sel").join(",");
    bar().ariaBusy = isOld ? "true" : null;
    for (const acts of bar().querySelectorAll(".acts")) acts.inert = isOld;
    for (const box of boxes()) box.checked = on.has(box.value);
    const head = all();
    if (!head) return;
    head.checked = boxes().length > 0 && boxes().every((box) => box.checked);
    head.indeterminate = !head.checked && boxes().some((box) => box.checked);
  };
  const write = (sel) => {
    const address = new URL(location);
    address.searchParams.delete("sel");
    if (sel) address.searchParams.set("sel", sel);
    history.replaceState(history.state, "", address.href.replaceAll("%2C", ","));
    draw();
    htmx.trigger(document.getElementById("rows"), "refresh");
  };
  const put = (some, on) => {
    const numbers = ticked();
    for (const box of some) numbers[on ? "add" : "delete"](box.value);
    write([...numbers].join(","));
  };
  const between = (first, last) => {
    const list = boxes();
    const ends = [list.indexOf(first), list.indexOf(last)].sort((a, b) => a - b);
    return list.slice(ends[0], ends[1] + 1);
  };

  document.addEventListener("click", (event) => {
    const { target } = event;
    if (isBox(target)) {
      const from = boxes().find((box) => box.value === anchor);
      put(event.shiftKey && from ? between(from, target) : [target], target.checked);
      anchor = target.value;
    } else if (target === all()) put(boxes(), target.checked);
    else if (target.closest?.("#selected [data-sel]") && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      event.stopImmediatePropagation();
      write(target.closest("[data-sel]").dataset.sel);
      (boxes()[0] ?? document.body).focus();
    }
  }, true);

  document.addEventListener("keydown", (event) => {
    const box = event.target;
    if (!isBox(box) || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const next = boxes()[boxes().indexOf(box) + step];
      next?.focus();
      if (next && event.shiftKey) put([box, next], true);
    } else if (event.key === "Enter") { // to what can be done with them, past the rows below
      event.preventDefault();
      document.querySelector("#selected .acts :is(a, button):not([data-sel])")?.focus();
    } else if (event.key === "Escape") write("");
  });

  // What was acted on is ticked no more; what was refused still is, to try again: the dialog that tells of it says which.
  document.addEventListener("click", ({ target }) => {
    const link = target.closest?.("[data-dialog]");
    if (link) isAsked = Boolean(link.closest("#selected"));
  });
  const forget = () => {
    if (!isAsked) return;
    isAsked = false;
    const address = new URL(location);
    address.searchParams.delete("sel");
    const kept = document.querySelector("#dialog [data-kept]")?.dataset.kept;
    if (kept) address.searchParams.set("sel", kept);
    history.replaceState(history.state, "", address.href.replaceAll("%2C", ","));
  };
  document.addEventListener("done", forget, true);
  document.addEventListener("changed", forget, true);

  document.addEventListener("htmx:afterSettle", draw);
  draw();
})();
