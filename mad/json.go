package mad

import (
	"strconv"
	"strings"
)

// marshalJSON writes a as an object with a member for each field.
func marshalJSON(a Attribute) ([]byte, error) {
	c := codec{mode: marshal, text: []byte{'{'}}
	a.fields(&c)
	return append(c.text, '}'), c.err
}

// appendKey writes the key of a member of the object that b ends in.
func appendKey(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = appendSnake(append(b, '"'), name)
	return append(b, `":`...)
}

func appendValue(b []byte, v uint64, render func(b []byte, v uint64) []byte) []byte {
	if render == nil {
		return strconv.AppendUint(b, v, 10)
	}
	return render(b, v)
}

// acronyms are words in the names of the classic dump that end before the next
// change of case: "SLto", "OperVLs", "FDRFEC", "TrapPKey".
var acronyms = []string{"VLs", "VL", "SL", "SM", "FDR", "EDR", "HDR", "NDR", "PKey", "QKey"}

// appendSnake writes a name of the classic dump in snake case: "SMLid" becomes
// sm_lid.
func appendSnake(b []byte, name string) []byte {
	for rest := name; rest != ""; {
		word := rest[:wordLen(rest)]
		if len(rest) < len(name) {
			b = append(b, '_')
		}
		b = append(b, strings.ToLower(word)...)
		rest = strings.TrimPrefix(rest[len(word):], "_")
	}
	return b
}

// wordLen returns the length of the first word of s: an acronym, a run of capitals
// up to the one that starts the next word, both with trailing digits, or a capital
// and the lower-case letters after it.
func wordLen(s string) int {
	for _, a := range acronyms {
		if strings.HasPrefix(s, a) {
			return withDigits(s, len(a))
		}
	}
	n := 1
	if len(s) > 1 && isUpper(s[0]) && isUpper(s[1]) {
		for n < len(s) && isUpper(s[n]) && (n+1 == len(s) || !isLower(s[n+1])) {
			n++
		}
		return withDigits(s, n)
	}
	for n < len(s) && !isUpper(s[n]) && s[n] != '_' {
		n++
	}
	return n
}

// withDigits returns the length of a word that has n bytes without the digits
// that follow them.
func withDigits(s string, n int) int {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
