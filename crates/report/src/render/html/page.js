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

/** A colour of the style, as a canvas takes it. */
function inkOf(name) {
  const probe = element("span", "", document.body);
  probe.style.color = `var(${name})`;
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** The scale of the PNG charts in 256 colours: more stands out more, so it runs the other way on black. */
function shades() {
  const ramp = getComputedStyle(document.documentElement).getPropertyValue("--ramp").trim().split(" ")
    .map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const made = Array.from({ length: 256 }, (_, shade) => {
    const place = (shade / 255) * (ramp.length - 1);
    const below = Math.min(Math.floor(place), ramp.length - 2);
    return `rgb(${[0, 1, 2].map((i) => Math.round(ramp[below][i] + (ramp[below + 1][i] - ramp[below][i]) * (place - below)))})`;
  });
  return isDark() ? made.reverse() : made;
}
/** The shade of a part from 0 to 1. */
const shadeOf = (part) => Math.round(255 * Math.max(0, Math.min(1, part)));

/** The legend of the scale. */
function drawLegend(canvas, shade) {
  const plane = canvas.getContext("2d");
  shade.forEach((colour, x) => {
    plane.fillStyle = colour;
    plane.fillRect(x, 0, 1, 1);
  });
}

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
