package provider

import (
	"errors"
	"strings"
	"testing"
)

// Each status but success has words and advice, numbers that are none too.
func TestAdvice(t *testing.T) {
	for s := range Status(255) {
		c := Completion{Status: s, QPN: 0x11, VendorErr: uint32(s)}
		err := c.Err()
		if (err == nil) != (s == StatusOK) || (s.Advice() == "") != (s == StatusOK) || s.String() == "" {
			t.Errorf("status %d: %v", s, err)
		}
		var e *CompletionError
		if err != nil && (!errors.As(err, &e) || e.Completion != c) {
			t.Errorf("status %d: %v", s, err)
		}
	}
	for status, words := range map[Status]string{
		StatusLocalQPOp:     "that the link is up",
		StatusFlushed:       "(status 5): the queue pair changed to the error state",
		StatusRemoteAccess:  "RKey",
		StatusRetryExceeded: "UDP port 4791",
		StatusRNRExceeded:   "(status 13): the peer has no receive posted",
		200:                 "status 200 (status 200)",
	} {
		c := Completion{Status: status, QPN: 0x11}
		if text := c.Err().Error(); !strings.Contains(text, words) || !strings.HasPrefix(text, "complete work request on QP 0x11: ") {
			t.Errorf("%q has no %q", text, words)
		}
	}
	c := Completion{Status: StatusFatal, VendorErr: 0x81}
	if text := c.Err().Error(); !strings.Contains(text, "(status 19, vendor error 0x81)") {
		t.Error(text)
	}
}

func TestOpcodeNames(t *testing.T) {
	for o, want := range map[Opcode]string{OpWrite: "write", OpSendInvalidate: "send with invalidate", 10: "operation 10", 255: "operation 255"} {
		if got := o.String(); got != want {
			t.Errorf("%d: %q", o, got)
		}
	}
	if !CompletedRecv.Received() || !CompletedRecvWriteImm.Received() || CompletedSend.Received() {
		t.Error("what is a receive")
	}
}
