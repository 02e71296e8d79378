package textfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/textfile"
)

// The members and elements before damage are read, and the failures have the line.
func TestDocument(t *testing.T) {
	const whole = "{\n\"schema\":\"x\",\n\"nodes\":[\n{\"a\":\n1},\n2],\n\"end\":3}\n"
	for _, test := range []struct{ name, text, want string }{
		{"whole", whole, `schema="x"; 0@4={"a": 1}; 1@6=2; end=3`},
		{"before", "x\n" + strings.Replace(whole, "{\n", "{", 1), `fail@1: got "x", want only a JSON document; schema="x"; 0@4={"a": 1}; 1@6=2; end=3`},
		{"after", whole + "x\n", `schema="x"; 0@4={"a": 1}; 1@6=2; end=3; fail@8: got "x", want only a JSON document`},
		{"truncated", whole[:30], `schema="x"; fail@4: invalid JSON: unexpected EOF`},
		{"element", strings.Replace(whole, "1}", "1]", 1), `schema="x"; fail@5: invalid JSON: invalid character ']' after object key:value pair`},
		{"comma", strings.Replace(whole, "2]", "2 2]", 1), `schema="x"; 0@4={"a": 1}; 1@6=2; fail@6: invalid JSON: expected comma after array element`},
		{"no array", strings.Replace(whole, "[\n", "{\n", 1), `schema="x"; fail@3: invalid JSON: nodes: want an array`},
		{"member", strings.Replace(whole, "3", "\"bad\"", 1), `schema="x"; 0@4={"a": 1}; 1@6=2; fail@7: end: got "\"bad\""`},
		{"no object", "[1]\n", `fail@1: invalid JSON: want an object`},
		{"empty", "", `fail@1: invalid JSON: unexpected EOF`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			add := func(format string, args ...any) {
				got = append(got, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
			}
			(&textfile.Document{
				Arrays: map[string]func(int, []byte, int){"nodes": func(i int, element []byte, line int) { add("%d@%d=%s", i, line, element) }},
				Member: func(name string, value []byte) error {
					if string(value) == `"bad"` {
						return textfile.ErrTooLong
					}
					add("%s=%s", name, value)
					return nil
				},
				Fail: func(line int, err error) { add("fail@%d: %v", line, err) },
			}).Read([]byte(test.text))
			if got := strings.Join(got, "; "); got != test.want {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
}
