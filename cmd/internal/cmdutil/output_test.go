package cmdutil

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestExitCode_LostOutput(t *testing.T) {
	const lost = "write standard output: no space left on device"
	for _, test := range []struct {
		name string
		err  func(failed error) error
		code int
	}{
		{"success", func(error) error { return nil }, ExitFailed},
		{"partial", func(error) error { return ResultError(true, false) }, ExitFailed},
		{"findings", func(error) error { return ResultError(false, true) }, ExitFailed},
		{"returned", func(failed error) error { return failed }, ExitFailed},
		{"partial with the failure", func(failed error) error { return &ExitError{ExitPartial, failed} }, ExitFailed},
		{"usage", func(error) error { return UsageErrorf("%s", lost) }, ExitUsage},
	} {
		t.Run(test.name, func(t *testing.T) {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer full.Close()
			var messages bytes.Buffer
			env := &Env{Out: NewStandardOutput(full), ErrOut: &messages}
			_, failed := env.Out.Write([]byte("result"))
			if _, ok := errors.AsType[*OutputError](failed); !ok {
				t.Fatalf("write: got %v, want an OutputError", failed)
			}
			if code := ExitCode(env, "ibkit", test.err(failed)); code != test.code {
				t.Errorf("code: got %d, want %d", code, test.code)
			}
			if n := strings.Count(messages.String(), lost); n != 1 {
				t.Errorf("messages: got %q, want one with %q", messages.String(), lost)
			}
		})
	}
}
