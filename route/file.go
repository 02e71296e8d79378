package route

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/ibkit/ibkit/ib"
)

// A FileError is an invalid line of a file.
type FileError struct {
	File    string
	Line    int // from 1
	Problem string
}

// Error names file and line.
func (e *FileError) Error() string { return fmt.Sprintf("read %s:%d: %s", e.File, e.Line, e.Problem) }

// maxLine limits the length of a line of a text dump, in bytes.
const maxLine = 64 << 10

// A lineReader reads the lines of a file and names the current one in errors.
type lineReader struct {
	file  string
	lines *bufio.Scanner
	line  int
}

func newLineReader(r io.Reader, file string) *lineReader {
	l := &lineReader{file: file, lines: bufio.NewScanner(r)}
	l.lines.Buffer(nil, maxLine)
	return l
}

// next reads a line. It returns nil and false at the end of the file and after an error,
// which err returns.
func (l *lineReader) next() ([]byte, bool) {
	if !l.lines.Scan() {
		return nil, false
	}
	l.line++
	return bytes.TrimRight(l.lines.Bytes(), "\r"), true
}

// err returns the error that ended the lines, nil at the end of the file.
func (l *lineReader) err() error {
	err := l.lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return &FileError{l.file, l.line + 1, fmt.Sprintf("a line is longer than %d bytes", maxLine)}
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", l.file, err)
	}
	return nil
}

// errorf returns an error about the current line.
func (l *lineReader) errorf(format string, args ...any) error {
	return &FileError{l.file, l.line, fmt.Sprintf(format, args...)}
}

// shortened returns the beginning of a line for an error message, in quotes.
func shortened(line []byte) string {
	const most = 60
	if len(line) > most {
		return strconv.Quote(string(line[:most])) + "…"
	}
	return strconv.Quote(string(line))
}

// hexNumber parses hexadecimal digits without a prefix.
func hexNumber(digits []byte, bits int) (uint64, bool) {
	v, err := strconv.ParseUint(string(digits), 16, bits)
	return v, err == nil && len(digits) > 0 && digits[0] != '+'
}

// prefixedHex parses a hexadecimal number that begins with 0x.
func prefixedHex(text []byte, bits int) (uint64, bool) {
	digits, ok := bytes.CutPrefix(text, []byte("0x"))
	if !ok {
		return 0, false
	}
	return hexNumber(digits, bits)
}

// decimalNumber parses decimal digits.
func decimalNumber(digits []byte, most uint64) (uint64, bool) {
	v, err := strconv.ParseUint(string(digits), 10, 64)
	return v, err == nil && v <= most
}

// switchByGUID returns a switch that the topology has.
func (r *Routing) switchByGUID(guid uint64) (*Node, string) {
	n := r.byGUID[ib.GUID(guid)]
	switch {
	case n == nil:
		return nil, fmt.Sprintf("switch 0x%016x is not in the topology: the files are of different fabrics or times", guid)
	case !n.IsSwitch():
		return nil, fmt.Sprintf("0x%016x is not a switch in the topology", guid)
	}
	return n, ""
}

// tables returns the tables of a switch, which it adds if there are none yet.
func (n *Node) tables() *Tables {
	if n.Tables == nil {
		n.Tables = &Tables{}
	}
	return n.Tables
}
