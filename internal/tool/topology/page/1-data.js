"use strict";
// The fabric, from the arrays that type pageData describes.
const data = JSON.parse(document.getElementById("data").textContent);
let paint, rates, others, problems; // the part that changes, see repaint

const nodes = data.nodes.map(([name, short, guid, kind, lid, above, group]) =>
  ({name: name || guid, short, guid, kind, lid, above, group, cables: [], problems: []}));
const groups = data.groups.map(g => ({...g, cables: [], problems: []}));
const cables = data.cables.map(([a, portA, b, portB]) => ({a: nodes[a], portA, b: nodes[b], portB}));
nodes.forEach((n, i) => { n.above = nodes[n.above]; n.group = groups[n.group]; n.labels = data.labels[i] ?? {}; });
for (const c of cables) {
  for (const n of new Set([c.a, c.b])) n.cables.push(c);
  for (const g of new Set([c.a.group, c.b.group])) g?.cables.push(c);
}

// A box is a node or a group at its place.
function box([ref, x, y]) {
  const thing = ref >= 0 ? nodes[ref] : groups[-1 - ref];
  const [w, h] = data.sizes[ref < 0 ? 2 : thing.kind === 1 ? 1 : 0];
  return {thing, isGroup: ref < 0, isEnd: ref >= 0 && thing.kind !== 1, x, y, w, h};
}

const drawings = data.drawings.map((d, i) => {
  const boxes = d.boxes.map(box);
  const [x, y, w, h] = d.area;
  const links = d.links.map(([a, b, curve, list]) => ({a: boxes[a], b: boxes[b], curve, cables: list.map(k => cables[k])}));
  return {group: groups[i - 1], boxes, links, frames: d.frames, x, y, w, h};
});
const whole = drawings[0];
const home = thing => drawings[1 + groups.indexOf(groups.includes(thing) ? thing : thing.group)];

// worst returns the worst finding class, -1 without findings.
function worst(list) {
  return list.reduce((kind, c) => Math.max(kind, c.mark ? c.mark.kind : -1), -1);
}
const marked = list => list.filter(c => c.mark);

// repaint sets the rates and marks. A problem is a cable with a mark, or a finding without a
// cable.
function repaint(next) {
  paint = next;
  const marks = paint.marks.map(([text, kind, order]) => ({text, kind, order}));
  rates = paint.rates.map(([text, cables, wide]) => ({text, cables, wide}));
  cables.forEach((c, i) => {
    const {text, wide} = rates[paint.rate_of[i]];
    Object.assign(c, {rate: text, wide, mark: marks[paint.mark_of[i]]});
  });
  others = paint.others.map(([node, text, kind, order]) => ({node: nodes[node], mark: {text, kind, order}}));
  problems = [...cables.filter(c => c.mark), ...others].sort((p, q) => p.mark.order - q.mark.order || q.mark.kind - p.mark.kind);
  for (const thing of [...nodes, ...groups]) thing.problems = [];
  for (const p of problems) {
    const at = [p.a, p.b, p.node].filter(n => n);
    for (const thing of new Set([...at, ...at.map(n => n.group)])) thing?.problems.push(p);
  }
  for (const {links} of drawings) {
    for (const l of links) {
      l.kind = worst(l.cables);
      l.wide = Math.max(...l.cables.map(c => c.wide));
    }
  }
}
repaint(data.paint);

const count = (n, one, many) => n + " " + (n === 1 ? one : many);
const portName = (n, port) => n.name + "[" + port + "]";
const cableName = c => portName(c.a, c.portA) + " – " + portName(c.b, c.portB);
const problemName = p => p.a ? cableName(p) : p.node ? p.node.name : "fabric";
