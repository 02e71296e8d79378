package topology

import (
	"io"
	"strconv"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
)

// csvColumns are the CSV columns. The end names are the names that [ReadPlan]
// recognizes.
var csvColumns = []struct {
	name  string
	value func(Cable, *fabric.NameMap) string
}{
	{"start_device", func(c Cable, names *fabric.NameMap) string { return names.Name(c.A.Node) }},
	{"start_port", func(c Cable, _ *fabric.NameMap) string { return strconv.Itoa(int(c.A.Number)) }},
	{"end_device", func(c Cable, names *fabric.NameMap) string { return names.Name(c.B.Node) }},
	{"end_port", func(c Cable, _ *fabric.NameMap) string { return strconv.Itoa(int(c.B.Number)) }},
	{"start_guid", func(c Cable, _ *fabric.NameMap) string { return c.A.Node.GUID.String() }},
	{"end_guid", func(c Cable, _ *fabric.NameMap) string { return c.B.Node.GUID.String() }},
	{"start_type", func(c Cable, _ *fabric.NameMap) string { return c.A.Node.Info.NodeType.String() }},
	{"end_type", func(c Cable, _ *fabric.NameMap) string { return c.B.Node.Info.NodeType.String() }},
	{"width", func(c Cable, _ *fabric.NameMap) string {
		w, _ := c.Rate()
		return textOf(w)
	}},
	{"speed", func(c Cable, _ *fabric.NameMap) string {
		_, s := c.Rate()
		return textOf(s)
	}},
	{"gbps", func(c Cable, _ *fabric.NameMap) string {
		if g := c.Gbps(); g != 0 {
			return strconv.FormatFloat(g, 'f', -1, 64)
		}
		return ""
	}},
	{"start_label", func(c Cable, _ *fabric.NameMap) string { return c.A.Label }},
	{"end_label", func(c Cable, _ *fabric.NameMap) string { return c.B.Label }},
}

// textOf returns a width's or speed's text, "" for 0.
func textOf[T interface {
	ib.LinkWidth | ib.Speed
	String() string
}](v T) string {
	if v == 0 {
		return ""
	}
	return v.String()
}

// WriteCSV writes a header and a record per cable.
func WriteCSV(w io.Writer, cables []Cable, names *fabric.NameMap) error {
	record := make([]string, len(csvColumns))
	for i, c := range csvColumns {
		record[i] = c.name
	}
	out := textfile.NewCSV(w, record...)
	for _, cable := range cables {
		for i, c := range csvColumns {
			record[i] = c.value(cable, names)
		}
		out.Write(record...)
	}
	return out.Flush()
}
