package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
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
// object open. more are findings behind those of the head, which a large fabric has too
// many of for a list.
func WriteHead(out *Output, h *report.Head, more ...iter.Seq[report.Finding]) {
	WriteMembers(out, '{', struct {
		Schema  string    `json:"schema"`
		Began   time.Time `json:"began"`
		Partial bool      `json:"partial"`
	}{h.Schema, h.Began, h.Partial})
	findings := func(yield func(report.Finding) bool) {
		for _, seq := range append([]iter.Seq[report.Finding]{slices.Values(h.Findings)}, more...) {
			seq(yield)
		}
	}
	writeSeq(out, "findings", findings, func(f report.Finding) any { return &f })
	WriteArray(out, "failures", h.Failures, func(f report.Failure) any { return f })
}

// WriteArray writes a member that is an array, an element per line.
func WriteArray[T any](out *Output, name string, elements []T, convert func(T) any) {
	writeSeq(out, name, slices.Values(elements), convert)
}

// writeSeq is [WriteArray] for a sequence. All elements share a buffer, where json.Marshal
// allocates memory for each.
func writeSeq[T any](out *Output, name string, elements iter.Seq[T], convert func(T) any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	appendSeq(out, name, elements, func(b []byte, e T) []byte {
		text.Reset()
		if err := encoder.Encode(convert(e)); err != nil {
			panic(err) // as MustMarshal
		}
		return append(b, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
	})
}

// AppendArray is [WriteArray] with a function that appends an element's JSON form. It
// serves arrays that grow with the fabric: encoding/json is slower and allocates memory
// for each value.
func AppendArray[T any](out *Output, name string, elements []T, appendJSON func([]byte, T) []byte) {
	appendSeq(out, name, slices.Values(elements), appendJSON)
}

func appendSeq[T any](out *Output, name string, elements iter.Seq[T], appendJSON func([]byte, T) []byte) {
	fmt.Fprintf(out, ",\n%q:[", name)
	b := []byte{'\n'}
	for e := range elements {
		b = appendJSON(b, e)
		out.Write(b)
		b = append(b[:0], ",\n"...)
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
