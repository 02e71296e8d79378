package dump

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// readForwardingDump reads the linear forwarding tables in a file that opensm writes as
// opensm.fdbs and ibdiagnet as ibdiagnet.fdbs (opensm, osm_dump.c):
//
//	dump_ucast_routes: Switch 0x0002c90000800400
//	LID    : Port : Hops : Optimal
//	0x0001 : 001  : 01   : yes
//	0x0002 : UNREACHABLE
//
// Sections are independent, and all processors read the file: the file for 10,400 end
// ports has 460 MB.
func readForwardingDump(r *route.Routing, in io.ReaderAt, size int64, file string) error {
	workers := int64(runtime.GOMAXPROCS(0))
	const least = 1 << 20
	workers = min(workers, size/least+1)
	d := &forwardingDump{routing: r, in: in, size: size, seen: map[*route.Node]bool{}}
	errs := make([]error, workers)
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() { errs[i] = d.part(size*i/workers, size*(i+1)/workers) })
	}
	group.Wait()
	slices.SortFunc(d.damage, func(a, b damage) int { return cmp.Compare(a.offset, b.offset) })
	for _, f := range d.damage {
		attr := linearTable
		if f.node == nil {
			attr = ""
		}
		damaged(r, f.node, attr, file, d.lineAt(f.offset), "%s", f.problem)
	}
	if len(d.seen) == 0 && len(d.damage) > 0 {
		return &textfile.Error{File: file, Line: d.lineAt(d.damage[0].offset), Err: &d.damage[0].offsetError}
	}
	for _, err := range errs {
		var at *offsetError
		if errors.As(err, &at) {
			return &textfile.Error{File: file, Line: d.lineAt(at.offset), Err: at}
		}
		if err != nil {
			return &textfile.Error{File: file, Err: err}
		}
	}
	return nil
}

// A forwardingDump is a file with linear forwarding tables.
type forwardingDump struct {
	routing *route.Routing
	in      io.ReaderAt
	size    int64

	mu     sync.Mutex
	seen   map[*route.Node]bool // switches with a section
	damage []damage
}

// damage is a line that could not be read, or contradicts another line.
type damage struct {
	node *route.Node
	offsetError
}

// An offsetError is a problem with the line at a file offset.
type offsetError struct {
	offset  int64
	problem string
}

func (e *offsetError) Error() string { return e.problem }

// lineAt returns the line number for the line that begins at an offset.
func (d *forwardingDump) lineAt(offset int64) int {
	line := 1
	buffer := make([]byte, 1<<20)
	for at := int64(0); at < offset; {
		n, err := d.in.ReadAt(buffer[:min(int64(len(buffer)), offset-at)], at)
		line += bytes.Count(buffer[:n], []byte("\n"))
		at += int64(n)
		if err != nil {
			break
		}
	}
	return line
}

var sectionMark = []byte("dump_ucast_routes: Switch 0x")

// part reads the sections with first lines that begin between two offsets.
func (d *forwardingDump) part(from, to int64) error {
	begin := max(from-1, 0)
	lines := newOffsetReader(io.NewSectionReader(d.in, begin, d.size-begin), begin)
	if from > 0 {
		if _, _, err := lines.next(); err != nil { // a line's end in the part before
			return ignoreEOF(err)
		}
	}
	s := forwardingSection{dump: d}
	for {
		line, offset, err := lines.next()
		if err != nil {
			s.finish()
			return ignoreEOF(err)
		}
		line = bytes.TrimRight(line, " \r\n")
		switch {
		case len(line) == 0 || bytes.HasPrefix(line, []byte("LID ")):
		case line[0] == '0':
			if s.node == nil {
				if from == 0 && !s.skipped { // else from a section that began in the part before
					err = s.damaged(offset, "an entry before the first line with a switch")
				}
			} else if problem := s.entry(line); problem != "" {
				err = s.damaged(offset, problem)
			}
		case bytes.Contains(line, sectionMark):
			s.finish()
			if offset >= to {
				return nil
			}
			if problem := s.begin(line); problem != "" {
				s.skipped = true
				err = s.damaged(offset, problem)
			}
		case s.node != nil || from == 0 || s.skipped:
			err = s.damaged(offset, s.invalid(line, "a switch or an entry such as 0x0001 : 001"))
		}
		if err != nil {
			return err
		}
	}
}

// maxDamage limits a part's damage: the file is of another kind.
const maxDamage = 10_000

