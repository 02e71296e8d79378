// Package dump reads and writes routings in files: the [Save] form, and dumps from opensm,
// ibdiagnet, ibnetdiscover and dump_fts.
package dump

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/textfile"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// LoadOptions are the [Load] options.
type LoadOptions struct {
	// LMC is the end ports' LMC if the files do not contain it (opensm-subnet.lst).
	LMC uint8
}

// A fileKind is a kind of file that [Load] reads.
type fileKind uint8

// The kinds, in the order in which they are read: the topology precedes the tables.
const (
	emptyFile fileKind = iota
	savedFile
	cacheFile
	topologyFile
	subnetListFile
	forwardingFile
	multicastFile
	tableFile
	sltovlFile
	pathSLFile
)

// dumpNames are a directory's files that [Load] reads: the files of opensm and
// ibdiagnet.
var dumpNames = []string{
	"opensm-subnet.lst", "opensm.fdbs", "opensm.mcfdbs", "opensm-sl2vl.dump", "opensm-path-sl.dump",
	"ibdiagnet.lst", "ibdiagnet.fdbs", "ibdiagnet.mcfdbs", "ibdiagnet.slvl", "ibdiagnet.psl",
	"ibdiagnet2.lst", "ibdiagnet2.fdbs", "ibdiagnet2.mcfdbs", "ibdiagnet2.slvl", "ibdiagnet2.psl",
}

// Load reads files. Their content determines their kind: a saved routing; a topology
// (opensm-subnet.lst, or an ibnetdiscover output or cache) with tables from opensm (.fdbs,
// .mcfdbs, opensm-sl2vl.dump), from ibdiagnet (.fdbs, .mcfdbs, .slvl, .psl) or from
// dump_fts. A directory stands for the files of opensm or ibdiagnet in it. Empty files are
// ignored. Files without a forwarding table are an error.
//
// An invalid line is a failure of the routing, and so is a file beside the topology that
// has no valid line. Their errors are a [*textfile.Error].
func Load(paths []string, o LoadOptions) (*route.Routing, error) {
	files, err := expand(paths)
	if err != nil {
		return nil, err
	}
	type source struct {
		path string
		kind fileKind
	}
	var sources []source
	var invalid []route.Failure
	for _, path := range files {
		kind, err := detect(path)
		switch {
		case isContent(err):
			invalid = append(invalid, route.Failure{Err: err})
		case err != nil:
			return nil, err
		case kind != emptyFile:
			sources = append(sources, source{path, kind})
		}
	}
	if len(sources) == 0 && len(invalid) > 0 {
		return nil, invalid[0].Err
	}
	slices.SortStableFunc(sources, func(a, b source) int { return int(a.kind) - int(b.kind) })
	r := &route.Routing{}
	for i, s := range sources {
		switch {
		case i > 0 && s.kind <= subnetListFile:
			return nil, fmt.Errorf("read %s: %s has a topology already", s.path, sources[0].path)
		case i == 0 && s.kind > subnetListFile:
			return nil, &missingTopologyError{s.path}
		}
		loaded, err := load(r, s.path, s.kind, o)
		switch {
		case err == nil:
			r = loaded
		case i > 0 && isContent(err):
			invalid = append(invalid, route.Failure{Err: err})
		default:
			return nil, err
		}
	}
	damage := append(invalid, r.Failures...) // the reason for a missing table first
	r.Failures = append(r.Failures, invalid...)
	switch {
	case len(sources) == 0:
		return nil, fmt.Errorf("read %s: no content", paths[0])
	case !hasTables(r) && len(damage) > 0:
		return nil, fmt.Errorf("read forwarding tables: %w", damage[0].Err)
	case !hasTables(r):
		return nil, fmt.Errorf("read %s: no forwarding tables, only nodes and links: the tables are missing (%s)", sources[0].path, tableFiles)
	}
	return r, nil
}

// isContent reports whether an error is about a file's content.
func isContent(err error) bool {
	_, is := errors.AsType[*textfile.Error](err)
	return is
}

// tableFiles are example files with tables, for messages.
const tableFiles = "opensm.fdbs, or the output of dump_fts"

// hasTables reports whether a table was read, or the routing has no switch.
func hasTables(r *route.Routing) bool {
	switches := 0
	for _, n := range r.Nodes {
		if n.Tables.Known() || n.Tables != nil && len(n.Tables.MFT) > 0 {
			return true
		}
		if n.IsSwitch() {
			switches++
		}
	}
	return switches == 0
}

