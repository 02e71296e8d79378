// Package scanerr describes errors of files that are read by lines.
package scanerr

import (
	"bufio"
	"errors"
	"fmt"
)

// Of returns the error of a scanner with the default buffer. A line that does not fit
// into it is described by its length.
func Of(s *bufio.Scanner) error {
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line longer than %d bytes", bufio.MaxScanTokenSize)
	}
	return s.Err()
}
