//go:build guest

package mlx5_test

import (
	"slices"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// library is Debian's libmlx5. Programs that use its API need it by this name, too.
const library = "/usr/lib/x86_64-linux-gnu/libmlx5.so.1"

// withLibrary returns a spec with a program that uses libmlx5.
func withLibrary(tb testing.TB, s guest.Spec, name string) guest.Spec {
	tb.Helper()
	s.Files = map[string]string{"/usr/bin/" + name: verbstest.Compile(tb, "testdata/"+name+".c", "-lmlx5"), library: library}
	return s
}

// TestWorkRequests posts the same work requests with libmlx5 and with package verbs/internal/mlx5,
// and compares the bytes in the queues. The output is verbs/internal/mlx5/testdata/libmlx5.wqes.
func TestWorkRequests(t *testing.T) {
	t.Parallel()
	s := withLibrary(t, spec(t), "wqes")
	s.Programs = append(slices.Clone(s.Programs), guest.Program{Package: "github.com/ibkit/ibkit/verbs/internal/mlx5", Test: true})
	g := guest.New(t, s)
	g.Must(t, "sh", "-c", "wqes >/root/wqes")
	verbstest.Record(t, g.Must(t, "cat", "/root/wqes"))
	g.Must(t, "mlx5.test", "-test.run=^TestLibmlx5$", "-wqes=/root/wqes")
}
