"use strict";
// Runs at the end of the page. What comes from the dump reaches the page by textContent alone.
const find = (id) => document.getElementById(id);
const data = JSON.parse(find("data").textContent);
document.documentElement.dataset.script = "";

/** A new element with text in it. */
function element(name, text = "", parent = null) {
  const made = document.createElement(name);
  made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

/** Thousands apart, whatever the number is a type of. */
const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

/** Whether the page is dark now: chosen, or as the system has it. */
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
const onTheme = [];
function themeChanged() {
  find("theme").textContent = isDark() ? "Light" : "Dark";
  for (const act of onTheme) act();
}
find("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  themeChanged();
});
dark.addEventListener("change", themeChanged);

for (const button of document.querySelectorAll(".copy")) {
  const command = button.dataset.copy ? find(button.dataset.copy) : button.parentElement.querySelector("code");
  button.addEventListener("click", async () => {
    getSelection().selectAllChildren(command);
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "Copied";
    } catch {
      // A page from a file may not write to the clipboard: the command is selected.
      button.textContent = "Press Ctrl+C";
    }
  });
}

// On paper everything is wanted: what is closed opens, and closes again afterwards.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const details of closed) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of closed) details.open = false;
});
