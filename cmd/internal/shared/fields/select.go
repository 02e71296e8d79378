package fields

import (
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/mad"
)

// Plain returns the name of a field without case and underscores, so that the names of the
// classic dump and of JSON are the same.
func Plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// Names returns the names of the fields of an attribute, without rows of tables.
func Names(a mad.Attribute) []string {
	var names []string
	for _, f := range Of(a) {
		if f.Name != "" {
			names = append(names, f.Name)
		}
	}
	return names
}

// maxColumns is the number of fields in a table of an attribute without a default.
const maxColumns = 8

// Select returns the names of the columns of a table: the wanted fields, or the default
// ones, or the first ones.
func Select(a mad.Attribute, wanted, byDefault []string) ([]string, error) {
	names := Names(a)
	known := make(map[string]string, len(names))
	for _, name := range names {
		known[Plain(name)] = name
	}
	if len(wanted) == 0 {
		if len(byDefault) > 0 {
			return byDefault, nil
		}
		return names[:min(len(names), maxColumns)], nil
	}
	var selected []string
	for _, name := range wanted {
		exact, ok := known[Plain(name)]
		if !ok {
			return nil, cmdutil.UsageErrorf("%s has no field %q", mad.AttributeName(a), name)
		}
		selected = append(selected, exact)
	}
	return selected, nil
}

// IsTable reports whether an attribute has rows without names.
func IsTable(a mad.Attribute) bool {
	for _, f := range Of(a) {
		if f.Name == "" {
			return true
		}
	}
	return false
}

// Write writes fields one per line, and rows of tables as they are.
func Write(out *render.Output, parts []Field) {
	width := 0
	for _, f := range parts {
		width = max(width, len(f.Name))
	}
	for _, f := range parts {
		switch {
		case f.Name == "":
			out.WriteString("  " + f.Text)
		case f.Text == "":
			out.WriteString("  " + f.Name)
		default:
			out.WriteString("  " + f.Name + strings.Repeat(" ", width+2-len(f.Name)) + f.Text)
		}
		out.WriteByte('\n')
	}
}
