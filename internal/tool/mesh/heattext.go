package mesh

import (
	"slices"
	"strings"
)

// The signs of a map in text, by the share that they begin at.
var textSigns = []struct {
	share float32
	sign  byte
}{{slowShare, '.'}, {0.8, '8'}, {0.6, '6'}, {0.4, '4'}, {0.2, '2'}, {1e-9, '1'}, {0, 'x'}}

// TextLegend explains the signs of [Heat.Text].
const TextLegend = ". normal   8 below 93 %   6 below 80 %   4 below 60 %   2 below 40 %   1 below 20 %   x failed"

// Text returns a line for each row, or for a group of rows if there are more than size. A
// cell has the slowest flow's sign. Lines and columns between leaf switches are marked.
func (h *Heat) Text(size int) []string {
	step := (len(h.Rows) + size - 1) / max(size, 1)
	width := 0
	for _, name := range h.Rows {
		width = max(width, len([]rune(name)))
	}
	const widest = 20
	width = min(width, widest)
	var lines []string
	for from := 0; from < len(h.Rows); from += step {
		if from > 0 && h.isFirst(from, step) {
			lines = append(lines, "")
		}
		var b strings.Builder
		name := []rune(h.Rows[from])
		name = name[:min(len(name), width)]
		b.WriteString(string(name) + strings.Repeat(" ", width-len(name)+1))
		for to := 0; to < len(h.Rows); to += step {
			if to > 0 && h.isFirst(to, step) {
				b.WriteByte(' ')
			}
			b.WriteByte(h.sign(from, to, step))
		}
		if len(h.marks[from]) > 0 {
			b.WriteString(" <")
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// isFirst reports whether a leaf's rows begin within a group of rows.
func (h *Heat) isFirst(row, step int) bool {
	return slices.ContainsFunc(h.Leaves, func(l Leaf) bool { return l.First >= row && l.First < row+step })
}

// sign returns the slowest flow's sign in a block of cells.
func (h *Heat) sign(from, to, step int) byte {
	least := h.least(from, to, step)
	if isNone(least) {
		return ' '
	}
	for _, s := range textSigns {
		if least >= s.share {
			return s.sign
		}
	}
	return 'x'
}

// least returns the lowest share in a block of cells.
func (h *Heat) least(from, to, step int) float32 {
	least := none
	for i := from; i < min(from+step, len(h.Rows)); i++ {
		for k := to; k < min(to+step, len(h.Rows)); k++ {
			if v := h.Share(i, k); !isNone(v) && (isNone(least) || v < least) {
				least = v
			}
		}
	}
	return least
}
