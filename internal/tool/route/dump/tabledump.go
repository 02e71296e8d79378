package dump

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// readTableDump reads the output from dump_fts, dump_lfts, dump_mfts and ibroute
// (infiniband-diags, dump_fts.c), and the file opensm-lfts.dump:
//
//	Unicast lids [0x0-0x18] of switch Lid 2 guid 0x0002c90000800400 (leaf001):
//	0x0001 001 : (Channel Adapter portguid 0x0002c90000100001: 'host00001')
//	Multicast mlids [0xc000-0xc3ff] of switch Lid 2 guid 0x0002c90000800400 (leaf001):
//	0xc000        x     x
//
// A table ends with its entry count. A table without this line, or with another count,
// and a LID with two entries are failures: the file is damaged.
//
// The text does not contain links: a topology must have been read before.
func readTableDump(r *route.Routing, in io.Reader, file string) error {
	l := textfile.NewReader(in, file)
	d := tableDump{routing: r, file: file}
	for l.Next() {
		d.number = l.Line()
		if problem := d.line(l.Bytes()); problem != "" {
			reject(r, l, d.node, d.attr(), problem)
		}
	}
	d.end()
	return endOf(r, l, d.valid)
}

// attr returns the current table's attribute, "" without a table.
func (d *tableDump) attr() string {
	switch {
	case d.node == nil:
		return ""
	case d.multicast:
		return "MulticastForwardingTable"
	}
	return linearTable
}

// A tableDump is dump_fts output while it is read.
type tableDump struct {
	routing *route.Routing
	file    string
	number  int  // in the current line
	valid   bool // a table was read
	skipped bool // the switch of the current table is unknown

	node      *route.Node // nil: no table has begun, or it has ended
	multicast bool
	masks     bool // multicast tables as hexadecimal masks (-n)
	last      ib.LID
	entries   int
}

func (d *tableDump) line(line []byte) (problem string) {
	switch {
	case bytes.HasPrefix(line, []byte("Unicast lids ")), bytes.HasPrefix(line, []byte("Multicast mlids ")):
		d.end()
		return d.begin(line)
	case bytes.HasPrefix(line, []byte(" MLid       Port Mask")):
		d.masks = true
		return ""
	case bytes.HasSuffix(bytes.TrimSpace(line), []byte("lids dumped")):
		d.count(line)
		return ""
	case !bytes.HasPrefix(line, []byte("0x")):
		return "" // columns, warnings
	case d.skipped:
		return ""
	case d.node == nil:
		return "an entry before the first line with a switch"
	case d.multicast:
		return d.multicastEntry(line)
	}
	return d.unicastEntry(line)
}

// begin starts a switch's table.
func (d *tableDump) begin(line []byte) (problem string) {
	d.node, d.skipped = nil, true
	mark := []byte(" guid 0x")
	at := bytes.Index(line, mark)
	if at < 0 || len(line) < at+len(mark)+16 {
		return "got " + textfile.Quote(line) + ", want the GUID of a switch"
	}
	guid, ok := hexNumber(line[at+len(mark):][:16], 64)
	if !ok {
		return "got " + textfile.Quote(line[at+1:]) + ", want the GUID of a switch"
	}
	if d.node, problem = switchByGUID(d.routing, guid); problem != "" {
		return problem
	}
	d.valid, d.skipped = true, false
	d.multicast, d.masks, d.entries = bytes.HasPrefix(line, []byte("Multicast")), false, 0
	if t := d.node.AddTables(); !d.multicast {
		t.LFT, t.Top, d.last = []uint8{}, 0, lastLID(line)
	}
	return ""
}

// lastLID returns the last LID in the range in a table's first line, 0 if the line has no
// range.
func lastLID(line []byte) ib.LID {
	_, text, _ := bytes.Cut(line, []byte("["))
	text, _, _ = bytes.Cut(text, []byte("]"))
	_, text, _ = bytes.Cut(text, []byte("-"))
	if lid, err := strconv.ParseUint(string(text), 0, 16); err == nil && ib.LID(lid) <= ib.MaxUnicastLID {
		return ib.LID(lid)
	}
	return 0
}

