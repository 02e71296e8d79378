// Frames, cables and boxes on the canvas.
function draw() {
  const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = colour("page");
  context.fillRect(0, 0, w, h);
  context.textBaseline = "middle";
  context.font = Math.min(13, Math.max(9, 11 * view.scale)) + "px sans-serif";
  for (const f of view.drawing.frames) drawFrame(f);
  drawLinks();
  const colours = Object.fromEntries(["switch", "end", "text", "muted", "line", "chosen"].map(c => [c, colour(c)]));
  for (const b of view.drawing.boxes) {
    const [x, y] = toScreen(b.x, b.y);
    if (x > -200 && y > -100 && x < w + 200 && y < h + 100) drawBox(b, x, y, b.w * view.scale, b.h * view.scale, colours);
  }
}

function drawFrame([title, x, y, w, h, atBottom]) {
  const [left, top] = toScreen(x, y), wide = w * view.scale, high = h * view.scale;
  context.fillStyle = colour("frame");
  context.strokeStyle = colour("edge");
  context.lineWidth = 1;
  context.fillRect(left, top, wide, high);
  context.strokeRect(left, top, wide, high);
  context.fillStyle = colour("text");
  const plain = context.font;
  context.font = "bold " + plain;
  context.fillText(cut(title, wide - 8), left + 4, atBottom ? top + high - 10 * view.scale : top + 10 * view.scale);
  context.font = plain;
}

// lineAlpha is the opacity of links without findings, which is low for many links.
const lineAlpha = () => Math.min(0.7, Math.max(0.08, 250 / view.drawing.links.length));

// drawLinks draws links without findings, with findings, and the selected links.
function drawLinks() {
  const {links} = view.drawing;
  const isChosen = l => l.a.thing === selected.thing || l.b.thing === selected.thing || l.cables.some(c => selected.cables.includes(c));
  const chosen = selected.thing || selected.cables.length ? links.filter(isChosen) : [];
  context.globalAlpha = lineAlpha();
  for (const wide of new Set(rates.map(r => r.wide))) {
    stroke(links.filter(l => l.kind < 0 && l.wide === wide), colour("line"), wide, []);
  }
  context.globalAlpha = 1;
  stroke(chosen, colour("chosen"), 4, []);
  paint.classes.forEach((c, kind) => stroke(links.filter(l => l.kind === kind), kindColour(kind), 2.5, c.dash));
}

function stroke(links, style, wide, dash) {
  context.strokeStyle = style;
  context.lineWidth = wide;
  context.setLineDash(dash);
  context.beginPath();
  for (const {curve} of links) {
    const [x1, y1, x2, y2, cx, cy] = curve;
    context.moveTo(...toScreen(x1, y1));
    if (curve.length === 6) context.quadraticCurveTo(...toScreen(cx, cy), ...toScreen(x2, y2));
    else for (const place of corners(curve).slice(1)) context.lineTo(...toScreen(...place));
  }
  context.stroke();
  context.setLineDash([]);
}

function drawBox(b, x, y, w, h, colours) {
  const kind = worst(b.isEnd || b.isGroup ? b.thing.problems : b.thing.problems.filter(p => p.node));
  const left = x - w / 2, top = y - h / 2;
  context.fillStyle = b.isEnd ? colours.end : colours.switch;
  context.fillRect(left, top, w, h);
  if (kind >= 0 && b.isEnd) {
    context.globalAlpha = 0.4;
    context.fillStyle = kindColour(kind);
    context.fillRect(left, top, w, h);
    context.globalAlpha = 1;
  }
  if (!b.isEnd || b.thing === selected.thing) {
    context.strokeStyle = b.thing === selected.thing ? colours.chosen : kind >= 0 ? kindColour(kind) : colours.muted;
    context.lineWidth = b.thing === selected.thing || kind >= 0 ? 2.5 : 1;
    context.strokeRect(left, top, w, h);
  }
  if (w < 20 || b.isEnd && h < 8) return;
  const lines = boxLines(b, kind, w - 6, Math.max(1, Math.floor(h / (11 * Math.max(0.85, view.scale)))));
  context.fillStyle = colours.text;
  const step = Math.min(h / lines.length, 15 * view.scale + 2);
  lines.forEach((text, i) => context.fillText(text, left + 3, y + (i - (lines.length - 1) / 2) * step));
}

// boxLines returns a box's text in at most a number of lines.
function boxLines(b, kind, room, most) {
  if (b.isGroup) return [cut(b.thing.title, room), ...groupLines(b.thing, kind, room)].slice(0, most);
  const sign = kind >= 0 ? paint.classes[kind].sign + " " : "";
  const text = label(b.thing, room - width(sign));
  return [text && sign + text];
}
