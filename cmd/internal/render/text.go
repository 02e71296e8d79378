package render

// TimeFormat is how a time stamp is written, in local time.
const TimeFormat = "2006-01-02T15:04:05.000000-07:00"

// Printable replaces characters that are not safe for a terminal by blanks.
func Printable(b []byte) string { return string(AppendPrintable(nil, b)) }

// AppendPrintable appends text to b, with blanks in place of unprintable bytes.
func AppendPrintable(b, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c > '~' {
			c = ' '
		}
		b = append(b, c)
	}
	return b
}
