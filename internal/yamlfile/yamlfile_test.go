package yamlfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ibkit/ibkit/internal/textfile"
)

// TestRoot_Syntax checks the line numbers in parser errors.
func TestRoot_Syntax(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"first line", "a: [", "file:1: did not find expected node content"},
		{"list", "a: 1\nb: [1, 2\nc: 3\n", "file:2: did not find expected ',' or ']'"},
		{"later line", "a: 1\nb: 2\nc: [1, 2\nd: 3\n", "file:3: did not find expected ',' or ']'"},
		{"mapping", "a: 1\n b: 2\n", "file:2: mapping values are not allowed in this context"},
		{"tab", "a:\n\tb: 1\n", "file:2: found character that cannot start any token"},
		{"indicator", "%", "file:1: "},
		{"two documents", "a: 1\n---\nb: 2\n", "file:2: got more than one document"},
		{"end of the document", "a: 1\n---\nb: [\n", "file:3: did not find expected node content"},
		{"empty", "# nothing\n", "file: the file is empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := File("file").Root([]byte(test.text))
			var at *textfile.Error
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestMapping checks that errors have the line and the key.
func TestMapping(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"unknown", "a: 1\nc: 2\n", `file:2: thing: unknown key "c"`},
		{"repeated", "a: 1\na: 2\n", `file:2: thing: repeated key "a"`},
		{"kind", "- a\n", "file:1: thing: got a list, want a mapping"},
		{"number", "\na: x\n", `file:2: a: got "x", want a number from 0`},
		{"boolean", "b: 1\n", `file:1: b: got "1", want true or false`},
		{"empty", "a:\n", "file:1: a: got an empty value, want a text"},
		{"valid", "a: 7\nb: True\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := File("file")
			root, err := f.Root([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			var a uint64
			var b bool
			err = f.Mapping(root, "thing", map[string]Field{
				"a": Parsed(f, "a", &a, ParseCount),
				"b": func(n *yaml.Node) error { return Parsed(f, "b", &b, ParseBool)(n) },
			})
			switch {
			case test.want == "" && (err != nil || a != 7 || !b):
				t.Errorf("got %d, %v, %v", a, b, err)
			case test.want != "" && (err == nil || err.Error() != test.want):
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.yml")
	if err := os.WriteFile(path, make([]byte, maxSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || err.Error() != path+": larger than 1048576 bytes" {
		t.Errorf("got %v", err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none.yml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want %v", err, os.ErrNotExist)
	}
}

func FuzzRoot(f *testing.F) {
	f.Add("a: 1\nb: [1, {c: d}]\n")
	f.Add("&a [*a]")
	f.Fuzz(func(_ *testing.T, text string) {
		file := File("file")
		if root, err := file.Root([]byte(text)); err == nil {
			_ = file.Entries(root, "file", func(string, *yaml.Node, *yaml.Node) error { return nil })
		}
	})
}
