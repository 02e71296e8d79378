package ib

import (
	"fmt"
	"strconv"
	"strings"
)

// names holds an enumeration's names by value, "" for undefined values.
type names []string

func (n names) defined(v uint64) bool { return v < uint64(len(n)) && n[v] != "" }

// text returns the name of v, or "?(9)" for an undefined value 9.
func (n names) text(v uint64) string {
	if n.defined(v) {
		return n[v]
	}
	return undefined(v)
}

// parse returns the value with the given text. kind is used in errors.
func (n names) parse(kind string, text []byte, bits int) (uint64, error) {
	for v, name := range n {
		if name != "" && strings.EqualFold(name, string(text)) {
			return uint64(v), nil
		}
	}
	if v, ok := parseUndefined(string(text), bits); ok && !n.defined(v) {
		return v, nil
	}
	return 0, unknown(kind, text)
}

func undefined(v uint64) string { return "?(" + strconv.FormatUint(v, 10) + ")" }

// parseUndefined parses the text that undefined returns.
func parseUndefined(text string, bits int) (uint64, bool) {
	v, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(text, "?("), ")"), 10, bits)
	return v, err == nil && text == undefined(v)
}

func unknown(kind string, text []byte) error {
	return fmt.Errorf("parse %s: unknown value %q", kind, text)
}
