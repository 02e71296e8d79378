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
	fmt.Fprintf(out, ",\n%q:[", name)
	for i, e := range elements {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(MustMarshal(convert(e)))
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
