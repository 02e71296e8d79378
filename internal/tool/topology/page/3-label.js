// Labels, measured in the current font.
const width = text => context.measureText(text).width;

// label returns a node's name if it has room, otherwise the name without the prefix of
// its neighbours.
function label(n, room) {
  return width(n.name) <= room ? n.name : cut(n.short || n.name, room);
}

// cut shortens a text in its middle, because names differ at their end.
function cut(text, room) {
  if (width(text) <= room) return text;
  const letters = [...text];
  for (let most = letters.length - 1; most > 2; most--) {
    const head = Math.floor((most - 1) / 3);
    const shorter = letters.slice(0, head).join("") + "…" + letters.slice(letters.length - (most - 1 - head)).join("");
    if (width(shorter) <= room) return shorter;
  }
  return "";
}

// groupLines returns the lines of a group's box below its title, problems first,
// with the longest units that have room.
function groupLines(g, kind, room = Infinity) {
  const lines = [], add = (n, units, sign = "") => {
    const texts = units.map(([one, many]) => sign + count(n, one, many));
    lines.push(texts.find(t => width(t) <= room) ?? sign + n);
  };
  if (kind >= 0) add(g.problems.length, [paint.nouns], paint.classes[kind].sign + " ");
  if (g.ends) add(g.ends, [["end node", "end nodes"], ["node", "nodes"]]);
  else add(g.switches, [["switch", "switches"]]);
  return lines;
}