// count compares the entry count at a table's end: "6 valid lids dumped" in
// infiniband-diags. opensm writes the highest LID there.
func (d *tableDump) count(line []byte) {
	digits, rest, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
	want, ok := decimalNumber(digits, 1<<16)
	if d.node != nil && ok && bytes.HasPrefix(rest, []byte("valid")) && int(want) != d.entries {
		d.incomplete("got %d entries, want %d as in this line", d.entries, want)
	}
	d.close()
}

// end ends a table without a line with its entry count.
func (d *tableDump) end() {
	if d.node != nil {
		d.incomplete("the table of the switch has no end: lines are missing")
		d.close()
	}
}

// close completes a table. LIDs without an entry up to its range's end have no route.
func (d *tableDump) close() {
	if d.node != nil && !d.multicast {
		d.extend(int(d.last))
	}
	d.node = nil
}

func (d *tableDump) extend(lid int) {
	t := d.node.AddTables()
	for len(t.LFT) <= lid {
		t.LFT = append(t.LFT, route.NoRoute)
	}
	t.Top = ib.LID(len(t.LFT) - 1)
}

// incomplete is damaged for a table without some of its entries.
func (d *tableDump) incomplete(format string, args ...any) {
	d.damaged(format, args...)
	if !d.multicast {
		d.node.AddTables().Incomplete = true
	}
}

func (d *tableDump) damaged(format string, args ...any) {
	damaged(d.routing, d.node, d.attr(), d.file, d.number, format, args...)
}

// unicastEntry reads "0x0001 001 …".
func (d *tableDump) unicastEntry(line []byte) (problem string) {
	invalid := func() string { return "got " + textfile.Quote(line) + ", want a LID and a port such as 0x0001 001" }
	if len(line) < len("0x0001 001") || line[6] != ' ' {
		return invalid()
	}
	lid, okLID := hexNumber(line[2:6], 16)
	port, okPort := decimalNumber(line[7:10], 255)
	if !okLID || !okPort || lid > uint64(ib.MaxUnicastLID) {
		return invalid()
	}
	t := d.node.AddTables()
	if int(lid) < len(t.LFT) && t.LFT[lid] != route.NoRoute {
		d.damaged("LID %d has two entries, ports %d and %d: the first counts", lid, t.LFT[lid], port)
		return ""
	}
	d.entries++
	d.extend(int(lid))
	t.LFT[lid] = uint8(port)
	return ""
}

// multicastEntry reads a multicast LID and its ports: an x in each port's column, or a
// four-digit mask for each 16 ports.
func (d *tableDump) multicastEntry(line []byte) (problem string) {
	const ports = len("0xc000      ")
	if len(line) < ports || line[6] != ' ' {
		return "got " + textfile.Quote(line) + ", want a multicast LID and ports"
	}
	lid, ok := hexNumber(line[2:6], 16)
	if !ok || !ib.LID(lid).IsMulticast() {
		return fmt.Sprintf("got %s, want a multicast LID", textfile.Quote(line[:6]))
	}
	var mask mad.PortMask
	columns := line[ports:]
	if d.masks {
		columns = bytes.TrimSpace(columns)
		if len(columns)%4 != 0 || len(columns) > 64 {
			return "got " + textfile.Quote(columns) + ", want masks of 16 ports"
		}
		for i := 0; i < len(columns); i += 4 {
			bits, err := strconv.ParseUint(string(columns[i:i+4]), 16, 16)
			if err != nil {
				return "got " + textfile.Quote(columns) + ", want masks of 16 ports"
			}
			for bit := range maskPorts {
				if bits>>bit&1 != 0 {
					mask.Add(uint8(i/4*maskPorts + bit))
				}
			}
		}
	} else {
		for i, c := range columns {
			if i%2 == 0 && c == 'x' && i/2 < 256 {
				mask.Add(uint8(i / 2))
			} else if c != ' ' {
				return "got " + textfile.Quote(columns) + ", want an x in the columns of ports"
			}
		}
	}
	d.entries++
	d.node.SetMulticast(ib.LID(lid), mask)
	return ""
}

// maskPorts is the port count in a multicast table mask.
const maskPorts = 16
