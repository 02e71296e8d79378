package textfile

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
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

// CSV writes records of [CSVText] fields and of numbers, which stay as they are.
type CSV struct {
	w      *csv.Writer
	record []string // for reuse
}

// NewCSV returns a writer after a record with the names of the columns, if there are any.
func NewCSV(w io.Writer, names ...string) *CSV {
	c := &CSV{w: csv.NewWriter(w)}
	if len(names) > 0 {
		c.Write(names...)
	}
	return c
}

// Write writes a record. [CSV.Flush] returns its error.
func (c *CSV) Write(fields ...string) {
	c.record = c.record[:0]
	for _, field := range fields {
		if _, err := strconv.ParseFloat(field, 64); err != nil || field[0] != '-' {
			field = CSVText(field)
		}
		c.record = append(c.record, field)
	}
	_ = c.w.Write(c.record) // Flush returns the error
}

// Flush writes buffered records and returns the first error.
func (c *CSV) Flush() error {
	c.w.Flush()
	if err := c.w.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}
