// A session that ends while somebody types: the page stays, with what was typed, and says where to sign in.
(() => {
  "use strict";

  const typed = new WeakSet();
  let notice = null;
  let held = null; // what was to be sent, until it is known whether somebody has signed in by now

  const dialog = () => document.getElementById("dialog");
  const isTypedIn = () => dialog()?.open || [...document.forms].some((form) => typed.has(form) && form.checkVisibility());

  // A sign-in, in whatever tab, gives forms that stand open another token.
  const renew = () => {
    const token = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];
    if (!token) return;
    for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token;
  };

  const tell = (address) => {
    held = null;
    if (!notice) {
      notice = document.createElement("p");
      notice.className = "said";
      notice.setAttribute("role", "alert");
      notice.append("You are signed out. What you typed is kept here. ");
      const link = document.createElement("a");
      Object.assign(link, { href: address, target: "_blank", textContent: "Sign in in another tab" });
      notice.append(link, ", then go on.");
    }
    const place = dialog()?.open ? dialog() : document.body;
    if (notice.parentElement !== place) place.append(notice);
  };
  const untell = () => {
    notice?.remove();
    notice = null;
    held?.target.requestSubmit(held.submitter);
    held = null;
  };

  document.addEventListener("input", ({ target }) => {
    renew();
    if (target.form?.method === "post") typed.add(target.form);
  });
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const { xhr, elt } = event.detail;
    const address = xhr.getResponseHeader("HX-Redirect");
    if (!address?.startsWith("/sign-in?")) {
      if (xhr.status < 400) untell();
    } else if (isTypedIn()) {
      event.preventDefault();
      delete elt.dataset.sent;
      tell(address);
    }
  });
  // What is sent as a whole page would be lost. Before live.js hears of it: it counts as not sent.
  document.addEventListener("submit", (event) => {
    renew();
    if (!notice || event.target.method !== "post" || dialog()?.contains(event.target)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    held = event;
    htmx.trigger("#pulse", "refresh");
  }, true);
})();
