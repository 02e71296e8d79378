package dump

import (
	"bytes"
	"os"
	"testing"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// fuzzReader fuzzes a reader for files with tables for the nodes in testdata/opensm. A
// routing that it accepts can be saved, loaded and analysed.
func fuzzReader(f *testing.F, topology bool, read func(*route.Routing, []byte) error, seeds ...string) {
	list, err := os.ReadFile("testdata/opensm/opensm-subnet.lst")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := &route.Routing{}
		if topology {
			if err := readSubnetList(r, bytes.NewReader(list), "list", 0); err != nil {
				t.Fatal(err)
			}
		}
		if read(r, text) != nil {
			return
		}
		var saved bytes.Buffer
		if err := Save(&saved, r); err != nil {
			t.Fatal(err)
		}
		if err := readSaved(&route.Routing{}, &saved, "saved"); err != nil {
			t.Fatal(err)
		}
		analyze(t, r)
	})
}

func seed(f *testing.F, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	return string(text)
}

func FuzzSubnetList(f *testing.F) {
	fuzzReader(f, false, func(r *route.Routing, text []byte) error {
		return readSubnetList(r, bytes.NewReader(text), "fuzz", 0)
	}, seed(f, "testdata/opensm/opensm-subnet.lst"))
}

func FuzzTopology(f *testing.F) {
	fuzzReader(f, false, func(r *route.Routing, text []byte) error {
		read, err := readTopology(bytes.NewReader(text), "fuzz")
		if err == nil {
			*r = *read
		}
		return err
	}, seed(f, "testdata/topology.txt"))
}

func FuzzForwardingDump(f *testing.F) {
	fuzzReader(f, true, func(r *route.Routing, text []byte) error {
		return readForwardingDump(r, bytes.NewReader(text), int64(len(text)), "fuzz")
	}, seed(f, "testdata/opensm/opensm.fdbs"))
}

func FuzzMulticastDump(f *testing.F) {
	fuzzReader(f, true, func(r *route.Routing, text []byte) error {
		return readMulticastDump(r, bytes.NewReader(text), "fuzz")
	}, dumps["mcfdbs"])
}

func FuzzTableDump(f *testing.F) {
	fuzzReader(f, true, func(r *route.Routing, text []byte) error {
		return readTableDump(r, bytes.NewReader(text), "fuzz")
	}, seed(f, "testdata/dump_fts.txt"), dumps["mfts"], dumps["masks"])
}

func FuzzSLtoVLDump(f *testing.F) {
	fuzzReader(f, true, func(r *route.Routing, text []byte) error {
		return readSLtoVLDump(r, bytes.NewReader(text), "fuzz")
	}, dumps["slvl"], seed(f, "testdata/opensm/opensm-sl2vl.dump"))
}

func FuzzPathSLDump(f *testing.F) {
	fuzzReader(f, true, func(r *route.Routing, text []byte) error {
		return readPathSLDump(r, bytes.NewReader(text), "fuzz")
	}, dumps["psl"], dumps["psl osm"])
}

func FuzzSaved(f *testing.F) {
	r, err := Load([]string{"testdata/opensm"}, LoadOptions{})
	if err != nil {
		f.Fatal(err)
	}
	var saved bytes.Buffer
	if err := Save(&saved, r); err != nil {
		f.Fatal(err)
	}
	fuzzReader(f, false, func(r *route.Routing, text []byte) error {
		return readSaved(r, bytes.NewReader(text), "fuzz")
	}, saved.String())
}

func FuzzDetectKind(f *testing.F) {
	for _, text := range dumps {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { detectKind(text) })
}
