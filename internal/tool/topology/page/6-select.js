// The selection, and its address: NODE, NODE/PORT, or a group's title after the #.
const names = new Map();
for (const n of nodes) names.set(n.name, names.has(n.name) ? null : n);
const address = n => encodeURIComponent(names.get(n.name) ? n.name : n.guid);

function remember(hash) {
  history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
}

// show opens a drawing.
function show(drawing) {
  if (view.drawing === drawing) return;
  view.drawing = drawing;
  legend(); // of its opacity
  fit();
  const nav = document.getElementById("place");
  nav.replaceChildren();
  button("Fabric", nav, () => clear(true));
  if (drawing.group) element("span", " › " + drawing.group.title, nav);
}

// refresh draws the selection: in the middle if it is the reason for a move.
function refresh(place) {
  if (!view.moved) fit();
  if (place) {
    const [x, y] = toScreen(...place), margin = 30;
    const isOutside = x < margin || y < margin || x > canvas.clientWidth - margin || y > canvas.clientHeight - margin;
    if (isOutside || view.scale < 0.5) centre(...place);
  }
  draw();
}

// clear ends the selection, and shows the whole fabric if it is asked for.
function clear(all = false) {
  selected = {thing: null, cables: []};
  if (all) show(whole);
  showProblems();
  remember(view.drawing.group ? encodeURIComponent(view.drawing.group.title) : "");
  refresh();
}

// selectThing selects a node or a group. A group opens.
function selectThing(thing, move = true) {
  const isGroup = groups.includes(thing);
  selected = {thing: isGroup ? null : thing, cables: []};
  const find = () => view.drawing.boxes.find(b => b.thing === thing);
  if (isGroup || !find()) show(home(thing));
  if (isGroup) showGroup(thing); else showNode(thing);
  remember(isGroup ? encodeURIComponent(thing.title) : address(thing));
  const b = find();
  refresh(move && b ? [b.x, b.y] : null);
}

// selectCables selects cables: in the current drawing if it shows them.
function selectCables(list, details = () => showCables(list), hash) {
  const c = list[0], has = l => l.cables.includes(c);
  const end = () => view.drawing.boxes.find(b => b.isEnd && (b.thing === c.a || b.thing === c.b));
  selected = {thing: null, cables: list};
  if (c.a.group && c.b.group === c.a.group || !view.drawing.links.some(has)) show(home(c.a.group ? c.a : c.b));
  const l = view.drawing.links.find(has), b = end();
  if (!l) selected.thing = b?.thing;
  details();
  remember(hash ?? address(c.a) + "/" + c.portA);
  refresh(l ? point(l.curve, 0.5) : b && [b.x, b.y]);
}

function selectPort(n, port) {
  const c = n.cables.find(c => c.a === n && c.portA === port || c.b === n && c.portB === port);
  if (c) selectCables([c], () => showNode(n, c), address(n) + "/" + port);
  else selectThing(n);
}

const named = text => nodes.find(n => n.name === text || n.guid === text);

// fromHash selects what the address names.
function fromHash() {
  const text = decodeURIComponent(location.hash.slice(1));
  if (!text) return clear(true);
  const [, name, port] = text.match(/^(.*)\/(\d+)$/s) ?? [];
  const thing = named(text) ?? groups.find(g => g.title === text);
  if (thing) selectThing(thing);
  else if (named(name)) selectPort(named(name), Number(port));
}
