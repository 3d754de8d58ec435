// Instants in the zone of the site or in the reader's own: the key z or the switch in the menu, remembered here.
// Each tells both to whoever points at it, touches it, or comes to it by the key t. None is a stop of the Tab key.
(() => {
  "use strict";

  const CLOCK = /^\d\d:\d\d:\d\d$/;
  const NAME = "zone";
  let choice = "";
  try { choice = localStorage.getItem(NAME) ?? ""; } catch { /* A browser that keeps nothing begins with the site's. */ }

  const two = (number) => String(number).padStart(2, "0");
  const dayOf = (at) => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const clockOf = (at) => `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const short = new Intl.DateTimeFormat("en-US", { timeZoneName: "short" });
  const zoneOf = (at) =>
    short.formatToParts(at).find(({ type }) => type === "timeZoneName").value.replace("GMT", "UTC");
  const inFull = (at) => `${dayOf(at)} ${clockOf(at)} ${zoneOf(at)}`;
  const here = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

  const put = (time, words, zone) => {
    const small = time.querySelector("small");
    if (small) [time.firstChild.data, small.textContent] = [words, zone];
    else if (CLOCK.test(words)) time.textContent = words;
  };
  // What the server wrote is kept on the element: a part that is morphed loses it together with what was put here.
  const toOwn = (time) => {
    const at = new Date(time.dateTime);
    if ("site" in time.dataset || Number.isNaN(at.getTime())) return;
    const small = time.querySelector("small");
    const words = small ? time.firstChild.data : time.textContent;
    Object.assign(time.dataset, { site: words, siteZone: small?.textContent ?? "", siteTitle: time.title });
    put(time, small ? `${dayOf(at)} ${clockOf(at)} ` : CLOCK.test(words) ? clockOf(at) : words, zoneOf(at));
    const first = small ? words + small.textContent : inFull(at);
    time.title = time.dataset.siteTitle ? `${first}\n${time.dataset.siteTitle}` : first;
  };
  const toSite = (time) => {
    const { site, siteZone, siteTitle } = time.dataset;
    if (site === undefined) return;
    put(time, site, siteZone);
    time.title = siteTitle;
    for (const name of ["site", "siteZone", "siteTitle", "told"]) delete time.dataset[name];
  };

  const say = (words, time) => htmx.trigger(document.body, "say", { words, time });

  const write = () => {
    for (const time of document.querySelectorAll("time[datetime]")) (choice ? toOwn : toSite)(time);
    for (const name of document.querySelectorAll("[data-zone]")) {
      name.textContent = choice ? here() : name.dataset.zone;
    }
    for (const button of document.querySelectorAll("[data-zone-switch] button")) {
      button.setAttribute("aria-pressed", String(button.value === choice));
    }
  };
  const choose = (next) => {
    choice = next;
    try { localStorage.setItem(NAME, choice); } catch { /* It holds for this page, then. */ }
    write();
    say(`Times in ${document.querySelector("[data-zone]").textContent}.`, 3000);
  };

  // The next instant in the page, or the one before.
  const step = (back) => {
    const all = [...document.querySelectorAll("main time[tabindex]")].filter((time) => time.checkVisibility());
    const where = back ? Node.DOCUMENT_POSITION_PRECEDING : Node.DOCUMENT_POSITION_FOLLOWING;
    const here = document.activeElement;
    const beyond = here === document.body ? all : all.filter((time) => here.compareDocumentPosition(time) & where);
    (beyond.at(back ? -1 : 0) ?? all.at(back ? -1 : 0))?.focus();
  };

  const isTyping = (node) => node.isContentEditable || node.matches?.("input, textarea, select");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === "z" && !event.repeat) choose(choice ? "" : "own");
    else if (event.key === "t" || event.key === "T") step(event.shiftKey);
  });
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("[data-zone-switch] button");
    if (button) choose(button.value);
  });
  addEventListener("storage", ({ key, newValue }) => {
    if (key !== NAME) return;
    choice = newValue ?? "";
    write();
  });

  // The other zone, when somebody rests on an instant or comes to it.
  const tell = (time) => {
    if (choice || time.dataset.told) return;
    time.dataset.told = "yes";
    time.title = [time.title, inFull(new Date(time.dateTime))].filter(Boolean).join("\n");
  };
  document.addEventListener("pointerover", ({ target }) => {
    const time = target.closest?.("time[datetime]");
    if (time) tell(time);
  });
  document.addEventListener("focusin", ({ target }) => {
    if (!target.matches?.("time[datetime]")) return;
    tell(target);
    say([target.textContent, ...target.title.split("\n")].join(" · "), 9000);
  });

  for (const name of ["htmx:afterSwap", "htmx:afterSettle", "htmx:historyRestore"]) {
    document.addEventListener(name, write);
  }
  for (const hidden of document.querySelectorAll("[data-zone-switch], [data-zone-key]")) hidden.hidden = false;
  write();
})();
