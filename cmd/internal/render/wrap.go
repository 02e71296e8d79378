package render

import (
	"strings"

	"golang.org/x/term"
)

// Width returns the number of columns of a terminal, and 0 for another writer.
func Width(w any) int {
	columns, _ := size(w)
	return columns
}

// Height returns the number of rows of a terminal, and 0 for another writer.
func Height(w any) int {
	_, rows := size(w)
	return rows
}

// size returns the size of a terminal, and zeros for another writer.
func size(w any) (columns, rows int) {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0, 0
	}
	columns, rows, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// Wrap breaks a line between its words at a width, and indents further lines. A word that is
// longer than a line has a line of its own. With a width of 0 it returns the line. Escape
// sequences for colours have no width.
func Wrap(line string, width, indent int) string {
	if width == 0 || textWidth([]byte(line)) <= width {
		return line
	}
	var b strings.Builder
	column, filled := 0, false // filled: the line has a word
	for i, word := range strings.Split(line, " ") {
		size := textWidth([]byte(word))
		switch {
		case i == 0:
		case filled && column+1+size > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column, filled = indent, false
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column, filled = column+size, filled || size > 0
	}
	return b.String()
}
