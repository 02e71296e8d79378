package ib

import "fmt"

// format formats an address that is a number with a text form. Without it
// %016x would print the text in hexadecimal digits, because fmt prefers String
// for every verb that is valid for strings.
func format(f fmt.State, verb rune, text func() string, number uint64) {
	if verb == 'v' || verb == 's' || verb == 'q' {
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), text())
		return
	}
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), number)
}
