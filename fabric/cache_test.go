package fabric_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ibkit/ibkit/fabric"
)

// Offsets in a cache.
const (
	offMagic   = 0
	offVersion = 4
	offNodes   = 8
	offPorts   = 12
	offStart   = 16
	offFirst   = 28 // the first node record
	nodeSize   = 207
	keySize    = 9
	portSize   = 95
)

// reload writes the fabric and reads it again.
func reload(f *fabric.Fabric) *fabric.Fabric {
	var b bytes.Buffer
	if err := f.WriteCache(&b); err != nil {
		panic(err)
	}
	f, err := fabric.ReadCache(&b)
	if err != nil {
		panic(err)
	}
	return f
}

// TestWriteCache_Libibnetdisc reads and writes Debian ibnetdiscover caches: the records
// must stay the same, in any order.
func TestWriteCache_Libibnetdisc(t *testing.T) {
	for _, path := range append(goldens(t, "testdata/chassis/*.cache"), goldens(t, "testdata/cache/*.cache")...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			debian, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := fabric.ParseCache(debian)
			if err != nil {
				t.Fatal(err)
			}
			var ours bytes.Buffer
			if err := f.WriteCache(&ours); err != nil {
				t.Fatal(err)
			}
			if want, got := records(debian), records(ours.Bytes()); !reflect.DeepEqual(got, want) {
				t.Errorf("records differ:\ngot  %x\nwant %x", got, want)
			}
			var again bytes.Buffer
			if err := reload(f).WriteCache(&again); err != nil || !bytes.Equal(again.Bytes(), ours.Bytes()) {
				t.Errorf("a cache that was read and written twice differs from one written once (error %v)", err)
			}
		})
	}
}

// records splits a valid cache into its records.
func records(b []byte) map[string]int {
	m := map[string]int{string(b[:offFirst]): 1}
	nodes := binary.LittleEndian.Uint32(b[offNodes:])
	b = b[offFirst:]
	for range nodes {
		size := nodeSize + keySize*int(b[nodeSize-1])
		m[string(b[:size])]++
		b = b[size:]
	}
	for ; len(b) > 0; b = b[portSize:] {
		m[string(b[:portSize])]++
	}
	return m
}

// A small cache: a switch with two ports in use and two adapters.
func smallCache(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/cache/small.cache")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseCache_Inconsistent(t *testing.T) {
	small := smallCache(t)
	counts := binary.LittleEndian.Uint32(small[offPorts:])
	firstPort := len(small) - int(counts)*portSize
	firstKey := offFirst + nodeSize
	linked := firstPort // a record with a link
	for small[linked+85] == 0 {
		linked += portSize
	}
	put32 := func(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
	tests := []struct {
		name   string
		at     int
		bytes  []byte
		offset int
		want   string
	}{
		{"magic number", offMagic, []byte{0}, 0, "not a fabric cache"},
		{"version", offVersion, []byte{2}, 4, "got version 2, want 1"},
		{"too many nodes", offNodes, put32(1 << 31), 8, "nodes"},
		{"too many ports", offPorts, put32(1<<32 - 1), 8, "ports"},
		{"one port less", offPorts, put32(counts - 1), firstPort, "port records"},
		{"start", offStart, []byte{0xff, 0xff}, 16, "GUID of a node in the file"},
		{"GUID of node", offFirst + 68, []byte{0xff}, -1, "which lists the port"},
		{"type of node", offFirst + 76, []byte{9}, offFirst, "type 9"},
		{"number of ports", offFirst + 77, []byte{200}, offFirst, "200 ports"},
		{"stored ports", offFirst + nodeSize - 1, []byte{255}, -1, "got port number"},
		{"port number too large", firstKey + 8, []byte{99}, firstKey, "got port number 99, want at most"},
		{"owner", firstPort + 77, []byte{0xee, 0xee}, firstPort, "which lists the port"},
		{"other end does not exist", linked + 86, []byte{0xee, 0xee}, -1, "point back"},
		{"other end points elsewhere", linked + 85, []byte{0}, -1, "point back"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := bytes.Clone(small)
			copy(b[test.at:], test.bytes)
			checkRefused(t, b, test.offset, test.want)
		})
	}

	record := bytes.Clone(small[offFirst : firstKey+keySize*int(small[firstKey-1])])
	t.Run("node twice", func(t *testing.T) {
		b := bytes.Clone(small[:offFirst])
		b[offNodes]++
		b = append(append(b, record...), small[offFirst:]...)
		checkRefused(t, b, offFirst+len(record), "each node once")
	})
	t.Run("port twice", func(t *testing.T) {
		b := bytes.Clone(small)
		last := len(b) - portSize
		copy(b[last:], b[last-portSize:last])
		checkRefused(t, b, last, "a single record for each port")
	})
	t.Run("more bytes", func(t *testing.T) {
		checkRefused(t, append(bytes.Clone(small), 0), firstPort, "port records")
	})
}

