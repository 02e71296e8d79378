//go:build oracle

package oracle

// audit returns the defects of a page for keyboards and screen readers, a line for each: after
// the rules of axe-core for landmarks, names, headings, tables, ids, tab order and contrast (WCAG
// 2.1, AA).
const audit = `(() => {
	const found = [], all = s => [...document.querySelectorAll(s)];
	const name = e => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (e.className && e.className.baseVal === undefined ? "." + e.className : "") + " " + e.textContent.slice(0, 30);
	const visible = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
	const check = (list, rule) => list.forEach(e => found.push(rule + ": " + name(e)));
	const label = e => e.ariaLabel || e.title || e.alt ||
		(e.getAttribute("aria-labelledby") ?? "").split(" ").map(id => document.getElementById(id)?.textContent ?? "").join("") ||
		[...(e.labels ?? [])].map(l => l.textContent).join("") || (/^(INPUT|SELECT)$/.test(e.tagName) ? "" : e.textContent);

	for (const [selector, least] of [["header", 1], ["main", 1], ["[role=status]", 1], ["html[lang]", 1], ["title", 1]]) {
		if (all(selector).length !== least) found.push(selector + ": got " + all(selector).length);
	}
	const landmarks = "header, nav, main, footer, aside, [role=status], .skip, noscript, script, style";
	const texts = [];
	for (const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walk.nextNode();) {
		const e = walk.currentNode.parentElement;
		if (walk.currentNode.data.trim() && visible(e) && !e.closest("script, style, noscript")) texts.push(e);
	}
	check(texts.filter(e => !e.closest(landmarks)), "outside of landmarks");
	check(all("nav").filter((e, i, list) => !e.ariaLabel || list.some(o => o !== e && o.ariaLabel === e.ariaLabel)), "nav without its own label");
	check(all("input:not([type=hidden]), select, button, a, summary, img, [role=img], [role=group]").filter(e => !label(e).trim()), "no name");
	check(all("[aria-labelledby]").filter(e => !label(e).trim()), "no label");
	check(all("svg").filter(e => e.getAttribute("role") !== "img"), "no role");
	check(all("[id]").filter((e, i, list) => list.findIndex(o => o.id === e.id) !== i), "id twice");
	check(all("[tabindex]").filter(e => e.tabIndex > 0), "tab order");
	check(all("a:not([href])"), "no address");
	const levels = all("h1, h2, h3, h4").filter(visible).map(e => Number(e.tagName[1]));
	if (levels.some((l, i) => l > (levels[i - 1] ?? l) + 1)) found.push("levels of titles: " + levels);
	check(all("main th").filter(e => !e.scope), "no scope");
	check(all("main table").filter(t => {
		const columns = t.tHead?.rows[0].cells.length;
		return !columns || [...t.tBodies].some(b => [...b.rows].some(r => r.cells.length !== columns || !r.querySelector("th")));
	}), "table titles");
	check(all("dl").filter(e => [...e.children].some(c => !/^(DT|DD|DIV)$/.test(c.tagName))), "list");
	check(all("ul, ol").filter(e => [...e.children].some(c => c.tagName !== "LI")), "list");

	const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
	const rgb = colour => {
		canvas.clearRect(0, 0, 1, 1);
		canvas.fillStyle = colour;
		canvas.fillRect(0, 0, 1, 1);
		return canvas.getImageData(0, 0, 1, 1).data;
	};
	const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const background = e => {
		for (; e; e = e.parentElement) {
			const colour = getComputedStyle(e).backgroundColor;
			if (rgb(colour)[3] === 255) return colour;
		}
		return getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches ? "#121212" : "#ffffff";
	};
	for (const e of new Set(texts)) {
		const style = getComputedStyle(e), size = parseFloat(style.fontSize);
		const [a, b] = [light(rgb(style.color)), light(rgb(background(e)))].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05), least = size >= 24 || size >= 18.66 && style.fontWeight >= 700 || e.ariaHidden ? 3 : 4.5; // signs are graphics
		if (ratio < least) found.push("contrast " + ratio.toFixed(2) + ": " + name(e));
	}
	return [...new Set(found)].join("\n");
})()`

// checkFocus goes through a page with the tabulator and checks that each step has a visible focus
// and comes later in the page.
func (b *browser) checkFocus() {
	b.text(`window.last = null, window.steps = 0`)
	for range 12 {
		b.do(tab)
		b.want(`(() => {
			const e = document.activeElement, style = getComputedStyle(e);
			const ok = e === document.body || (!last || last.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING) &&
				(style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1) && e.getClientRects().length > 0;
			last = e;
			return ok ? "" : e.outerHTML.slice(0, 100) + " outline " + style.outline;
		})()`, "")
	}
}
