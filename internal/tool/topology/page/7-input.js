// Search, mouse, touch and keys.
const input = document.querySelector("input"), found = document.querySelector("ul");

function search(text) {
  const want = text.toLowerCase();
  const matches = n => n.name.toLowerCase().includes(want) || n.guid.includes(want);
  return want ? nodes.filter(matches).slice(0, 30) : [];
}

function choose(n) {
  found.replaceChildren();
  selectThing(n);
}

input.oninput = () => {
  found.replaceChildren();
  for (const n of search(input.value)) button(n.name, element("li", "", found), () => choose(n));
};
input.onkeydown = e => {
  const [first] = e.key === "Enter" ? search(input.value) : [];
  if (first) choose(first);
};

const [zoomIn, zoomOut, showAll] = document.querySelectorAll("#zoom button");
zoomIn.onclick = () => zoom(1.4);
zoomOut.onclick = () => zoom(1 / 1.4);
showAll.onclick = () => { fit(); draw(); };

const fingers = new Map(); // places of pressed pointers
let isClick = false;

// spread returns the distance and the middle of two fingers.
function spread() {
  const [a, b] = [...fingers.values()];
  return [Math.hypot(a.x - b.x, a.y - b.y) || 1, (a.x + b.x) / 2, (a.y + b.y) / 2];
}

canvas.onpointerdown = e => {
  fingers.set(e.pointerId, {x: e.offsetX, y: e.offsetY});
  isClick = fingers.size === 1;
  canvas.setPointerCapture(e.pointerId);
};

canvas.onpointermove = e => {
  const finger = fingers.get(e.pointerId), place = {x: e.offsetX, y: e.offsetY};
  if (!finger) return hover(e.offsetX, e.offsetY);
  const dx = place.x - finger.x, dy = place.y - finger.y;
  if (isClick && Math.abs(dx) + Math.abs(dy) < 4) return;
  isClick = false;
  view.moved = true;
  hover();
  if (fingers.size === 2) {
    const [before] = spread();
    fingers.set(e.pointerId, place);
    const [after, x, y] = spread();
    return zoom(after / before, x, y);
  }
  fingers.set(e.pointerId, place);
  view.left += dx;
  view.top += dy;
  draw();
};

canvas.onpointerup = canvas.onpointercancel = e => {
  fingers.delete(e.pointerId);
  if (!isClick || e.type === "pointercancel") return;
  isClick = false;
  const b = boxAt(e.offsetX, e.offsetY), l = b ? null : linkAt(e.offsetX, e.offsetY);
  if (b) selectThing(b.thing, false);
  else if (l) selectCables(l.cables);
  else clear();
};

canvas.onpointerleave = () => hover();
canvas.onwheel = e => {
  e.preventDefault();
  zoom(Math.exp(-e.deltaY / 500), e.offsetX, e.offsetY);
};

// hover shows the text of the box or cable at a place.
function hover(x, y) {
  const tip = document.getElementById("hover");
  const b = x === undefined ? null : boxAt(x, y), l = x === undefined || b ? null : linkAt(x, y);
  tip.hidden = !b && !l;
  canvas.style.cursor = b || l ? "pointer" : "grab";
  if (tip.hidden) return;
  tip.textContent = b ? boxText(b) : linkText(l);
  tip.style.left = Math.max(0, Math.min(x + 12, canvas.clientWidth - tip.offsetWidth)) + "px";
  tip.style.top = Math.max(0, Math.min(y + 16, canvas.clientHeight - tip.offsetHeight)) + "px";
}

function boxText(b) {
  const list = b.thing.problems.map(p => problemName(p) + " " + p.mark.text);
  const head = b.isGroup ? [b.thing.title, ...groupLines(b.thing, -1)] : [b.thing.name, b.thing.guid, "LID " + (b.thing.lid || "-")];
  return shortList([...head, ...list]);
}

const linkText = l => shortList([...marked(l.cables), ...l.cables.filter(c => !c.mark)]
  .map(c => cableName(c) + " " + c.rate + (c.mark ? ": " + c.mark.text : "")));

// shortList joins the first lines.
function shortList(lines) {
  const most = 9;
  return lines.length > most ? [...lines.slice(0, most - 1), (lines.length - most + 1) + " more"].join("\n") : lines.join("\n");
}

onkeydown = e => { if (e.key === "Escape") clear(!selected.thing && !selected.cables.length); };