// damaged adds damage. It returns an error if there is too much.
func (s *forwardingSection) damaged(offset int64, problem string) error {
	s.dump.mu.Lock()
	defer s.dump.mu.Unlock()
	at := offsetError{offset, problem}
	s.dump.damage = append(s.dump.damage, damage{s.node, at})
	if len(s.dump.damage) > maxDamage {
		return &at
	}
	return nil
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// A forwardingSection is a switch's table while it is read.
type forwardingSection struct {
	dump *forwardingDump
	node *route.Node
	lft  []uint8 // by LID

	skipped    bool // the switch of the current section is unknown, or has another section
	incomplete bool // an entry of the section could not be read
}

// begin starts a switch's section.
func (s *forwardingSection) begin(line []byte) (problem string) {
	digits := line[bytes.Index(line, sectionMark)+len(sectionMark):]
	guid, ok := hexNumber(digits, 64)
	if !ok {
		return "got " + textfile.Quote(digits) + ", want the GUID of a switch"
	}
	n, problem := switchByGUID(s.dump.routing, guid)
	if problem != "" {
		return problem
	}
	s.dump.mu.Lock()
	defer s.dump.mu.Unlock()
	if s.dump.seen[n] {
		return fmt.Sprintf("switch 0x%016x has two sections", guid)
	}
	s.dump.seen[n] = true
	s.node, s.lft, s.skipped, s.incomplete = n, s.lft[:0], false, false
	return ""
}

// finish stores the section's table.
func (s *forwardingSection) finish() {
	if s.node == nil {
		return
	}
	t := s.node.AddTables()
	t.LFT = append([]uint8{}, s.lft...) // not nil
	t.Top, t.Incomplete = ib.LID(max(len(s.lft)-1, 0)), s.incomplete
	s.node = nil
}

// entry reads a LID's output port.
func (s *forwardingSection) entry(line []byte) (problem string) {
	lid, rest, ok := lidColumn(line)
	if !ok || lid > int(ib.MaxUnicastLID) {
		return s.invalid(line, "a unicast LID such as 0x0001 and a colon")
	}
	port := route.NoRoute
	if !bytes.HasPrefix(rest, []byte("UNREACHABLE")) {
		if port, ok = portColumn(rest); !ok {
			return s.invalid(rest, "a port from 000 to 255 or UNREACHABLE")
		}
	}
	if lid < len(s.lft) && s.lft[lid] != route.NoRoute {
		return fmt.Sprintf("LID %d has two entries, ports %d and %d: the first counts", lid, s.lft[lid], port)
	}
	for len(s.lft) <= lid {
		s.lft = append(s.lft, route.NoRoute)
	}
	s.lft[lid] = uint8(port)
	return ""
}

// invalid describes a text in place of which an entry may have been.
func (s *forwardingSection) invalid(got []byte, want string) (problem string) {
	s.incomplete = true
	return "got " + textfile.Quote(got) + ", want " + want
}

// lidColumn reads a LID and the colon after it.
func lidColumn(line []byte) (lid int, rest []byte, ok bool) {
	if len(line) < 2 || line[0] != '0' || line[1] != 'x' {
		return 0, nil, false
	}
	i := 2
	for ; i < len(line); i++ {
		c := line[i]
		switch {
		case c >= '0' && c <= '9':
			lid = lid<<4 | int(c-'0')
		case c >= 'a' && c <= 'f':
			lid = lid<<4 | int(c-'a'+10)
		case c >= 'A' && c <= 'F':
			lid = lid<<4 | int(c-'A'+10)
		default:
			rest = bytes.TrimLeft(line[i:], " ")
			if i == 2 || len(rest) == 0 || rest[0] != ':' {
				return 0, nil, false
			}
			return lid, bytes.TrimLeft(rest[1:], " "), true
		}
		if lid > 0xffff {
			return 0, nil, false
		}
	}
	return 0, nil, false
}

// portColumn reads a port: three digits, or more or fewer digits before a colon, so that
// a truncated file's end is not a port.
func portColumn(text []byte) (port int, ok bool) {
	digits := 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		if port = port*10 + int(text[digits]-'0'); port > 255 {
			return 0, false
		}
		digits++
	}
	rest := bytes.TrimLeft(text[digits:], " ")
	return port, digits == 3 && len(rest) == 0 || digits > 0 && len(rest) > 0 && rest[0] == ':'
}
