package render

import (
	"bufio"
	"fmt"
	"io"
)

// Output is a view's destination. It keeps the first write error for Flush, so views need
// not check each write.
type Output struct{ *bufio.Writer }

// NewOutput returns a buffered Output.
func NewOutput(w io.Writer) *Output {
	return &Output{bufio.NewWriterSize(w, 64<<10)}
}

// Flush writes the buffer, and returns the first error from all writes.
func (o *Output) Flush() error {
	if err := o.Writer.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
