package lookup

import (
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/internal/textfile"
)

// ReadList reads a list with an address per line. It ignores blanks around an address,
// empty lines, and comments, which start with a # in the first column or after a blank.
// file is r's name in errors. For an invalid line the error is a [*textfile.Error].
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

// ReadLines calls use for each address in a list as [ReadList] reads it. An error from
// use is a [*textfile.Error], too.
func ReadLines(r io.Reader, file string, use func(Address) error) error {
	lines := textfile.NewReader(r, file)
	for lines.Next() {
		line, _, _ := strings.Cut(" "+strings.ReplaceAll(lines.Text(), "\t", " "), " #")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		a, err := Parse(line)
		if err == nil {
			err = use(a)
		}
		if err != nil {
			return lines.At(err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read addresses: %w", err)
	}
	return nil
}