func TestParseCache_Truncated(t *testing.T) {
	small := smallCache(t)
	for n := range small {
		checkRefused(t, small[:n], -1, "got ")
	}
}

// checkRefused checks that the cache is rejected with an error at the offset, or
// at any offset if it is -1.
func checkRefused(t *testing.T, b []byte, offset int, want string) {
	t.Helper()
	_, err := fabric.ParseCache(b)
	e, ok := errors.AsType[*fabric.CacheError](err)
	if !ok {
		t.Fatalf("got %v, want a *CacheError", err)
	}
	if offset >= 0 && e.Offset != offset {
		t.Errorf("got offset %d, want %d: %v", e.Offset, offset, err)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want %q in it", err, want)
	}
}

// TestReadCacheFile_Header checks that an endless file in another format is rejected
// after the header.
func TestReadCacheFile_Header(t *testing.T) {
	_, err := fabric.ReadCache(zeros{})
	if _, ok := errors.AsType[*fabric.CacheError](err); !ok {
		t.Errorf("got %v, want a *CacheError", err)
	}
	broken := errors.New("broken")
	if _, err := fabric.ReadCache(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestReadCacheFile_Error(t *testing.T) {
	path := filepath.Join(t.TempDir(), "corrupt")
	if err := os.WriteFile(path, smallCache(t)[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := fabric.ReadCacheFile(path)
	if want := "read cache " + path + ": offset "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q in front", err, want)
	}
}

// TestParseCache_Start checks the start port, which the format does not store.
func TestParseCache_Start(t *testing.T) {
	f, err := fabric.ParseCache(smallCache(t))
	if err != nil {
		t.Fatal(err)
	}
	adapter := slices.IndexFunc(f.Nodes, func(n *fabric.Node) bool { return n.IsCA() })
	f.Start = f.Nodes[adapter]
	linked := f.Start.Info.LocalPort
	for _, local := range []uint8{linked, 0} {
		f.Start.Info.LocalPort = local
		g := reload(f)
		if g.StartPort != linked {
			t.Errorf("local port %d: got port %d, want %d, the only one with a link", local, g.StartPort, linked)
		}
		for _, n := range g.Nodes[1:] {
			if n.Route.Hops() == 0 {
				t.Errorf("local port %d: no route to node 0x%016x", local, n.GUID)
			}
		}
	}
}

func TestWriteCache_MissingPorts(t *testing.T) {
	f, err := fabric.ParseCache(smallCache(t))
	if err != nil {
		t.Fatal(err)
	}
	silent := f.Start.Ports[f.StartPort].Peer
	silent.Info = nil
	g := reload(f)
	if g.NodeByGUID(silent.Node.GUID).Ports[silent.Number] != nil {
		t.Error("a port that did not answer is in the cache")
	}
	if g.Start.Ports[f.StartPort].Peer != nil {
		t.Error("a port is linked to one that is not in the cache")
	}
}

// TestParseCache_MissingRecords parses caches in which a port is named but has no record, as
// libibnetdisc before release 65 writes them after a timeout (ibnetdisc_cache.c).
func TestParseCache_MissingRecords(t *testing.T) {
	small := smallCache(t)
	counts := binary.LittleEndian.Uint32(small[offPorts:])
	firstPort, firstKey := len(small)-int(counts)*portSize, offFirst+nodeSize
	linked := firstPort
	for small[linked+85] == 0 {
		linked += portSize
	}
	complete, err := fabric.ParseCache(small)
	if err != nil {
		t.Fatal(err)
	}
	links := func(f *fabric.Fabric) (n int) {
		for _, node := range f.Nodes {
			for _, p := range node.Ports {
				if p != nil && p.Peer != nil {
					n++
				}
			}
		}
		return n
	}
	without := func(at int) []byte { // without a port record
		b := slices.Concat(small[:at], small[at+portSize:])
		binary.LittleEndian.PutUint32(b[offPorts:], counts-1)
		return b
	}
	changed := func(at int) []byte {
		b := bytes.Clone(small)
		b[at], b[at+1] = 0xee, 0xee
		return b
	}
	for _, test := range []struct {
		name    string
		cache   []byte
		missing int // Unanswered
		links   int // lost ends
	}{
		{"no record of a linked port", without(linked), 1, 2},
		{"key of another port", changed(firstKey), 3, 2}, // the key, the record, and the other end of its link
		{"record of another port", changed(firstPort), 2, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := fabric.ParseCache(test.cache)
			if err != nil || f.Unanswered != test.missing || !f.Partial() || len(f.Nodes) != len(complete.Nodes) {
				t.Fatalf("got error %v, %d unanswered, want %d; %+v", err, f.Unanswered, test.missing, f)
			}
			if lost := links(complete) - links(f); test.links >= 0 && lost != test.links {
				t.Errorf("lost %d link ends, want %d", lost, test.links)
			}
		})
	}
}

// TestCache_Partial checks that a cache keeps a partial fabric's marks, and that the
// records are the same as without them.
func TestCache_Partial(t *testing.T) {
	complete := smallCache(t)
	for name, mark := range map[string]func(*fabric.Fabric){
		"unanswered": func(f *fabric.Fabric) { f.Failures = make([]fabric.Failure, 3) },
		"aborted":    func(f *fabric.Fabric) { f.Aborted = errors.New("interrupted") },
		"bounded":    func(f *fabric.Fabric) { f.Bounded = true },
	} {
		t.Run(name, func(t *testing.T) {
			f, err := fabric.ParseCache(complete)
			if err != nil {
				t.Fatal(err)
			}
			if f.Partial() || f.Bounded {
				t.Fatal("a complete cache: got a partial fabric")
			}
			mark(f)
			g := reload(f)
			if g.Partial() != f.Partial() || g.Bounded != f.Bounded || g.Unanswered != len(f.Failures) || (g.Aborted == nil) != (f.Aborted == nil) {
				t.Errorf("got partial %t, bounded %t, %d unanswered, aborted %v", g.Partial(), g.Bounded, g.Unanswered, g.Aborted)
			}
			var b bytes.Buffer
			if err := g.WriteCache(&b); err != nil || b.Len() != len(complete)+12 {
				t.Errorf("got %d bytes, %v, want %d", b.Len(), err, len(complete)+12)
			}
			checkRefused(t, append(b.Bytes()[:len(complete)], make([]byte, 12)...), -1, "trailer of a partial fabric")
		})
	}
}

func TestWriteCache_Limits(t *testing.T) {
	tests := []struct {
		name       string
		invalidate func(*fabric.Fabric)
	}{
		{"no node", func(f *fabric.Fabric) { f.Start = nil }},
		{"duplicate node", func(f *fabric.Fabric) { f.Nodes[1].Duplicate = true }},
		{"duplicate port", func(f *fabric.Fabric) {
			last := f.Nodes[len(f.Nodes)-1]
			last.Ports[1].GUID, last.Ports[1].Number = f.Start.Ports[f.StartPort].GUID, f.StartPort
		}},
		{"value too large", func(f *fabric.Fabric) { f.Nodes[1].Info.VendorID = 1 << 24 }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, err := fabric.ParseCache(smallCache(t))
			if err != nil {
				t.Fatal(err)
			}
			test.invalidate(f)
			if err := f.WriteCache(new(bytes.Buffer)); err == nil {
				t.Error("got no error, want one")
			}
		})
	}
}

func TestWriteCacheFile_Atomic(t *testing.T) {
	f, err := fabric.ParseCache(smallCache(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cache")
	if err := f.WriteCacheFile(path); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	f.Start = nil
	if err := f.WriteCacheFile(path); err == nil {
		t.Error("a fabric without a start was written")
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the former cache was replaced (error %v)", err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("files left behind: %v (error %v)", left, err)
	}
	if err := f.WriteCacheFile(filepath.Join(path, "no", "directory")); err == nil {
		t.Error("no error for a path that cannot be")
	}
}

func FuzzParseCache(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := fabric.ParseCache(b)
		if err != nil {
			if _, ok := errors.AsType[*fabric.CacheError](err); !ok {
				t.Fatalf("got %T, want a *CacheError: %v", err, err)
			}
			return
		}
		again := reload(got)
		if len(again.Nodes) != len(got.Nodes) {
			t.Fatalf("%d nodes read, %d read again", len(got.Nodes), len(again.Nodes))
		}
		for i, n := range got.Nodes {
			m := again.Nodes[i]
			if m.GUID != n.GUID || m.Info != n.Info || m.Desc != n.Desc || m.Route != n.Route || m.Slot != n.Slot {
				t.Fatalf("node %d changed from %+v to %+v", i, n, m)
			}
			for j, p := range n.Ports {
				q := m.Ports[j]
				if (p == nil) != (q == nil) {
					t.Fatalf("node %d port %d came or went", i, j)
				}
				if p != nil && (*p.Info != *q.Info || p.External != q.External || (p.Peer == nil) != (q.Peer == nil)) {
					t.Fatalf("node %d port %d changed", i, j)
				}
			}
			if !n.IsSwitch() && n.Ports[0] != nil {
				t.Fatalf("node %d is no switch and has a port 0", i)
			}
		}
	})
}
