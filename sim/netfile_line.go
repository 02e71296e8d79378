package sim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/ib"
)

// A netLine is a line of a file and a position in the line.
type netLine struct {
	file   string
	number int // from 1; 0: the text is not from a file
	text   string
	at     int // position in text
}

// location returns the file and the line number.
func (l *netLine) location() string { return fmt.Sprintf("%s:%d", l.file, l.number) }

// errorf returns an error at the current position.
func (l *netLine) errorf(format string, args ...any) error {
	if l.number == 0 {
		return fmt.Errorf("%s: position %d: %w", l.file, l.at+1, fmt.Errorf(format, args...))
	}
	return fmt.Errorf("%s:%d: %w", l.location(), l.at+1, fmt.Errorf(format, args...))
}

// expected returns an error that names the text expected at the current position.
func (l *netLine) expected(what string) error {
	if l.rest() == "" {
		return l.errorf("want %s at the end of the line", what)
	}
	return l.errorf("got %.40q, want %s", l.rest(), what)
}

func (l *netLine) rest() string { return l.text[l.at:] }

// accept skips a text if it is next.
func (l *netLine) accept(text string) bool {
	if !strings.HasPrefix(l.rest(), text) {
		return false
	}
	l.at += len(text)
	return true
}

func (l *netLine) blanks() {
	l.at = len(l.text) - len(strings.TrimLeft(l.rest(), " \t"))
}

// run reads the longest byte sequence with all bytes in a set.
func (l *netLine) run(in func(c byte) bool) string {
	start := l.at
	for l.at < len(l.text) && in(l.text[l.at]) {
		l.at++
	}
	return l.text[start:l.at]
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isDigitOrLetter(c byte) bool {
	return isDigit(c) || isLetter(c)
}

// integer reads a number as C's strtoul with base 0: decimal, 0x hexadecimal, or 0
// octal.
func (l *netLine) integer(what string, most uint64) (uint64, error) {
	start := l.at
	text := l.run(isDigitOrLetter)
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil || n > most {
		l.at = start
		return 0, l.expected(fmt.Sprintf("%s, a number up to %d", what, most))
	}
	return n, nil
}

// quoted reads a text in quotation marks.
func (l *netLine) quoted(what string) (string, error) {
	start := l.at
	if l.accept(`"`) {
		if text, _, ok := strings.Cut(l.rest(), `"`); ok {
			l.at += len(text) + 1
			return text, nil
		}
	}
	l.at = start
	return "", l.expected(what + " in quotation marks")
}

// bracketed reads a port number in brackets.
func (l *netLine) bracketed() (int, error) {
	if !l.accept("[") {
		return 0, l.expected("a port number in brackets")
	}
	digits := l.run(isDigit)
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > maxPorts {
		l.at -= len(digits)
		return 0, l.expected(fmt.Sprintf("a port number from 1 to %d", maxPorts))
	}
	if !l.accept("]") {
		return 0, l.expected("]")
	}
	return n, nil
}

// maxPorts is the highest external port count: NumPorts is a single byte, and 255 stands
// for all ports in requests.
const maxPorts = 254

// external skips the external port number on a chassis, which ibnetdiscover -g prints as
// [ext 7].
func (l *netLine) external() error {
	if !l.accept("[ext ") {
		return nil
	}
	_, after, ok := strings.Cut(l.rest(), "]")
	if !ok {
		return l.expected("the number of an external port and ]")
	}
	l.at = len(l.text) - len(after)
	return nil
}

// guid reads an optional GUID in parentheses, in hexadecimal digits without 0x.
func (l *netLine) guid() (ib.GUID, error) {
	l.blanks()
	if !l.accept("(") {
		return 0, nil
	}
	digits := l.run(isDigitOrLetter)
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || !l.accept(")") {
		return 0, l.expected("a GUID in hexadecimal digits and )")
	}
	return ib.GUID(n), nil
}
