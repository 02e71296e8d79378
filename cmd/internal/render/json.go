package render

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/report"
)

// WriteMembers writes an object's members after a brace or a comma, and
// leaves the object open.
func WriteMembers(out *Output, before byte, v any) {
	b := MustMarshal(v)
	out.WriteByte(before)
	out.WriteByte('\n')
	out.Write(b[1 : len(b)-1])
}

// AppendMembers appends an object's members after a brace or a comma.
func AppendMembers(b []byte, before byte, v any) []byte {
	members := MustMarshal(v)
	return append(append(b, before), members[1:len(members)-1]...)
}

// WriteHead writes a document's head, a line for each finding and failure, and leaves the
// object open.
func WriteHead(out *Output, h *report.Head) {
	WriteMembers(out, '{', struct {
		Schema  string    `json:"schema"`
		Began   time.Time `json:"began"`
		Partial bool      `json:"partial"`
	}{h.Schema, h.Began, h.Partial})
	WriteArray(out, "findings", h.Findings, func(f report.Finding) any { return f })
	WriteArray(out, "failures", h.Failures, func(f report.Failure) any { return f })
}

// WriteArray writes a member that is an array, an element per line.
func WriteArray[T any](out *Output, name string, elements []T, convert func(T) any) {
	AppendArray(out, name, elements, func(b []byte, e T) []byte { return append(b, MustMarshal(convert(e))...) })
}

// AppendArray is [WriteArray] with a function that appends an element's JSON form. It
// serves arrays that grow with the fabric: encoding/json is slower and allocates memory
// for each value.
func AppendArray[T any](out *Output, name string, elements []T, appendJSON func([]byte, T) []byte) {
	fmt.Fprintf(out, ",\n%q:[", name)
	var b []byte
	for i, e := range elements {
		b = b[:0]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(append(b, '\n'), e)
		out.Write(b)
	}
	out.WriteByte(']')
}

// WriteDocument writes a value that cannot fail to encode as a JSON document with a line
// for each member, without HTML escapes: commands contain < and &.
func WriteDocument(out *Output, v any) {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // out's Flush reports failed writes
}

// WriteLine writes a value that cannot fail to encode as a JSON document in a line.
func WriteLine(out *Output, v any) {
	out.Write(MustMarshal(v))
	out.WriteByte('\n')
}

// MustMarshal encodes values that cannot fail to encode.
func MustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
