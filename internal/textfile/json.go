package textfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// DecodeJSON decodes a document in the file with a name. Its errors are an [*Error] with the
// line, if it is known, and name members as the document does.
func DecodeJSON(text []byte, file string, v any) error {
	err := json.Unmarshal(text, v)
	at := func(offset int64, err error) error {
		line := 1 + bytes.Count(text[:min(int(offset), len(text))], []byte("\n"))
		return &Error{File: file, Line: line, Err: err}
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return at(syntax.Offset, InvalidJSON(syntax))
	case errors.As(err, &kind) && kind.Field == "":
		return at(kind.Offset, fmt.Errorf("invalid JSON: a %s is not possible here", kind.Value))
	case errors.As(err, &kind):
		return at(kind.Offset, fmt.Errorf("invalid JSON: %s: a %s is not possible here", member(kind.Field), kind.Value))
	}
	return &Error{File: file, Err: InvalidJSON(err)}
}

// InvalidJSON describes an error of package json, without its "looking for beginning of value".
func InvalidJSON(err error) error {
	text, _, _ := strings.Cut(err.Error(), " looking for ")
	return errors.New("invalid JSON: " + text)
}

// member returns a path of members without embedded Go type names, which begin with a
// capital.
func member(path string) string {
	names := slices.DeleteFunc(strings.Split(path, "."), func(name string) bool {
		return name != "" && unicode.IsUpper(rune(name[0]))
	})
	return strings.Join(names, ".")
}
