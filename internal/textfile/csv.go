package textfile

import (
	"strings"
	"unicode/utf8"
)

// commentStart begins a comment line in a plan.
const commentStart = "#"

// formulaStarts are the characters with which spreadsheets begin a formula
// (https://owasp.org/www-community/attacks/CSV_Injection), the wide characters in some languages.
const formulaStarts = "=+-@\t\r\n＝＋－＠"

// CSVText returns a CSV file field for a text that others choose, such as a node's
// description. An apostrophe precedes a text that a spreadsheet would run as a formula, or a
// plan would contain as a comment, and a text that begins with an apostrophe. [ParseCSVText] is the inverse.
func CSVText(text string) string {
	if isFormula(text) {
		return "'" + text
	}
	return text
}

// ParseCSVText returns the text in a [CSVText] field.
func ParseCSVText(field string) string {
	if text, ok := strings.CutPrefix(field, "'"); ok && isFormula(text) {
		return text
	}
	return field
}

// isFormula reports whether CSVText changes a text.
func isFormula(text string) bool {
	first, size := utf8.DecodeRuneInString(text)
	return size > 0 && strings.ContainsRune(formulaStarts+commentStart+"'", first)
}
