package resolve

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/internal/scanerr"
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
	err := ReadLines(r, file, func(a Address) error {
		all = append(all, a)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// ReadLines calls use for each address of a list as [ReadList] reads it. An error of
// use is a [*ListError], too.
func ReadLines(r io.Reader, file string, use func(Address) error) error {
	lines := bufio.NewScanner(r)
	number := 0
	for lines.Scan() {
		number++
		line, _, _ := strings.Cut(" "+strings.ReplaceAll(lines.Text(), "\t", " "), " #")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		a, err := Parse(line)
		if err == nil {
			err = use(a)
		}
		if err != nil {
			return &ListError{file, number, err}
		}
	}
	if err := scanerr.Of(lines); err != nil {
		return fmt.Errorf("read addresses: %s:%d: %w", file, number+1, err)
	}
	return nil
}
