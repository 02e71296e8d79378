// legend shows the classes of findings with their line and node colours, or the verdict.
function legend() {
  const parent = document.getElementById("legend");
  parent.replaceChildren();
  if (!problems.length) element("span", data.verdict, parent);
  data.classes.forEach((c, kind) => {
    if (!problems.some(p => p.mark.kind === kind)) return;
    const e = element("div", "", parent), sample = element("canvas", "", e), ink = sample.getContext("2d");
    [sample.width, sample.height] = [66, 14];
    ink.strokeStyle = ink.fillStyle = kindColour(kind);
    ink.lineWidth = 2.5;
    ink.setLineDash(c.dash);
    ink.beginPath();
    ink.moveTo(0, 7);
    ink.lineTo(38, 7);
    ink.stroke();
    ink.globalAlpha = 0.4;
    ink.fillRect(44, 1, 20, 12);
    ink.globalAlpha = 1;
    ink.fillStyle = colour("text");
    ink.font = "10px sans-serif";
    ink.fillText(c.sign, 49, 11);
    element("span", c.text, e);
  });
}

document.getElementById("summary").textContent = data.source ? data.source + "; " + data.summary : data.summary;
element("span", "Fabric", document.querySelector("nav"));
legend();
dark.onchange = () => { legend(); draw(); };
new ResizeObserver(() => refresh()).observe(document.querySelector("main"));
fit();
fromHash();
onhashchange = fromHash;
document.body.dataset.ready = Math.round(performance.now());
