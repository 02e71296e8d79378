package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// An event is one line of what "go test -json" prints (go doc test2json).
type event struct {
	Action, Package, Test, Output string
}

// key names a test, or with an empty test a package.
type key struct{ pkg, test string }

// goTest runs "go" with args, which must make it print JSON, and counts tests.
// What failed ones said goes to w.
func goTest(args []string, w io.Writer) (count, error) {
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return count{}, err
	}
	if err := cmd.Start(); err != nil {
		return count{}, err
	}
	t := tests{output: map[key]string{}, failed: map[string]bool{}, w: w}
	dec := json.NewDecoder(out)
	for {
		var e event
		if err := dec.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			return count{}, fmt.Errorf("read test events: %w", errors.Join(err, cmd.Wait()))
		}
		t.see(e)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return count{}, err
	}
	if exit != nil && t.count.failed == 0 {
		t.count.failed++ // it could not even begin
	}
	return t.count, nil
}

// tests follows the tests of several packages, which run at the same time.
type tests struct {
	count  count
	output map[key]string  // of tests and packages that have not ended
	failed map[string]bool // packages with a failed test
	w      io.Writer
}

func (t *tests) see(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "output", "build-output":
		t.output[k] += e.Output
		return
	case "pass":
		if e.Test != "" {
			t.count.passed++
		}
	case "skip":
		if e.Test != "" {
			t.count.skipped++
		}
	case "fail":
		// A package fails with its tests; if none of them did, it does not
		// compile or broke down.
		if e.Test != "" || !t.failed[e.Package] {
			t.count.failed++
		}
		t.failed[e.Package] = true
		fmt.Fprint(t.w, t.output[k])
	case "build-fail":
		fmt.Fprint(t.w, t.output[k])
	default:
		return
	}
	delete(t.output, k)
}