// expand replaces directories by the files in them.
func expand(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() { // opening the file reports an error
			files = append(files, path)
			continue
		}
		found := false
		for _, name := range dumpNames {
			file := filepath.Join(path, name)
			if _, err := os.Stat(file); err == nil {
				files, found = append(files, file), true
			}
		}
		if !found {
			return nil, fmt.Errorf("read %s: no files of opensm or ibdiagnet, such as %s, in the directory", path, dumpNames[0])
		}
	}
	return files, nil
}

// load reads a file and returns the routing, another routing for a file with a whole
// topology.
func load(r *route.Routing, path string, kind fileKind, o LoadOptions) (*route.Routing, error) {
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if kind == cacheFile || kind == topologyFile {
		return readTopology(file, path)
	}
	if err := read(r, file, path, kind, o); err != nil {
		return nil, fmt.Errorf("read %w", err)
	}
	return r, nil
}

// forget removes the size of the tables in use, which the files with tables determine.
func forget(t *route.Tables) {
	if t != nil {
		t.Top, t.MulticastTop = 0, 0
	}
}

// read adds the tables or the topology in a file.
func read(r *route.Routing, in *os.File, path string, kind fileKind, o LoadOptions) error {
	switch kind {
	case forwardingFile:
		info, err := in.Stat()
		if err != nil {
			return err
		}
		return readForwardingDump(r, in, info.Size(), path)
	case savedFile:
		return readSaved(r, in, path)
	case subnetListFile:
		return readSubnetList(r, in, path, o.LMC)
	case multicastFile:
		return readMulticastDump(r, in, path)
	case tableFile:
		return readTableDump(r, in, path)
	case sltovlFile:
		return readSLtoVLDump(r, in, path)
	}
	return readPathSLDump(r, in, path)
}

// detect returns a file's kind.
func detect(path string) (fileKind, error) {
	file, err := interrupt.Open(path)
	if err != nil {
		return 0, fmt.Errorf("read routing: %w", err)
	}
	defer file.Close()
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, fmt.Errorf("read %s: %w", path, err)
	}
	head = textfile.TrimMark(head[:n])
	kind, ok := detectKind(head)
	if !ok {
		err := fmt.Errorf("got %s, want a saved routing, or a file of opensm, ibdiagnet, ibnetdiscover or dump_fts", textfile.Quote(firstLine(head)))
		return 0, fmt.Errorf("read %w", &textfile.Error{File: path, Line: 1, Err: err})
	}
	return kind, nil
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return line
}

// cacheMagic begins a libibnetdisc cache (libibnetdisc/ibnetdisc_cache.h).
var cacheMagic = []byte{0x2b, 0x83, 0xe7, 0x8f}

// detectKind returns a file's kind by its beginning.
func detectKind(head []byte) (fileKind, bool) {
	if len(bytes.TrimSpace(head)) == 0 {
		return emptyFile, true
	}
	if bytes.HasPrefix(head, cacheMagic) {
		return cacheFile, true
	}
	sections := false // for nodes with service levels
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		fields := bytes.Fields(line)
		switch {
		case bytes.HasPrefix(line, []byte(`{"schema":"ibkit/`)):
			return savedFile, true
		case bytes.HasPrefix(line, []byte("{ ")):
			return subnetListFile, true
		case bytes.HasPrefix(line, []byte("# Topology file: ")), bytes.HasPrefix(line, []byte("vendid=0x")):
			return topologyFile, true
		case bytes.Contains(line, sectionMark):
			return forwardingFile, true
		case bytes.HasPrefix(line, []byte("Unicast lids ")), bytes.HasPrefix(line, []byte("Multicast mlids ")):
			return tableFile, true
		case bytes.HasPrefix(line, []byte("LID    : Out Port(s)")):
			return multicastFile, true
		case bytes.HasPrefix(line, []byte("#in out")), len(fields) == 11 && bytes.HasPrefix(line, []byte("0x")):
			return sltovlFile, true
		case len(fields) == 3 && bytes.HasPrefix(line, []byte("0x")) && (sections || string(fields[1]) != ":"):
			return pathSLFile, true
		case bytes.Contains(line, []byte(", base LID ")):
			sections = true
		}
	}
	return 0, false
}

// A missingTopologyError is the error for tables without the links between their switches.
type missingTopologyError struct{ path string }

func (e *missingTopologyError) Error() string {
	return fmt.Sprintf("read %s: the file has tables without links: a topology is missing (opensm-subnet.lst, or the output or a cache of ibnetdiscover)", e.path)
}

// Hint returns advice for users of commands.
func (e *missingTopologyError) Hint() string { return "give both files: --tables TOPOLOGY," + e.path }
