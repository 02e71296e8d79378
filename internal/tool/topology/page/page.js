"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const [NAME, GUID, KIND, LID, X, Y, OWNER] = [0, 1, 2, 3, 4, 5, 6];
const [A, PORT_A, B, PORT_B, RATE, MARK] = [0, 1, 2, 3, 4, 5];
const {boxWidth, boxHeight, nodeHeight} = data;
const nodes = data.nodes, cables = data.cables;

const ports = nodes.map(() => []); // cables by node
cables.forEach((c, i) => { ports[c[A]].push(i); if (c[B] !== c[A]) ports[c[B]].push(i); });
const children = nodes.map(() => []);
nodes.forEach((n, i) => { if (n[OWNER] >= 0) children[n[OWNER]].push(i); });
const marked = nodes.map((_, i) => ports[i].some(k => cables[k][MARK] >= 0));
const open = new Set(); // switches whose end nodes are shown
if (!data.folded) nodes.forEach((n, i) => { if (children[i].length) open.add(i); });

const canvas = document.querySelector("canvas"), context = canvas.getContext("2d");
let scale = 1, left = 0, top_ = 0, selected = -1;
const lines = {};
const classOf = c => data.markClass[c[MARK]];

const shown = i => nodes[i][OWNER] < 0 || open.has(nodes[i][OWNER]);
const place = i => shown(i) ? i : nodes[i][OWNER];

function build() {
  lines.plain = new Path2D(); lines.chosen = new Path2D();
  lines.marked = data.classes.map(() => new Path2D());
  for (const c of cables) {
    const a = place(c[A]), b = place(c[B]);
    const near = nodes[c[A]][OWNER] === c[B] || nodes[c[B]][OWNER] === c[A];
    const chosen = selected >= 0 && (c[A] === selected || c[B] === selected);
    if (a === b || near) continue;
    const path = chosen ? lines.chosen : c[MARK] >= 0 ? lines.marked[classOf(c)] : lines.plain;
    path.moveTo(nodes[a][X], nodes[a][Y]);
    path.lineTo(nodes[b][X], nodes[b][Y]);
  }
}

function stroke(path, colour, width) {
  context.strokeStyle = colour;
  context.lineWidth = width / scale;
  context.stroke(path);
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  const w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== w * ratio || canvas.height !== h * ratio) { canvas.width = w * ratio; canvas.height = h * ratio; }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, w, h);
  context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top_);
  stroke(lines.plain, `rgba(75, 85, 99, ${Math.min(0.7, Math.max(0.05, 250 / cables.length))})`, 1);
  data.classes.forEach((c, i) => stroke(lines.marked[i], c.colour, 2.5));
  stroke(lines.chosen, "#1d4ed8", 2);
  const labels = boxWidth * scale > 34;
  context.font = "11px sans-serif";
  context.textBaseline = "middle";
  nodes.forEach((n, i) => {
    if (!shown(i)) return;
    const x = n[X], y = n[Y];
    const sx = x * scale + left, sy = y * scale + top_;
    if (sx < -200 || sy < -50 || sx > w + 200 || sy > h + 50) return;
    const leaf = n[OWNER] >= 0, height = leaf ? nodeHeight - 1 : boxHeight;
    context.fillStyle = i === selected ? "#fde68a" : leaf ? marked[i] ? "#fecaca" : "#f3f4f6" : "#dbe9f6";
    context.fillRect(x - boxWidth / 2, y - height / 2, boxWidth, height);
    if (!leaf) { context.strokeStyle = "#4b5563"; context.lineWidth = 1; context.strokeRect(x - boxWidth / 2, y - height / 2, boxWidth, height); }
    if (!labels) return;
    context.fillStyle = "#111827";
    context.fillText(n[NAME].length > 15 ? n[NAME].slice(0, 14) + "…" : n[NAME], x - boxWidth / 2 + 3, y);
    if (!leaf && children[i].length && !open.has(i)) {
      context.fillStyle = children[i].some(k => marked[k]) ? "#b91c1c" : "#4b5563";
      context.fillText(children[i].length + " end nodes", x - boxWidth / 2 + 3, y + boxHeight);
    }
  });
}

function fit() {
  const w = canvas.clientWidth, h = canvas.clientHeight;
  scale = Math.min(w / (data.width + 40), (h - 60) / (data.height + 40), 1.5);
  left = (w - data.width * scale) / 2;
  top_ = Math.max(60, (h - data.height * scale) / 2);
}

function element(name, text, parent) {
  const e = document.createElement(name);
  e.textContent = text;
  parent.append(e);
  return e;
}

