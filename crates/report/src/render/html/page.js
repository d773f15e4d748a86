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
themeChanged();

/** Acts once a part of the page comes near to what is seen, or is printed: the first screen does not wait for it. */
function whenNear(part, act) {
  const begin = () => {
    near.disconnect();
    removeEventListener("beforeprint", begin);
    act();
  };
  const near = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && begin(), { rootMargin: "100%" });
  near.observe(part);
  addEventListener("beforeprint", begin);
}

/** The colours of a variable of the style. */
const coloursOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).match(/#\w+/g);
/** One of the style, as a canvas takes it: each has one for light pages and one for dark ones. */
const inkOf = (name) => coloursOf(name)[isDark() ? 1 : 0];

/** The scale of the PNG charts in 256 colours: more stands out more, so it runs the other way on black. */
function shades() {
  const ramp = coloursOf("--ramp").map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const made = Array.from({ length: 256 }, (_, shade) => {
    const place = (shade / 255) * (ramp.length - 1);
    const below = Math.min(Math.floor(place), ramp.length - 2);
    return [...[0, 1, 2].map((i) => Math.round(ramp[below][i] + (ramp[below + 1][i] - ramp[below][i]) * (place - below))), 255];
  });
  return isDark() ? made.reverse() : made;
}

/** A picture of one pixel a cell, row by row, of cells whose `part` of the scale is 0 to 1; those without one are clear. */
function cells(width, height, part) {
  const made = Object.assign(document.createElement("canvas"), { width, height });
  const plane = made.getContext("2d");
  const image = plane.createImageData(width, height);
  const shade = shades();
  for (let cell = 0; cell < width * height; cell += 1) {
    const place = part(cell);
    if (place !== null) image.data.set(shade[Math.round(255 * Math.max(0, Math.min(1, place)))], 4 * cell);
  }
  plane.putImageData(image, 0, 0);
  return made;
}

/** The legend of the scale. */
const drawLegend = (canvas) => canvas.getContext("2d").drawImage(cells(canvas.width, 1, (x) => x / (canvas.width - 1)), 0, 0);

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
