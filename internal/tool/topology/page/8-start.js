// sample draws a line at the beginning of a legend's entry, and returns its ink.
function sample(parent, style, wide, dash, room, alpha = 1) {
  const canvas = element("canvas", "", parent), ink = canvas.getContext("2d");
  [canvas.width, canvas.height] = [room, 14];
  ink.strokeStyle = ink.fillStyle = style;
  ink.lineWidth = wide;
  ink.setLineDash(dash);
  ink.beginPath();
  const y = wide < 2 ? 7.5 : 7; // a thin line fills a row of pixels
  ink.moveTo(0, y);
  ink.lineTo(38, y);
  ink.globalAlpha = alpha;
  ink.stroke();
  ink.globalAlpha = 1;
  return ink;
}

// legend shows the rates with their line widths, and the classes of findings with their line
// and node colours, or the verdict.
function legend() {
  const parent = document.getElementById("legend");
  parent.replaceChildren();
  for (const r of rates) {
    const e = element("div", "", parent);
    sample(e, colour("line"), r.wide, [], 38, Math.max(0.3, lineAlpha())); // visible
    element("span", r.text + ": " + count(r.cables, "cable", "cables"), e);
  }
  if (!problems.length) element("span", paint.verdict, parent);
  paint.classes.forEach((c, kind) => {
    if (!problems.some(p => p.mark.kind === kind)) return;
    const e = element("div", "", parent), ink = sample(e, kindColour(kind), 2.5, c.dash, 66);
    ink.globalAlpha = 0.4;
    ink.fillRect(44, 1, 20, 12);
    ink.globalAlpha = 1;
    ink.fillStyle = colour("text");
    ink.font = "10px sans-serif";
    ink.fillText(c.sign, 49, 11);
    element("span", c.text, e);
  });
}

function summarize() {
  document.getElementById("summary").textContent = paint.source ? paint.source + "; " + paint.summary : paint.summary;
}

// update shows other rates and marks at the same places. The view, the selection, the panel's
// place and the focus stay.
function update(next) {
  const {hidden, scrollTop} = panel, isEmpty = !problems.length;
  const inputs = () => [...panel.querySelectorAll("button, a")], focus = inputs().indexOf(document.activeElement);
  repaint(next);
  fill();
  panel.hidden = panel.hidden || hidden && !(isEmpty && fill === showProblems);
  panel.scrollTop = scrollTop;
  inputs()[focus]?.focus({preventScroll: true});
  summarize();
  legend();
  draw();
}

summarize();
element("span", "Fabric", document.getElementById("place"));
legend();
dark.onchange = () => { legend(); draw(); };
new ResizeObserver(() => refresh()).observe(document.querySelector("main"));
fit();
fromHash();
onhashchange = fromHash;
document.body.dataset.ready = Math.round(performance.now());