function details(i) {
  const panel = document.querySelector("aside"), n = nodes[i];
  panel.replaceChildren();
  panel.hidden = false;
  element("h2", n[NAME] || "(no name)", panel);
  element("div", data.kinds[n[KIND]] + ", GUID " + n[GUID] + ", LID " + (n[LID] || "-"), panel);
  const labelled = (node, port) => port + (data.labels[node]?.[port] ? " " + data.labels[node][port] : "");
  const table = document.createElement("table");
  panel.append(table);
  const head = table.insertRow();
  for (const t of ["port", "peer", "peer port", "rate", "finding"]) element("th", t, head);
  const rows = ports[i].flatMap(k => {
    const c = cables[k], ends = [];
    if (c[A] === i) ends.push([c[PORT_A], c[B], c[PORT_B], c]);
    if (c[B] === i) ends.push([c[PORT_B], c[A], c[PORT_A], c]);
    return ends;
  }).sort((x, y) => x[0] - y[0]);
  for (const [port, peer, peerPort, c] of rows) {
    const r = table.insertRow();
    r.insertCell().textContent = labelled(i, port);
    element("a", nodes[peer][NAME] || nodes[peer][GUID], r.insertCell()).onclick = () => select(peer);
    r.insertCell().textContent = labelled(peer, peerPort);
    r.insertCell().textContent = c[RATE] >= 0 ? data.rates[c[RATE]] : "-";
    const cell = r.insertCell();
    if (c[MARK] >= 0) { cell.textContent = data.marks[c[MARK]]; cell.style.color = data.classes[classOf(c)].colour; }
  }
}

function select(i, centre = true) {
  selected = i;
  const owner = nodes[i][OWNER];
  if (owner >= 0) open.add(owner);
  if (centre) {
    scale = Math.max(scale, 0.8);
    left = canvas.clientWidth / 2 - nodes[i][X] * scale;
    top_ = canvas.clientHeight / 2 - nodes[i][Y] * scale;
  }
  details(i);
  build();
  draw();
}

function hit(x, y) {
  const wx = (x - left) / scale, wy = (y - top_) / scale;
  for (let i = nodes.length - 1; i >= 0; i--) {
    const n = nodes[i];
    if (!shown(i)) continue;
    const height = n[OWNER] >= 0 ? nodeHeight : boxHeight;
    if (Math.abs(wx - n[X]) <= boxWidth / 2 && Math.abs(wy - n[Y]) <= height / 2) return i;
  }
  return -1;
}

function find(text) {
  const want = text.toLowerCase(), found = [];
  if (want) for (let i = 0; i < nodes.length && found.length < 30; i++) {
    if (nodes[i][NAME].toLowerCase().includes(want) || nodes[i][GUID].includes(want)) found.push(i);
  }
  return found;
}

const input = document.querySelector("input"), list = document.querySelector("ul");
input.oninput = () => {
  list.replaceChildren();
  for (const i of find(input.value)) element("li", nodes[i][NAME] || nodes[i][GUID], list).onclick = () => select(i);
};
input.onkeydown = e => { if (e.key === "Enter") { const found = find(input.value); if (found.length) select(found[0]); } };

let drag = null;
canvas.onpointerdown = e => { drag = {x: e.clientX, y: e.clientY, moved: false}; canvas.setPointerCapture(e.pointerId); };
canvas.onpointermove = e => {
  if (!drag) return;
  const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
  if (Math.abs(dx) + Math.abs(dy) > 3) drag.moved = true;
  if (drag.moved) { left += dx; top_ += dy; drag.x = e.clientX; drag.y = e.clientY; draw(); }
};
canvas.onpointerup = e => {
  const click = drag && !drag.moved;
  drag = null;
  if (!click) return;
  const i = hit(e.clientX, e.clientY);
  if (i < 0) { selected = -1; document.querySelector("aside").hidden = true; build(); draw(); return; }
  if (data.folded && i === selected && children[i].length) { if (open.has(i)) open.delete(i); else open.add(i); }
  select(i, false);
};
canvas.onwheel = e => {
  e.preventDefault();
  const factor = Math.exp(-e.deltaY / 500);
  left = e.clientX - (e.clientX - left) * factor;
  top_ = e.clientY - (e.clientY - top_) * factor;
  scale *= factor;
  draw();
};
window.onresize = draw;

function fromHash() {
  const text = decodeURIComponent(location.hash.slice(1));
  const i = nodes.findIndex(n => n[NAME] === text || n[GUID] === text);
  if (text && i >= 0) select(i);
}
window.onhashchange = fromHash;

const header = document.querySelector("header");
element("div", data.summary, header);
data.classes.forEach((c, i) => {
  if (data.markClass.includes(i)) element("div", "— " + c.text, header).style.color = c.colour;
});
fit();
build();
draw();
fromHash();
document.body.dataset.ready = Math.round(performance.now());
