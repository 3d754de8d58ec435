// Parts that move: polled while somebody looks, quiet when nothing is new, and what a form needs to be safe.
(() => {
  "use strict";

  // What somebody types stays. Idiomorph would leave all that is inside what has the focus, also the words of a link.
  Object.defineProperty(Idiomorph.defaults, "ignoreActiveValue", {
    enumerable: true,
    get: () => document.activeElement.matches("input, textarea, select"),
  });
  // A part that was given the focus would lose it together with the tabindex that no template writes.
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
    !(name === "open" && (node.tagName === "DETAILS" || node.tagName === "DIALOG")) &&
    !(name === "tabindex" && node === document.activeElement && node.matches("[data-live], [hx-trigger='refresh']"));

  const dialog = () => document.getElementById("dialog");
  const say = (words) => { document.getElementById("said").textContent = words; };

  // What each part shows, by the id of its element: the address it came from and the tag of its content.
  const shown = new Map();
  const last = new WeakMap();
  let failedSince = null;

  document.addEventListener("htmx:configRequest", ({ detail }) => {
    const known = shown.get(detail.target.id);
    if (detail.elt.dataset.live && known?.path === detail.path) detail.headers["If-None-Match"] = known.etag;
  });

  document.addEventListener("htmx:afterOnLoad", ({ detail }) => {
    if (failedSince) say("");
    failedSince = null;
    const etag = detail.xhr.getResponseHeader("ETag");
    if (detail.xhr.status !== 304 && etag) shown.set(detail.target.id, { path: detail.pathInfo.requestPath, etag });
  });

  for (const name of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
    document.addEventListener(name, ({ detail }) => {
      const answer = detail.xhr?.status ? `the server answered ${detail.xhr.status}` : "no connection";
      if (detail.target === dialog()) {
        delete detail.elt.dataset.sent;
        say(`Not done: ${answer}. Load this page again and try once more.`);
        return;
      }
      failedSince ??= new Date();
      say(`Not up to date since ${failedSince.toLocaleTimeString([], { timeStyle: "long" })}: ${answer}. Trying again.`);
    });
  }

  const poll = () => {
    if (document.hidden || dialog()?.open) return;
    const now = performance.now();
    for (const part of document.querySelectorAll("[data-live]")) {
      const rest = Number(part.dataset.live) * 1000 * (failedSince ? 2 : 1);
      if (!last.has(part)) last.set(part, now);
      if (now - last.get(part) < rest || part.matches(".htmx-request, :has([data-choosing])")) continue;
      last.set(part, now);
      htmx.trigger(part, "refresh");
    }
  };
  setInterval(poll, 500);
  const lookAnew = () => {
    for (const part of document.querySelectorAll("[data-live]")) last.set(part, -Infinity);
    poll();
  };
  document.addEventListener("visibilitychange", lookAnew);
  for (const name of ["htmx:historyRestore", "htmx:historyCacheMiss"]) {
    document.addEventListener(name, () => shown.clear());
  }

  // A log that was read to its end stays at its end.
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const log = detail.target.querySelector?.(".log");
    if (log) log.dataset.follow = log.scrollHeight - log.scrollTop - log.clientHeight < 24 ? "yes" : "";
  });
  const follow = () => {
    for (const log of document.querySelectorAll(".log[data-follow=yes]")) log.scrollTop = log.scrollHeight;
  };
  document.addEventListener("htmx:afterSettle", follow);
  follow();

  // A key that means nothing keeps its form from being sent, with the reason: until another is typed, of which the
  // server says more, at the latest when it is sent.
  document.addEventListener("input", ({ target }) => {
    if (target.name === "key") target.setCustomValidity("");
  });
  for (const name of ["htmx:afterSwap", "htmx:afterSettle"]) {
    document.addEventListener(name, () => {
      for (const means of document.querySelectorAll("#means, #tells, #written")) {
        means.closest("form").querySelector(`[name=${means.dataset.of ?? "key"}]`).setCustomValidity(means.dataset.wrong ?? "");
      }
    });
  }

  // Links that change a part of the page, or ask a question, have an address of their own: without scripts
  // they lead to a page. They are followed here, not by attributes of htmx on each, because a morph can turn one
  // link into another and would leave the listener of the first.
  const isWide = matchMedia("(min-width: 1080px)");
  const fetchInto = (id, address, options) => {
    const target = document.getElementById(id);
    htmx.trigger(target, "htmx:abort");
    htmx.ajax("GET", address, { target, ...options });
  };
  // Squares of a grid leave out of their addresses what is selected: it may be long, and there are many. The other
  // links of a board do where it is long. The total of a row selects another, and one link nothing.
  const selected = (link) => {
    const address = new URL(link.getAttribute("href"), location); // a stretch of a bar is of SVG: it has no text in href
    const isOfBoard = document.getElementById("board") && address.pathname === location.pathname;
    if (!isOfBoard || "clears" in link.dataset || address.searchParams.has("sel")) return link.getAttribute("href");
    const here = new URLSearchParams(location.search);
    for (const name of ["sel", "only"]) {
      if (here.has(name) && !address.searchParams.has(name)) address.searchParams.set(name, here.get(name));
    }
    return address.search || "?";
  };
  // So does what leads to a row of a list beside it.
  const besideOf = (link) => {
    const sel = new URLSearchParams(location.search).getAll("sel").join(",");
    return link.dataset.beside + (sel && `&sel=${sel}`);
  };
  // What closes a panel takes out what opened it of the address as it is by now.
  const without = (name) => {
    const here = new URL(location);
    here.searchParams.delete(name);
    if (!here.searchParams.get("zoom")) here.searchParams.delete("zoom"); // an empty one keeps a key from its square
    return here.pathname + here.search;
  };
  document.addEventListener("click", (event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest?.("a[href]");
    const beside = isWide.matches && link?.dataset.beside && besideOf(link); // with no room, it leads to a page
    const part = beside ? "panel" : link?.dataset.part ?? link?.closest("[data-parts]")?.dataset.parts;
    if (!link || !("dialog" in link.dataset || part) || part === "page") return;
    event.preventDefault();
    const address = beside || (link.dataset.closes ? without(link.dataset.closes) : selected(link));
    if (part === "panel") htmx.trigger(link, "panel");
    if (part) fetchInto(part, address, { swap: "outerHTML", push: address });
    else fetchInto("dialog", address, { swap: "innerHTML" });
  });
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target === dialog() && !dialog().open) dialog().showModal();
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-close]") && dialog()?.open) {
      event.preventDefault();
      dialog().close();
    }
    for (const menu of document.querySelectorAll(".menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll(".menu[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });

  // What is said for a while, here and by the other scripts.
  const sayFor = (words, time) => {
    say(words);
    setTimeout(() => { if (document.getElementById("said").textContent === words) say(""); }, time);
  };
  document.body.addEventListener("say", ({ detail }) => sayFor(detail.words, detail.time));

  // What somebody may not do says why when it is tried, also to a finger.
  document.addEventListener("click", (event) => {
    const barred = event.target.closest?.("[aria-disabled=true]");
    if (!barred) return;
    event.preventDefault();
    sayFor(document.getElementById(barred.getAttribute("aria-describedby"))?.textContent ?? barred.title, 9000);
  });

  // One click, one deed. A question in the dialog is answered there, and the page around it stays.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || form.hasAttribute("hx-post")) return;
    const isAnswer = dialog()?.contains(form);
    if (form.dataset.sent || isAnswer) event.preventDefault();
    if (isAnswer && !form.dataset.sent) send(form, event.submitter);
    form.dataset.sent = "yes";
  });
  const send = (form, button) => {
    const values = button?.name ? { [button.name]: button.value } : {};
    const address = form.getAttribute("action");
    htmx.ajax("POST", address, { source: form, target: dialog(), swap: "innerHTML", values });
  };
  // The link to a deed may be gone with what it was for: the focus stays in its part, not at the top of the page.
  let returned = null;
  let home = null; // the id of that part; others are refreshed beside it
  document.addEventListener("htmx:afterSettle", ({ detail }) => {
    if (!returned || returned.isConnected || document.activeElement !== document.body) return;
    returned = null;
    const part = document.getElementById(home) ?? detail.elt;
    part.tabIndex = -1;
    part.focus({ preventScroll: true });
  });
  document.body.addEventListener("done", ({ detail }) => {
    dialog().close();
    for (const flash of document.querySelectorAll(".flash")) flash.remove(); // said of what was before
    sayFor(detail.words, 6000);
    returned = document.activeElement;
    home = returned.closest('[hx-trigger="refresh"]')?.id;
    // Also of a part that has ended and is not polled any more: a deed may have begun it again.
    for (const part of document.querySelectorAll('[hx-trigger="refresh"]')) htmx.trigger(part, "refresh");
  });
  // Something was done, and the dialog stays to tell of it.
  document.body.addEventListener("changed", () => {
    for (const part of document.querySelectorAll('[hx-trigger="refresh"]')) htmx.trigger(part, "refresh");
  });
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });

  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-theme-switch]")) return;
    event.preventDefault();
    const theme = event.submitter?.value ?? "";
    const year = theme ? 31536000 : 0;
    document.cookie = `theme=${theme}; path=/; max-age=${year}; samesite=lax`;
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    for (const button of event.target.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.value === theme));
    }
    delete event.target.dataset.sent;
  });

  // What is shown once is copied with one click; where the site has no certificate, by the older way.
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
  document.addEventListener("click", async (event) => {
    const field = document.getElementById(event.target.closest("[data-copy]")?.dataset.copy);
    if (!field) return;
    field.select();
    try {
      if (navigator.clipboard) await navigator.clipboard.writeText(field.value);
      else if (!document.execCommand("copy")) throw new Error("refused");
      say("Copied.");
    } catch {
      say("Not copied: the browser refused. It is selected: press Ctrl and C.");
    }
  });

  // A suggestion fills the field it stands under; where there is room for several, it is one more.
  document.addEventListener("click", (event) => {
    const example = event.target.closest("[data-fill]");
    if (!example) return;
    event.preventDefault();
    const field = document.getElementById(example.dataset.fill);
    const before = field.tagName === "TEXTAREA" ? field.value.trim() : "";
    field.value = (before ? `${before}\n` : "") + example.dataset.value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });
})();
