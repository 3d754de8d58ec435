// What is wrong with a schedule stands beside its form. The field that it is about says it too, until it is mended.
(() => {
  "use strict";

  const forget = (editor) => {
    for (const field of editor.querySelectorAll("[aria-invalid]")) {
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-describedby");
    }
    for (const words of editor.querySelectorAll(".means.wrong, .pointed")) words.remove();
  };
  const tell = (trouble) => {
    const field = document.getElementById(trouble?.dataset.at);
    if (!field) return;
    const words = document.createElement("p");
    words.id = "wrong-here";
    words.className = "means wrong";
    words.textContent = trouble.querySelector("p").textContent;
    if (field.matches("fieldset")) {
      field.querySelector("legend").after(words);
      return;
    }
    field.after(words);
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", words.id);
  };
  document.addEventListener("htmx:afterSettle", ({ detail }) => {
    if (!["editor", "proposal"].includes(detail.elt.id)) return;
    forget(document.getElementById("editor"));
    tell(document.querySelector("#proposal [data-at]"));
  });
})();
