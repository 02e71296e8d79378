package ping

import (
	"bytes"
	"strings"
	"testing"
)

func TestEcho(t *testing.T) {
	for _, e := range []echo{
		{},
		{isAnswer: true, id: 1 << 63},
		{answer: firstAnswerMethod, id: 0x0102030405060708, payload: []byte("abc")},
		{answer: lastAnswerMethod, payload: bytes.Repeat([]byte{0xa5}, PayloadSize)},
	} {
		data := bytes.Repeat([]byte{0xff}, dataSize)
		e.put(data)
		got, ok := parseEcho(data)
		if !ok || got.isAnswer != e.isAnswer || got.answer != e.answer || got.id != e.id || !bytes.Equal(got.payload, e.payload) {
			t.Errorf("%+v became %+v, %v", e, got, ok)
		}
		if name := string(data[:offEchoMagic]); name != strings.Repeat("\xff", offEchoMagic) {
			t.Errorf("Put wrote into the name: %q", name)
		}
	}
}

func TestParseEcho_Invalid(t *testing.T) {
	good := make([]byte, dataSize)
	(&echo{id: 7}).put(good)
	for name, change := range map[string]func([]byte) []byte{
		"nothing":          func([]byte) []byte { return nil },
		"short":            func(b []byte) []byte { return b[:len(b)-1] },
		"ibping's zeros":   func(b []byte) []byte { return make([]byte, len(b)) },
		"other magic":      func(b []byte) []byte { b[offEchoMagic]++; return b },
		"unknown kind":     func(b []byte) []byte { b[offEchoKind] = 3; return b },
		"too long payload": func(b []byte) []byte { b[offEchoLength+1] = PayloadSize + 1; return b },
		"a response":       func(b []byte) []byte { b[offEchoMethod] = 0x81; return b },
		"answer by a Send": func(b []byte) []byte { b[offEchoMethod] = 3; return b },
	} {
		t.Run(name, func(t *testing.T) {
			if e, ok := parseEcho(change(bytes.Clone(good))); ok {
				t.Errorf("got %+v, want no echo", e)
			}
		})
	}
}

// FuzzParseEcho parses any data. A valid packet encodes to the same bytes again, except
// for unused fields.
func FuzzParseEcho(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, dataSize))
	data := make([]byte, dataSize)
	(&echo{answer: firstAnswerMethod, id: 1, payload: []byte("payload")}).put(data)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		e, ok := parseEcho(data)
		if !ok {
			return
		}
		again := make([]byte, dataSize)
		e.put(again)
		got, ok := parseEcho(again)
		if !ok || got.isAnswer != e.isAnswer || got.answer != e.answer || got.id != e.id || !bytes.Equal(got.payload, e.payload) {
			t.Errorf("%+v became %+v, %v", e, got, ok)
		}
	})
}
