package textfile_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/textfile"
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
