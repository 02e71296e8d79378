package textfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/internal/textfile"
)

func TestReader(t *testing.T) {
	r := textfile.NewReader(strings.NewReader("a\r\n\nb"), "file")
	var got []string
	for r.Next() {
		if string(r.Bytes()) != r.Text() {
			t.Errorf("line %d: got bytes %q, want those of %q", r.Line(), r.Bytes(), r.Text())
		}
		got = append(got, r.Text())
	}
	if want := "a,,b"; strings.Join(got, ",") != want || r.Line() != 3 || r.Err() != nil {
		t.Errorf("got %q, line %d, error %v; want %q, line 3, no error", got, r.Line(), r.Err(), want)
	}
}

// The first line has no byte order mark.
func TestReader_Mark(t *testing.T) {
	r := textfile.NewReader(strings.NewReader("\ufeffa\n\ufeffb"), "file")
	for _, want := range []string{"a", "\ufeffb"} {
		if !r.Next() || r.Text() != want || string(r.Bytes()) != want {
			t.Errorf("line %d: got %q, want %q", r.Line(), r.Text(), want)
		}
	}
}

// End leaves out the errors of rejected lines.
func TestReader_End(t *testing.T) {
	for _, test := range []struct {
		lines int
		want  string
	}{
		{3, "<nil>"},
		{10_001, "file:10000: the lines from here on were not read: 10000 lines are invalid"},
	} {
		r := textfile.NewReader(strings.NewReader(strings.Repeat("x\n", test.lines)), "file")
		for r.Next() {
			r.Reject(errors.New("invalid"))
		}
		if err := r.End(); fmt.Sprint(err) != test.want {
			t.Errorf("%d lines: got %v, want %s", test.lines, err, test.want)
		}
	}
}

func TestUnstyled(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"plain", "a b", "a b"},
		{"carriage returns", "\r\ra b\r\r", "a b"},
		{"colour", "\x1b[01;31m\x1b[Ka b\x1b[m\x1b[K", "a b"},
		{"mode", "\x1b[?2004l\ra b\r", "a b"},
		{"title", "\x1b]0;root@h: ~\x07a b", "a b"},
		{"in a name", "\"a \x1b[31m\" b", "\"a \x1b[31m\" b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := textfile.Unstyled(test.line); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestReader_Err(t *testing.T) {
	long := strings.Repeat("x", textfile.MaxLine+1)
	r := textfile.NewReader(strings.NewReader("a\n"+long), "file")
	for r.Next() {
	}
	if err, want := r.Err(), "file:2: line longer than 65536 bytes"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	r = textfile.NewReader(dir, "dir")
	for r.Next() {
	}
	if err, want := r.Err(), "dir: is a directory"; err == nil || err.Error() != want || !errors.Is(err, syscall.EISDIR) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A file of another kind has a single error, however many lines it has, and the reading ends.
func TestReader_Reject(t *testing.T) {
	invalid := errors.New("want a number")
	for _, test := range []struct{ name, text, want string }{
		{"one", "1\nx\n2", "file:2: want a number"},
		{"some", "x\n1\nx\nx", "file:1: want a number; 3 lines are invalid"},
		{"and a long line", "x\n" + strings.Repeat("1", textfile.MaxLine+1), "file:1: want a number; 2 lines are invalid"},
		{"without end", strings.Repeat("x\n", 20_000), "file:1: want a number; 10000 or more lines are invalid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := textfile.NewReader(strings.NewReader(test.text), "file")
			for r.Next() {
				if r.Text() == "x" {
					r.Reject(invalid)
				}
			}
			err := r.Err()
			if err == nil || err.Error() != test.want || !errors.Is(err, invalid) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if _, ok := errors.AsType[*textfile.Error](err); !ok {
				t.Errorf("got an error of type %T, want one that wraps *textfile.Error", err)
			}
		})
	}
}

func TestError(t *testing.T) {
	for _, test := range []struct {
		line int
		want string
	}{{0, "file: file does not exist"}, {7, "file:7: file does not exist"}} {
		t.Run(test.want, func(t *testing.T) {
			err := &textfile.Error{File: "file", Line: test.line, Err: fs.ErrNotExist}
			if err.Error() != test.want || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	long := strings.Repeat("x", 61)
	for text, want := range map[string]string{"a\x00": `"a\x00"`, long: `"` + long[:60] + `"…`} {
		t.Run(text, func(t *testing.T) {
			if got := textfile.Quote(text); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if got := textfile.Quote([]byte(text)); got != want {
				t.Errorf("got %s, want %s for bytes", got, want)
			}
		})
	}
}

func TestReader_Content(t *testing.T) {
	r := textfile.NewReader(strings.NewReader(" node 1 # a comment\n# none\n\nlast"), "f")
	var got []string
	for r.Next() {
		got = append(got, r.Content())
	}
	if want := []string{"node 1", "", "", "last"}; !slices.Equal(got, want) || r.Err() != nil {
		t.Errorf("got %q, %v, want %q", got, r.Err(), want)
	}
}
