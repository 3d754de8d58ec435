// The reference of the API in the theme that somebody has chosen, or that the device prefers. In the head, so that
// nothing is drawn in the other one first.
(() => {
  "use strict";

  const page = document.documentElement;
  const prefers = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => page.classList.toggle("dark-mode", (page.dataset.theme ?? (prefers.matches ? "dark" : "light")) === "dark");
  prefers.addEventListener("change", follow);
  follow();
})();
