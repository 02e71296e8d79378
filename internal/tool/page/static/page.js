"use strict";
// The pages are complete without this script. It renews the content after each sweep, and
// shows the age of the data between sweeps.
const status = () => document.getElementById("status");
let skew = Number(status().dataset.now) - Date.now(); // between the clocks of server and browser
let lost = false, wanted = 0;

function age(seconds) {
  if (seconds < 120) return Math.round(seconds) + " s";
  if (seconds < 7200) return Math.round(seconds / 60) + " min";
  if (seconds < 172800) return Math.round(seconds / 3600) + " h";
  return Math.round(seconds / 86400) + " days";
}

// tick shows the age, and marks data that is older than two intervals.
function tick() {
  const line = status(), data = line.dataset, text = document.getElementById("age");
  document.getElementById("connection").textContent = lost ? "Connection lost: this page is not current." : "";
  line.classList.toggle("lost", lost);
  if (!data.at) return;
  const old = Math.max(0, Date.now() + skew - data.at);
  text.textContent = age(old / 1000) + " ago";
  line.classList.toggle("old", old > 2 * data.interval + 5000);
}

// isEdited reports whether the reader has changed an input of the content.
const isEdited = () => [...document.querySelectorAll("main input, main select")].some(e =>
  e === document.activeElement || e.type === "checkbox" && e.checked !== e.defaultChecked || e.type === "search" && e.value !== e.defaultValue);

// renew loads the page again and replaces the parts that change. Focus, open details, and
// inputs that are being edited stay.
async function renew() {
  if (wanted++) return; // the request below repeats
  do {
    wanted = 1;
    try {
      const response = await fetch(location.href, {headers: {Accept: "text/html"}});
      const next = new DOMParser().parseFromString(await response.text(), "text/html");
      if (!next.getElementById("main")) throw new Error("no page");
      replace(next);
      lost = false;
    } catch {
      lost = true;
    }
    tick();
  } while (wanted > 1);
  wanted = 0;
}

function replace(next) {
  const main = document.getElementById("main"), focus = document.activeElement;
  const place = main.contains(focus) && focus.getAttribute("href");
  const open = [...main.querySelectorAll("details")].map(d => d.open);
  status().replaceWith(next.getElementById("status"));
  skew = Number(status().dataset.now) - Date.now();
  if (isEdited()) return;
  main.replaceChildren(...next.getElementById("main").childNodes);
  main.querySelectorAll("details").forEach((d, i) => { d.open = open[i] ?? false; });
  if (place) [...main.querySelectorAll("a")].find(a => a.getAttribute("href") === place)?.focus({preventScroll: true});
  document.title = next.title;
}

// A page that is visible listens to sweeps: browsers limit the connections of all tabs to a
// server, so a hidden tab has none.
let stream = null;

// listen renews the page at each sweep. Without a stream, which the server limits, it renews
// the page at each interval.
function listen() {
  if (document.hidden || stream) return;
  const own = stream = new EventSource("api/stream");
  own.addEventListener("sweep", () => setTimeout(renew, Math.random() * 500));
  own.onopen = () => {
    if (lost) renew();
    document.body.dataset.live = "1";
  };
  own.onerror = () => {
    if (own.readyState !== EventSource.CLOSED) {
      lost = true;
      return tick();
    }
    setTimeout(() => {
      if (stream !== own) return;
      leave();
      renew();
      listen();
    }, Math.max(5000, Number(status().dataset.interval) || 60000));
  };
}

function leave() {
  stream?.close();
  stream = null;
}

function enter() {
  if (document.hidden || stream) return;
  renew();
  listen();
}

document.addEventListener("visibilitychange", () => document.hidden ? leave() : enter());
addEventListener("pagehide", leave);
addEventListener("pageshow", e => { if (e.persisted) enter(); });
setInterval(tick, 1000);
tick();
listen();
