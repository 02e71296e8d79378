package mlx5

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// MLX5_CQE_SIZE selects the entry size; the adapter writes their last 64 bytes.
func TestEnvironment_CQESize(t *testing.T) {
	t.Setenv("MLX5_CQE_SIZE", "128")
	f, cq, q := newPair(t, provider.RC)
	if f.cq.CQESize != 128 || f.cq.DBAddr != f.cq.BufAddr+8*128 {
		t.Errorf("got entries of %d bytes and a doorbell record at %d, want 128 and %d", f.cq.CQESize, f.cq.DBAddr-f.cq.BufAddr, 8*128)
	}
	for i := range uint32(20) {
		if _, err := q.PostSend([]provider.SendWR{{ID: uint64(i), Opcode: provider.OpSend}}); err != nil {
			t.Fatal(err)
		}
		cq.put(i, q, cqeRequest, uint16(i), func(e []byte) { e[cqeQPN] = wqeSend })
		if cq.memory.buffer[int(i&7)*128+127] != byte(i>>3&1) {
			t.Fatalf("completion %d is not in the last 64 bytes", i)
		}
		var c [2]provider.Completion
		if n, err := cq.Poll(c[:]); n != 1 || err != nil || c[0].ID != uint64(i) {
			t.Fatalf("completion %d: got %d, error %v, ID %d", i, n, err, c[0].ID)
		}
	}
	for _, value := range []string{"32", "256", "x"} {
		t.Setenv("MLX5_CQE_SIZE", value)
		r := supported
		if _, err := New(f, uapi.Bytes(&r)); !errors.Is(err, unix.EINVAL) {
			t.Errorf("MLX5_CQE_SIZE=%s: got error %v, want %v", value, err, unix.EINVAL)
		}
	}
}

// The perf page lists the variables that have an effect.
func TestEnvironment_Documented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/perf.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z0-9_]+)` \\| as in libmlx5").FindAllSubmatch(page, -1) {
		want = append(want, string(m[1]))
	}
	if _, err := readEnvironment(func(name string) string { got = append(got, name); return "" }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got effects of %q, documented are those of %q", got, want)
	}
}

// Queues are in memory near the device.
func TestMemory_Node(t *testing.T) {
	f, d := newDevice(t)
	node := 1 << 20 // no such node: package dmamem rejects it
	f.node = &node
	if _, err := d.newMemory(64); !errors.Is(err, unix.EINVAL) {
		t.Errorf("got error %v, want %v: the node is ignored", err, unix.EINVAL)
	}
}
