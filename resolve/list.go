package resolve

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// A ListError is a line of a list that is no address.
type ListError struct {
	File string
	Line int // from 1
	Err  error
}

// Error names file and line.
func (e *ListError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns Err.
func (e *ListError) Unwrap() error { return e.Err }

// ReadList reads addresses, one a line. Blanks around them, empty lines and what
// begins with a # in the first column or behind a blank are left out. file stands
// for r in errors; of a line that is no address it is a [*ListError].
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
