package resolve

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// A ListError reports a line of a list that is not an address.
type ListError struct {
	File string
	Line int // from 1
	Err  error
}

func (e *ListError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns Err.
func (e *ListError) Unwrap() error { return e.Err }

// ReadList reads a list with one address per line. It ignores blanks around an
// address, empty lines, and comments, which start with a # in the first column or
// after a blank. file is the name of r in errors. For an invalid line the error is a
// [*ListError].
func ReadList(r io.Reader, file string) ([]Address, error) {
	var all []Address
	lines := bufio.NewScanner(r)
	number := 0
	for lines.Scan() {
		number++
		line, _, _ := strings.Cut(" "+strings.ReplaceAll(lines.Text(), "\t", " "), " #")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		a, err := Parse(line)
		if err != nil {
			return nil, &ListError{file, number, err}
		}
		all = append(all, a)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read addresses: %s:%d: %w", file, number+1, err)
	}
	return all, nil
}
