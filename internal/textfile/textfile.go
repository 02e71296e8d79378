// Package textfile reads text files by lines. Errors contain the file and the line.
package textfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/lazyregexp"
)

// MaxLine is the maximum line length in bytes.
const MaxLine = bufio.MaxScanTokenSize

// ErrTooLong is the error for a line with more than MaxLine bytes.
var ErrTooLong = fmt.Errorf("line longer than %d bytes", MaxLine)

// TrimMark removes the byte order mark, which begins text files on some systems.
func TrimMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

// An escape sequence of a terminal (ECMA-48) is a control sequence such as a colour, an
// operating system command such as a window title, or another function.
const escape = `(?:\r|\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_]))+`

var (
	startEscapes = lazyregexp.New(`^` + escape)
	endEscapes   = lazyregexp.New(escape + `$`)
)

// Unstyled returns a line in a terminal log without escape sequences and carriage returns
// at its start and end. Names in the line may contain others.
func Unstyled(line string) string {
	if strings.IndexByte(line, '\x1b') < 0 {
		return strings.Trim(line, "\r")
	}
	return endEscapes.ReplaceAllString(startEscapes.ReplaceAllString(line, ""), "")
}

// An Error is an error in a file.
type Error struct {
	File string
	Line int // from 1; 0: the file as a whole
	Err  error
}

// Error returns the cause after the file and the line.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// A Reader reads a file's lines. Its methods At and Errorf return an [*Error], and Err
// one that wraps it.
type Reader struct {
	file  string
	lines *bufio.Scanner
	text  []byte
	line  int

	rejected int   // lines
	first    error // the first rejected line's
}

// NewReader returns a Reader before the first line. file is r's name in errors.
func NewReader(r io.Reader, file string) *Reader {
	return &Reader{file: file, lines: bufio.NewScanner(r)}
}

// maxRejected is the rejected line count after which a Reader ends: the file is of
// another kind, and may be endless.
const maxRejected = 10_000

// Next reads a line, the first line without a byte order mark. It returns false at the file's end, after an error, which Err
// returns, and after 10,000 rejected lines.
func (r *Reader) Next() bool {
	if r.rejected == maxRejected || !r.lines.Scan() {
		return false
	}
	r.text = r.lines.Bytes()
	if r.line++; r.line == 1 {
		r.text = TrimMark(r.text)
	}
	return true
}

// Text returns the current line without its end, \n or \r\n.
func (r *Reader) Text() string { return string(r.text) }

// Content returns the line without a comment, which # begins, and without blanks around it.
func (r *Reader) Content() string {
	text, _, _ := strings.Cut(r.Text(), "#")
	return strings.TrimSpace(text)
}

// Bytes returns the current line as Text does. It is valid until Next is called.
func (r *Reader) Bytes() []byte { return r.text }

// Line returns the current line number, 0 before the first one.
func (r *Reader) Line() int { return r.line }

// Reject stores that the current line is invalid, for a file with other lines that apply
// nevertheless. Err returns the first such error and the invalid line count.
func (r *Reader) Reject(err error) {
	if r.rejected++; r.first == nil {
		r.first = r.At(err)
	}
}

// Err returns the error the first rejected line's, else the error that ended the lines, nil
// at the file's end.
func (r *Reader) Err() error {
	ended := r.End()
	if r.first == nil {
		return ended
	}
	invalid, more := r.rejected, ""
	switch {
	case r.rejected == maxRejected:
		more = " or more"
	case ended != nil:
		invalid++
	}
	if invalid == 1 {
		return r.first
	}
	return fmt.Errorf("%w; %d%s lines are invalid", r.first, invalid, more)
}

// End returns the error that ended the lines, nil at the file's end. Unlike Err, it does not
// return the errors of rejected lines, only that they were too many.
func (r *Reader) End() error {
	err := r.lines.Err()
	var path *fs.PathError
	switch {
	case err == nil && r.rejected == maxRejected:
		return r.Errorf("the lines from here on were not read: %d lines are invalid", maxRejected)
	case err == nil:
		return nil
	case errors.Is(err, bufio.ErrTooLong):
		err = ErrTooLong
	case errors.As(err, &path):
		return &Error{r.file, 0, path.Err} // without the path, which is the file
	}
	return &Error{r.file, r.line + 1, err}
}

// At returns an error about the current line.
func (r *Reader) At(err error) error { return &Error{r.file, r.line, err} }

// Errorf returns an error about the current line. See [fmt.Errorf].
func (r *Reader) Errorf(format string, args ...any) error {
	return r.At(fmt.Errorf(format, args...))
}

// maxQuote is the maximum character count in [Quote].
const maxQuote = 60

// Quote returns a text's beginning in quotation marks, for an error. An ellipsis after
// the quotation marks stands for the rest.
func Quote[T string | []byte](text T) string {
	count := 0
	for i := range string(text) {
		if count++; count > maxQuote {
			return strconv.Quote(string(text[:i])) + "…"
		}
	}
	return strconv.Quote(string(text))
}
