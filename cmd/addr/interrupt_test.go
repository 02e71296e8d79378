package addr

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// cancelWriter cancels a context at the first timeout that is printed.
type cancelWriter struct {
	bytes.Buffer
	cancel func()
}

func (w *cancelWriter) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("no reply in time")) {
		w.cancel()
	}
	return w.Buffer.Write(b)
}

// An interrupted search prints the ports found so far.
func TestAddr_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	errs := &cancelWriter{cancel: cancel}
	env := &cmdutil.Env{Out: &out, ErrOut: errs, Getenv: func(string) string { return "" }}
	code := program(ctx, env, strings.Fields("addr --sim demo --source nodes -e -t 20 1-9000"))
	if code != cmdutil.ExitPartial || !strings.Contains(out.String(), "0x0002c90000100601") || !strings.Contains(errs.String(), "interrupted: ") {
		t.Errorf("got exit code %d, output %q, errors %q; want 4 and the ports of the fabric", code, out.String(), errs.String())
	}
}
