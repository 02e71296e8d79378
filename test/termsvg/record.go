// Package termsvg runs programs on a terminal and draws their output with its colors as SVG.
package termsvg

import (
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/creack/pty"
)

// Run runs a program on a terminal with a number of columns and returns the program
// output. An exit code other than 0 is not an error.
func Run(program *exec.Cmd, columns uint16) (string, error) {
	terminal, err := pty.StartWithSize(program, &pty.Winsize{Rows: 50, Cols: columns})
	if err != nil {
		return "", fmt.Errorf("start %s on a terminal: %w", program.Path, err)
	}
	defer terminal.Close()
	var printed strings.Builder
	// Linux ends a terminal with EIO after its other end was closed.
	_, readErr := io.Copy(&printed, terminal)
	if err := program.Wait(); err != nil && program.ProcessState == nil {
		return "", fmt.Errorf("wait for %s: %w", program.Path, err)
	}
	if printed.Len() == 0 && readErr != nil {
		return "", fmt.Errorf("read terminal: %w", readErr)
	}
	return strings.ReplaceAll(printed.String(), "\r\n", "\n"), nil
}
