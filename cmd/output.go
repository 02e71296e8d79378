package cmd

import (
	"bufio"
)

// output is where a view writes to. The first error that a write meets is kept
// and returned by Flush, so views need not look.
type output struct{ *bufio.Writer }

func bufferedOut(env *environment) *output {
	return &output{bufio.NewWriterSize(env.out, 64<<10)}
}
