// A plan of a backfill is started as it was seen. What it is called changes nothing of it, and is carried along
// while somebody types; a press on a plan that is being worked out anew, or was in the meantime, starts nothing
// and says so.
(() => {
  "use strict";

  const asked = document.getElementById("ask");
  if (!asked) return;
  const plan = () => document.getElementById("plan");
  const token = () => plan().querySelector("[name=plan]")?.value;
  const say = () => {
    const words = "Not started: the plan was worked out anew. Look at it and press again.";
    document.body.dispatchEvent(new CustomEvent("say", { detail: { words, time: 9000 } }));
  };

  const titled = (address) => {
    const { value } = asked.elements.title;
    if (value) address.searchParams.set("title", value);
    else address.searchParams.delete("title");
    return address;
  };
  const carry = () => {
    const field = plan().querySelector("[name=title]");
    if (field) field.value = asked.elements.title.value;
    for (const link of plan().querySelectorAll("a[href]")) {
      if (link.pathname === location.pathname) link.href = titled(new URL(link.href));
    }
  };
  asked.elements.title.addEventListener("input", () => {
    carry();
    history.replaceState(history.state, "", titled(new URL(location)));
  });
  window.addEventListener("pageshow", carry);

  let pressed = null; // the plan whose button was pressed last
  let isDown = false;
  document.addEventListener("pointerdown", ({ target }) => {
    isDown = Boolean(target.closest?.("#plan form button"));
    pressed = isDown ? token() : null;
  });
  for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, () => { isDown = false; });
  document.addEventListener("keydown", () => { pressed = null; });
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target.id !== "plan") return;
    carry();
    if (isDown && pressed !== token()) say();
  });
  document.addEventListener("submit", (event) => {
    if (!plan().contains(event.target)) return;
    const isOther = plan().matches(".htmx-request") || (pressed && pressed !== token());
    pressed = null;
    if (!isOther) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // live.js would take it for sent
    say();
  }, true);
})();
