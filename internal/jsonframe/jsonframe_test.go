package jsonframe_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/jsonframe"
)

type object struct{ Text string }

func TestRead(t *testing.T) {
	var b bytes.Buffer
	if err := jsonframe.Write(&b, object{"a"}, 20); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "\x00\x00\x00\x0c"+`{"Text":"a"}`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var got object
	if err := jsonframe.Read(&b, &got, 12); err != nil || got.Text != "a" {
		t.Errorf("got %+v, %v, want the object that was sent", got, err)
	}
}

func TestRead_invalid(t *testing.T) {
	for name, test := range map[string]struct {
		input string
		want  error
	}{
		"end":        {"", io.EOF},
		"cut head":   {"\x00\x00", io.ErrUnexpectedEOF},
		"cut object": {"\x00\x00\x00\x05{}", io.ErrUnexpectedEOF},
		"no object":  {"\x00\x00\x00\x02{!", jsonframe.ErrInvalid},
		"too long":   {"\x00\x00\x00\x15", jsonframe.ErrInvalid},
		"HTTP":       {"GET / HTTP/1.1\r\n", jsonframe.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			if err := jsonframe.Read(strings.NewReader(test.input), &object{}, 20); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestRead_foreign(t *testing.T) {
	err := jsonframe.Read(strings.NewReader("GET / HTTP/1.1\r\n"), &object{}, 20)
	if length, ok := errors.AsType[*jsonframe.LengthError](err); !ok || string(length.Head[:]) != "GET " {
		t.Errorf("got %v, want the bytes of the foreign program", err)
	}
}

func TestWrite_tooLong(t *testing.T) {
	var b bytes.Buffer
	if err := jsonframe.Write(&b, object{"long"}, 14); err == nil || b.Len() > 0 {
		t.Errorf("got %v and %q, want an error before any byte is sent", err, b.String())
	}
}

func TestPrintable(t *testing.T) {
	if got, want := jsonframe.Printable("a\x1b[2J\u009b\n\x7fé"), "a [2J   é"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := jsonframe.Printable(strings.Repeat("é", 5000)); len(got) != 4000 {
		t.Errorf("got %d bytes, want 4000", len(got))
	}
}
