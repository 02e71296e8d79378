package cmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// stdinList is the file that stands for standard input.
const stdinList = "-"

// maxListErrors is how many bad lines of a list are told of.
const maxListErrors = 10

// readPingTargets reads the targets in a file, one a line. Lines without one, and
// what follows a # behind a blank or at the beginning of a line, are passed over.
// All bad lines are told of at once.
func readPingTargets(file string, prefix string) ([]pingTarget, error) {
	in, name := io.Reader(os.Stdin), "standard input"
	if file != stdinList {
		f, err := os.Open(file)
		if err != nil {
			return nil, usageErrorf("read targets: %w", err)
		}
		defer f.Close()
		in, name = f, file
	}
	targets, err := parsePingList(in, name, prefix)
	if err != nil {
		return nil, &usageError{err}
	}
	return targets, nil
}

func parsePingList(in io.Reader, name string, prefix string) (targets []pingTarget, err error) {
	var wrong []error
	lines := bufio.NewScanner(in)
	number := 0
	for lines.Scan() {
		number++
		text := lines.Text()
		if i := strings.Index(" "+text, " #"); i >= 0 {
			text = text[:i]
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		t, err := parsePingTarget(text, prefix)
		t.where = fmt.Sprintf("%s:%d", name, number)
		if err != nil {
			wrong = append(wrong, t.fail(err))
			continue
		}
		targets = append(targets, t)
	}
	if err := lines.Err(); err != nil {
		wrong = append(wrong, fmt.Errorf("%s:%d: %w", name, number+1, err))
	}
	if more := len(wrong) - maxListErrors; more > 0 {
		wrong = append(wrong[:maxListErrors:maxListErrors], fmt.Errorf("%s: %d more bad lines", name, more))
	}
	return targets, errors.Join(wrong...)
}
