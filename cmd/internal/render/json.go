package render

import (
	"encoding/json"
	"fmt"
)

// WriteMembers writes the members of an object after a brace or a comma, and leaves the
// object open.
func WriteMembers(out *Output, before byte, v any) {
	b := MustMarshal(v)
	out.WriteByte(before)
	out.WriteByte('\n')
	out.Write(b[1 : len(b)-1])
}

// WriteArray writes a member that is an array, one element per line.
func WriteArray[T any](out *Output, name string, elements []T, convert func(T) any) {
	AppendArray(out, name, elements, func(b []byte, e T) []byte { return append(b, MustMarshal(convert(e))...) })
}

// AppendArray is [WriteArray] with a function that appends the JSON form of an element.
// It serves arrays whose size grows with the fabric: encoding/json is slower and
// allocates memory for each value.
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

// MustMarshal encodes values that cannot fail to encode.
func MustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
