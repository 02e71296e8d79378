// The part of a drawing on the screen, and its colours.
const canvas = document.querySelector("canvas"), context = canvas.getContext("2d");
const view = {drawing: whole, scale: 1, left: 0, top: 0, moved: false};
let selected = {thing: null, cables: []};

const dark = matchMedia("(prefers-color-scheme: dark)");
const colour = name => getComputedStyle(document.body).getPropertyValue("--" + name);
const kindColour = kind => dark.matches ? paint.classes[kind].dark : paint.classes[kind].colour;

const toScreen = (x, y) => [x * view.scale + view.left, y * view.scale + view.top];
const toDrawing = (x, y) => [(x - view.left) / view.scale, (y - view.top) / view.scale];

// fit shows the whole drawing.
function fit() {
  const margin = 24, d = view.drawing, w = canvas.clientWidth, h = canvas.clientHeight;
  view.scale = Math.max(0.01, Math.min((w - margin) / d.w, (h - margin) / d.h, 2));
  view.left = (w - d.w * view.scale) / 2 - d.x * view.scale;
  view.top = (h - d.h * view.scale) / 2 - d.y * view.scale;
  view.moved = false;
}

// zoom changes the scale and keeps the place at x and y.
function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  view.left = x - (x - view.left) * factor;
  view.top = y - (y - view.top) * factor;
  view.scale *= factor;
  view.moved = true;
  draw();
}

// centre shows the place at x and y, large enough to read labels.
function centre(x, y) {
  view.scale = Math.max(view.scale, 0.8);
  view.left = canvas.clientWidth / 2 - x * view.scale;
  view.top = canvas.clientHeight / 2 - y * view.scale;
  view.moved = true;
}

// corners returns the places between which a curve with several points is straight.
function corners([x1, y1, x2, y2, ...via]) {
  const between = via.flatMap((x, i) => i % 2 ? [] : [[x, via[i + 1]]]);
  return [[x1, y1], ...between, [x2, y2]];
}

// point returns the place on a curve at t, 0 at the beginning and 1 at the end.
function point(curve, t) {
  const [x1, y1, x2, y2, cx = (x1 + x2) / 2, cy = (y1 + y2) / 2] = curve, u = 1 - t;
  if (curve.length > 6) {
    const places = corners(curve), part = Math.min(Math.floor(t * (places.length - 1)), places.length - 2);
    const [a, b] = places.slice(part), far = t * (places.length - 1) - part;
    return [a[0] + far * (b[0] - a[0]), a[1] + far * (b[1] - a[1])];
  }
  return [u * u * x1 + 2 * u * t * cx + t * t * x2, u * u * y1 + 2 * u * t * cy + t * t * y2];
}

function boxAt(x, y) {
  const [dx, dy] = toDrawing(x, y);
  return view.drawing.boxes.findLast(b => Math.abs(dx - b.x) <= b.w / 2 && Math.abs(dy - b.y) <= b.h / 2);
}

// linkAt returns the nearest link, with findings before others.
function linkAt(x, y) {
  const reach = 6, steps = 40;
  let best, least = reach;
  for (const l of view.drawing.links) {
    let last = toScreen(...point(l.curve, 0));
    for (let i = 1; i <= steps; i++) {
      const next = toScreen(...point(l.curve, i / steps));
      const far = distance(x, y, last, next) - (l.kind >= 0 ? 1 : 0);
      if (far < least) { least = far; best = l; }
      last = next;
    }
  }
  return best;
}

// distance returns the distance between a place and a line from a to b.
function distance(x, y, [ax, ay], [bx, by]) {
  const dx = bx - ax, dy = by - ay, long = dx * dx + dy * dy || 1;
  const t = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / long));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}
