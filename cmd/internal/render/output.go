package render

import (
	"bufio"
	"io"
)

// Output is where a view writes to. The first error that a write meets is kept
// and returned by Flush, so views need not look.
type Output struct{ *bufio.Writer }

// NewOutput returns a buffered Output.
func NewOutput(w io.Writer) *Output {
	return &Output{bufio.NewWriterSize(w, 64<<10)}
}
