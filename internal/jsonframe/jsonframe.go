// Package jsonframe exchanges JSON objects between two programs on a stream: the length in
// four bytes, big-endian, and the object. A peer may send anything: lengths are limited, and
// texts are made safe for a terminal by [Printable].
package jsonframe

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrInvalid is wrapped if the peer violates the protocol.
var ErrInvalid = errors.New("the peer sent an invalid message")

// A LengthError is the error for an object above the limit. Programs with another protocol
// cause it too: their first bytes are no length.
type LengthError struct{ Head [4]byte }

func (e *LengthError) Error() string {
	return fmt.Sprintf("%v: it begins with %q", ErrInvalid, e.Head[:])
}

// Unwrap returns ErrInvalid.
func (e *LengthError) Unwrap() error { return ErrInvalid }

// Write sends an object of at most limit bytes with a single call.
func Write(w io.Writer, object any, limit int) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	if len(body) > limit {
		return fmt.Errorf("send message of %d bytes: above the maximum of %d", len(body), limit)
	}
	frame := make([]byte, 0, 4+len(body))
	_, err = w.Write(append(binary.BigEndian.AppendUint32(frame, uint32(len(body))), body...))
	return err
}

// Read receives the next object, of at most limit bytes. It returns io.EOF only in front of
// an object.
func Read(r io.Reader, object any, limit int) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if uint64(n) > uint64(limit) {
		return &LengthError{head}
	}
	// ReadAll allocates for the bytes that arrive, not for the announced length.
	body, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return err
	}
	if len(body) < int(n) {
		return io.ErrUnexpectedEOF
	}
	if err := json.Unmarshal(body, object); err != nil {
		return fmt.Errorf("%w: %s", ErrInvalid, Printable(err.Error())) // the error may quote the object
	}
	return nil
}

// Printable returns a text of the peer without control characters, of limited length.
func Printable(text string) string {
	const longest = 2000
	var b []rune
	for _, r := range text {
		if len(b) == longest {
			break
		}
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			r = ' '
		}
		b = append(b, r)
	}
	return string(b)
}
