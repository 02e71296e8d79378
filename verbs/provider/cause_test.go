package provider

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Every status but StatusOK has a text and a cause, and so has each undefined status.
func TestCause(t *testing.T) {
	for s := range Status(255) {
		c := Completion{Status: s, QPN: 0x11, VendorErr: uint32(s)}
		err := c.Err()
		if (err == nil) != (s == StatusOK) || (s.Cause() == "") != (s == StatusOK) || s.String() == "" {
			t.Errorf("status %d: got error %v, cause %q, text %q", s, err, s.Cause(), s)
		}
		var e *CompletionError
		if err != nil && (!errors.As(err, &e) || e.Completion != c) {
			t.Errorf("status %d: got error %#v, want a CompletionError of %+v", s, err, c)
		}
	}
	for status, words := range map[Status]string{
		StatusLocalQPOp:     "no route to the peer",
		StatusFlushed:       "(status 5): the queue pair changed to the error state",
		StatusRemoteAccess:  "RKey",
		StatusRetryExceeded: "the peer does not respond",
		StatusRNRExceeded:   "(status 13): the peer has no receive posted",
		200:                 "status 200 (status 200)",
	} {
		c := Completion{Status: status, QPN: 0x11}
		if text := c.Err().Error(); !strings.Contains(text, words) || !strings.HasPrefix(text, "complete work request on QP 0x11: ") {
			t.Errorf("status %d: got %q, want %q in it", status, text, words)
		}
	}
	c := Completion{Status: StatusFatal, VendorErr: 0x81}
	if text := c.Err().Error(); !strings.Contains(text, "(status 19, vendor error 0x81)") {
		t.Errorf("got %q, want the vendor error in it", text)
	}
}

func TestLength(t *testing.T) {
	for _, test := range []struct {
		lengths []uint32
		want    uint32
		err     error
	}{
		{nil, 0, nil},
		{[]uint32{3, 0, 4}, 7, nil},
		{[]uint32{5, 5}, 10, nil},
		{[]uint32{5, 6}, 0, ErrLength},
		{[]uint32{1<<32 - 1, 1<<32 - 1, 12}, 0, ErrLength},
	} {
		t.Run(fmt.Sprint(test.lengths), func(t *testing.T) {
			var sges []SGE
			for _, l := range test.lengths {
				sges = append(sges, SGE{Length: l})
			}
			if got, err := Length(sges, 10); got != test.want || !errors.Is(err, test.err) {
				t.Errorf("%d: got %d, error %v, want %d, error %v", test.lengths, got, err, test.want, test.err)
			}
		})
	}
}

func TestOpcodeNames(t *testing.T) {
	for o, want := range map[Opcode]string{OpWrite: "write", OpSendInvalidate: "send with invalidate", 10: "operation 10", 255: "operation 255"} {
		if got := o.String(); got != want {
			t.Errorf("opcode %d: got %q, want %q", o, got, want)
		}
	}
	if !CompletedRecv.Received() || !CompletedRecvWriteImm.Received() || CompletedSend.Received() {
		t.Error("Received: got a wrong result")
	}
}
