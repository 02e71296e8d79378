package page

import (
	"html"
	"strings"
	"unicode"
)

// A markup builds HTML. Each text and attribute value is escaped when it is added, so that
// node names, which may have any characters, remain text. Package html/template would keep
// all exported methods of the program, a seventh of its size.
type markup struct{ strings.Builder }

// begin begins an element with attributes as names and values in turn. A name with an empty
// value is omitted.
func (m *markup) begin(tag string, attributes ...string) {
	m.WriteString("<" + tag)
	for i := 0; i+1 < len(attributes); i += 2 {
		if value := attributes[i+1]; value != "" {
			m.WriteString(" " + attributes[i] + `="` + html.EscapeString(visible(value)) + `"`)
		}
	}
	m.WriteString(">")
}

// end ends elements, the innermost first.
func (m *markup) end(tags ...string) {
	for _, tag := range tags {
		m.WriteString("</" + tag + ">")
	}
}

// text adds a text.
func (m *markup) text(text string) { m.WriteString(html.EscapeString(visible(text))) }

// put adds an element with a text.
func (m *markup) put(tag, text string, attributes ...string) {
	m.begin(tag, attributes...)
	m.text(text)
	m.end(tag)
}

// link adds a link.
func (m *markup) link(to, text string) { m.put("a", text, "href", to) }

// visible replaces characters that are not visible, or that change the direction of later
// text.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != ' ' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
