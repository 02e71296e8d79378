package conventions

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProgress compares what tools/progress prints for test events.
func TestProgress(t *testing.T) {
	const events = `{"Action":"start","Package":"m/good"}
{"Action":"run","Package":"m/good","Test":"TestGood"}
{"Action":"output","Package":"m/good","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"m/good","Test":"TestGood","Output":"a log line\n"}
{"Action":"pass","Package":"m/good","Test":"TestGood","Elapsed":0.2}
{"Action":"output","Package":"m/good","Output":"ok  \tm/good\t(cached)\n"}
{"Action":"pass","Package":"m/good","Elapsed":0.3}
{"Action":"skip","Package":"m/empty","Elapsed":0}
text of another program
{"Action":"output","Package":"m/bad","Test":"TestBad","Output":"=== RUN   TestBad\n"}
{"Action":"output","Package":"m/bad","Test":"TestBad","Output":"    x_test.go:1: got 1, want 2\n"}
{"Action":"output","Package":"m/bad","Test":"TestBad","Output":"--- FAIL: TestBad (1.25s)\n"}
{"Action":"fail","Package":"m/bad","Test":"TestBad","Elapsed":1.25}
{"Action":"output","Package":"m/bad","Test":"TestHang","Output":"the last line before the end\n"}
{"Action":"output","Package":"m/bad","Output":"FAIL\tm/bad\t61.500s\n"}
{"Action":"fail","Package":"m/bad","Elapsed":61.5}
{"Action":"build-output","ImportPath":"m/broken","Output":"broken.go:3:1: undefined: x\n"}
{"Action":"fail","Package":"m/broken","Elapsed":0}
`
	const want = `pass   cached m/good
text of another program
    x_test.go:1: got 1, want 2
--- FAIL: TestBad (1.25s)
FAIL	m/bad	61.500s
the last line before the end
fail    61.5s m/bad
broken.go:3:1: undefined: x
fail     0.0s m/broken
1 passed, 1 failed in `
	cmd := exec.Command("go", "run", "tools/progress/main.go")
	cmd.Dir, cmd.Stdin = root, strings.NewReader(events)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got, _, _ := strings.Cut(string(out), "failed in ")
	if d := cmp.Diff(want, got+"failed in "); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
