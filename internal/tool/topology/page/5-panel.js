// The panel: all problems, or the details of a node, a group or cables.
const panel = document.querySelector("aside");
const mostRows = 300;

function element(name, text, parent) {
  const e = document.createElement(name);
  e.textContent = text;
  parent.append(e);
  return e;
}

function button(text, parent, onclick) {
  const b = element("button", text, parent);
  b.onclick = onclick;
  return b;
}

let fill = () => {}; // shows the panel's content again

// openPanel empties the panel and shows it with a title.
function openPanel(title, again) {
  fill = again;
  panel.replaceChildren();
  panel.hidden = false;
  const bar = element("div", "", panel);
  if (title && problems.length) button("‹ " + count(problems.length, ...paint.nouns), bar, () => clear());
  button("close", bar, () => { panel.hidden = true; draw(); });
  element("h2", title || count(problems.length, ...paint.nouns), panel);
}

function finding(c, parent) {
  if (!c.mark) return;
  const e = element("span", paint.classes[c.mark.kind].sign + " ", parent);
  e.style.color = kindColour(c.mark.kind);
  e.ariaHidden = "true";
  element("span", c.mark.text, parent);
}

function problemList(list) {
  const ol = element("ol", "", panel);
  for (const p of list.slice(0, mostRows)) {
    const li = element("li", "", ol);
    if (p.a) button(cableName(p), li, () => selectCables([p]));
    else if (p.node) button(p.node.name, li, () => selectThing(p.node));
    finding(p, element("div", "", li));
  }
  if (list.length > mostRows) element("div", (list.length - mostRows) + " more", panel);
}

// showProblems lists all problems, the worst first.
function showProblems() {
  fill = showProblems;
  if (!problems.length) { panel.hidden = true; return; }
  openPanel("", showProblems);
  problemList(problems);
}

function showGroup(g) {
  openPanel(g.title, () => showGroup(g));
  element("div", count(g.switches, "switch", "switches") + ", " + count(g.ends, "end node", "end nodes"), panel);
  problemList(g.problems);
}

const labelled = (n, port) => port + (n.labels[port] ? " " + n.labels[port] : "");

function rows(titles, parent) {
  const table = element("table", "", parent), head = table.insertRow();
  for (const t of titles) element("th", t, head);
  return table;
}

// pageLinks links to the pages that a server has for a node and a cable.
function pageLinks(n, chosen) {
  const bar = element("nav", "", panel);
  bar.ariaLabel = "Details";
  element("a", "Node page", bar).href = "node?node=" + n.guid;
  if (chosen) element("a", "Link page", bar).href = "link?node=" + n.guid + "&port=" + (chosen.a === n ? chosen.portA : chosen.portB);
}

function showNode(n, chosen) {
  openPanel(n.name, () => showNode(n, chosen));
  element("div", data.kinds[n.kind] + ", GUID " + n.guid + ", LID " + (n.lid || "-"), panel);
  if ("served" in document.body.dataset) pageLinks(n, chosen);
  for (const p of n.problems) if (!p.a) finding(p, element("div", "", panel));
  const table = rows(["port", "peer", "peer port", "rate", "finding"], panel);
  const ends = n.cables.flatMap(c => [
    ...(c.a === n ? [[c.portA, c.b, c.portB, c]] : []),
    ...(c.b === n ? [[c.portB, c.a, c.portA, c]] : []),
  ]).sort((x, y) => x[0] - y[0]);
  for (const [port, peer, peerPort, c] of ends) {
    const r = table.insertRow();
    if (c === chosen) r.className = "chosen";
    button(labelled(n, port), r.insertCell(), () => selectPort(n, port));
    button(peer.name, r.insertCell(), () => selectThing(peer));
    r.insertCell().textContent = labelled(peer, peerPort);
    r.insertCell().textContent = c.rate;
    finding(c, r.insertCell());
  }
}

function showCables(list) {
  openPanel(list.length === 1 ? cableName(list[0]) : list.length + " cables", () => showCables(list));
  const table = rows(["end", "end", "rate", "finding"], panel);
  for (const c of [...marked(list), ...list.filter(c => !c.mark)].slice(0, mostRows)) {
    const r = table.insertRow();
    for (const [n, port] of [[c.a, c.portA], [c.b, c.portB]]) {
      button(n.name + "[" + labelled(n, port) + "]", r.insertCell(), () => selectPort(n, port));
    }
    r.insertCell().textContent = c.rate;
    finding(c, r.insertCell());
  }
  if (list.length > mostRows) element("div", (list.length - mostRows) + " more", panel);
}
