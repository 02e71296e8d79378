package netfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/ib"
)

// A Line is a file line and a position in the line.
type Line struct {
	File   string
	Number int // from 1; 0: the text is not from a file
	Text   string
	At     int // position in Text
}

// Location returns the file and the line number.
func (l *Line) Location() string { return fmt.Sprintf("%s:%d", l.File, l.Number) }

// Errorf returns an error at the current position.
func (l *Line) Errorf(format string, args ...any) error {
	if l.Number == 0 {
		return fmt.Errorf("%s: position %d: %w", l.File, l.At+1, fmt.Errorf(format, args...))
	}
	return fmt.Errorf("%s:%d: %w", l.Location(), l.At+1, fmt.Errorf(format, args...))
}

// Expected returns an error that names the text expected at the current position.
func (l *Line) Expected(what string) error {
	if l.Rest() == "" {
		return l.Errorf("want %s at the end of the line", what)
	}
	return l.Errorf("got %.40q, want %s", l.Rest(), what)
}

// Rest returns the text from the current position.
func (l *Line) Rest() string { return l.Text[l.At:] }

// Accept skips a text if it is next.
func (l *Line) Accept(text string) bool {
	if !strings.HasPrefix(l.Rest(), text) {
		return false
	}
	l.At += len(text)
	return true
}

// Blanks skips blanks.
func (l *Line) Blanks() {
	l.At = len(l.Text) - len(strings.TrimLeft(l.Rest(), " \t"))
}

// Run reads the longest byte sequence with all bytes in a set.
func (l *Line) Run(in func(c byte) bool) string {
	start := l.At
	for l.At < len(l.Text) && in(l.Text[l.At]) {
		l.At++
	}
	return l.Text[start:l.At]
}

// IsLetter reports whether a byte is an ASCII letter.
func IsLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// IsDigit reports whether a byte is a decimal digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

func isDigitOrLetter(c byte) bool {
	return IsDigit(c) || IsLetter(c)
}

// Integer reads a number as C's strtoul with base 0: decimal, 0x hexadecimal, or 0
// octal.
func (l *Line) Integer(what string, most uint64) (uint64, error) {
	start := l.At
	text := l.Run(isDigitOrLetter)
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil || n > most {
		l.At = start
		return 0, l.Expected(fmt.Sprintf("%s, a number up to %d", what, most))
	}
	return n, nil
}

// Quoted reads a text in quotation marks.
func (l *Line) Quoted(what string) (string, error) {
	start := l.At
	if l.Accept(`"`) {
		if text, _, ok := strings.Cut(l.Rest(), `"`); ok {
			l.At += len(text) + 1
			return text, nil
		}
	}
	l.At = start
	return "", l.Expected(what + " in quotation marks")
}

// Bracketed reads a port number in brackets.
func (l *Line) Bracketed() (int, error) {
	if !l.Accept("[") {
		return 0, l.Expected("a port number in brackets")
	}
	digits := l.Run(IsDigit)
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > MaxPorts {
		l.At -= len(digits)
		return 0, l.Expected(fmt.Sprintf("a port number from 1 to %d", MaxPorts))
	}
	if !l.Accept("]") {
		return 0, l.Expected("]")
	}
	return n, nil
}

// MaxPorts is the highest external port count: NumPorts is a single byte, and 255 stands
// for all ports in requests.
const MaxPorts = 254

// external skips the external port number on a chassis, which ibnetdiscover -g prints as
// [ext 7].
func (l *Line) external() error {
	if !l.Accept("[ext ") {
		return nil
	}
	_, after, ok := strings.Cut(l.Rest(), "]")
	if !ok {
		return l.Expected("the number of an external port and ]")
	}
	l.At = len(l.Text) - len(after)
	return nil
}

// guid reads an optional GUID in parentheses, in hexadecimal digits without 0x.
func (l *Line) guid() (ib.GUID, error) {
	l.Blanks()
	if !l.Accept("(") {
		return 0, nil
	}
	digits := l.Run(isDigitOrLetter)
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || !l.Accept(")") {
		return 0, l.Expected("a GUID in hexadecimal digits and )")
	}
	return ib.GUID(n), nil
}

// End checks that only a comment follows.
func (l *Line) End() error {
	l.Blanks()
	if l.Rest() != "" && l.Rest()[0] != '#' {
		return l.Expected("the end of the line")
	}
	return nil
}

// LineErrorf returns an error about the whole line.
func (l *Line) LineErrorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", l.Location(), fmt.Errorf(format, args...))
}
