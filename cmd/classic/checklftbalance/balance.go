package checklftbalance

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ibkit/ibkit/internal/lazyregexp"
)

// The script's patterns (rdma-core, infiniband-diags/scripts/check_lft_balance.pl).
var (
	byRoute   = lazyregexp.New(`Unicast lids .+ of switch DR path slid .+ guid (.+) \((.+)\)`)
	byLID     = lazyregexp.New(`Unicast lids .+ of switch Lid .+ guid (.+) \((.+)\)`)
	portEntry = lazyregexp.New(`.+ (.+) : \(.+ portguid .+: '(.+)'\)`)
	pathEntry = lazyregexp.New(`.+ (.+) : \(path #. out of .: portguid .+\)`)
	linkEntry = lazyregexp.New(`\d+\s+\d+\[.+\]  ==.+==>\s+\d+\s+\d+\[.+\] "(.+)".+`)
)

// maxPort is the highest port that the script counts.
const maxPort = 36

// A balance counts table entries, one switch after another, as the script does. Ports are
// texts with three digits.
type balance struct {
	out                 io.Writer
	heuristics, verbose bool
	links               func(guid string) [][]byte

	guid, name string
	counts     map[string]int
	direct     []float64 // host numbers that may be linked to the switch
	host       float64   // last host number
	ports      []string  // in the last host's entries

	perPort    int // LIDs per host
	calculated int // entries after the first host's entries
}

// line adds a line from dump_lfts.
func (b *balance) line(line []byte) {
	switch {
	case bytes.Contains(line, []byte("Unicast")):
		b.endHost()
		if b.name != "" {
			b.print()
		}
		for _, head := range []*lazyregexp.Regexp{byRoute, byLID} {
			if m := head.FindSubmatch(line); m != nil {
				b.guid, b.name = string(m[1]), string(m[2])
			}
		}
		b.counts, b.direct, b.ports, b.perPort, b.calculated = map[string]int{}, nil, nil, 0, 0
	case bytes.Contains(line, []byte("Channel")), bytes.Contains(line, []byte("Router")):
		port, host := splitEntry(line)
		b.host = number(host)
		b.count(port)
		b.endHost()
		b.ports = append(b.ports[:0], port)
		if b.perPort == 0 {
			b.perPort++
		} else {
			b.calculated++
		}
	case bytes.Contains(line, []byte("path")):
		port := ""
		if m := pathEntry.FindSubmatch(line); m != nil {
			port = string(m[1])
		}
		b.count(port)
		if b.calculated == 0 {
			b.perPort++
		}
		b.ports = append(b.ports, port)
	case b.perPort > 0:
		b.calculated++
	}
}

// splitEntry returns the output port and the host in an entry. Entries in the usual form
// are split without a regular expression: large fabrics have millions.
func splitEntry(line []byte) (port string, host []byte) {
	const start = len("0x0001 001 : (")
	if len(line) > start && line[6] == ' ' && string(line[10:start]) == " : (" {
		_, rest, ok := bytes.Cut(line[start:], []byte(" portguid "))
		guid, name, named := bytes.Cut(rest, []byte(": '"))
		if name, ends := bytes.CutSuffix(name, []byte("')")); len(name) > 0 && ok && named && ends && len(guid) == 18 && !bytes.Contains(name, []byte("'")) && !bytes.Contains(name, []byte(": ")) {
			return string(line[7:10]), name
		}
	}
	if m := portEntry.FindSubmatch(line); m != nil {
		return string(m[1]), m[2]
	}
	return "", nil
}

func (b *balance) count(port string) {
	if b.counts == nil {
		b.counts = map[string]int{}
	}
	b.counts[port]++
}

// endHost adds the last host to the hosts that may be linked to the switch, if all its
// LIDs have one output port.
func (b *balance) endHost() {
	if len(b.ports) == 0 || len(b.ports) != b.perPort {
		return
	}
	for _, p := range b.ports {
		if number([]byte(p)) != number([]byte(b.ports[0])) {
			return
		}
	}
	b.direct = append(b.direct, b.host)
}

// end prints the last switch.
func (b *balance) end() {
	b.endHost()
	b.print()
}

// portUsage has the switch output ports that the script compares.
type portUsage struct {
	ports       []string
	onSwitch    int // ports with entries or a link
	least, most int
}

// print prints the switch if it is unbalanced.
func (b *balance) print() {
	u := b.usage()
	unbalanced := u.most > u.least+1
	if unbalanced && b.heuristics && u.onSwitch > 12 {
		unbalanced = !b.isLineBoard(u) && !b.isPartlyUsed(u)
	}
	switch {
	case unbalanced:
		fmt.Fprint(b.out, "Unbalanced ")
	case !b.verbose:
		return
	}
	fmt.Fprintf(b.out, "Switch Port Usage: %s, %s\n", b.name, b.guid)
	for _, p := range u.ports {
		fmt.Fprintf(b.out, "Port %s: %d\n", p, b.counts[p])
	}
}

// usage selects the switch ports with entries or a link, except the ports
// linked to a host.
func (b *balance) usage() portUsage {
	u := portUsage{least: 999999}
	lines := b.links(b.guid)
	for i := 1; i <= maxPort; i++ {
		port := fmt.Sprintf("%03d", i)
		line := lineOf(lines, i, false)
		if b.counts[port] == 0 && (line == nil || bytes.Contains(line, []byte("Down"))) {
			continue
		}
		u.onSwitch++
		if b.isDirect(port, lineOf(lines, i, true)) {
			continue
		}
		u.ports = append(u.ports, port)
		u.least, u.most = min(u.least, b.counts[port]), max(u.most, b.counts[port])
	}
	return u
}

// lineOf returns the first or last line of iblinkinfo with a port, nil
// without such a line.
func lineOf(lines [][]byte, port int, last bool) (found []byte) {
	text := fmt.Appendf(nil, "%2d[", port)
	for _, line := range lines {
		i := bytes.Index(line, []byte("] =="))
		if i >= len("[  ") && bytes.HasSuffix(line[:i-len("  ")], text) {
			if found = line; !last {
				return found
			}
		}
	}
	return found
}

// isDirect reports whether a port is linked to a host. As the script does, it compares
// host names as numbers, which are 0 for most names.
func (b *balance) isDirect(port string, line []byte) bool {
	if b.counts[port] != b.perPort || !bytes.Contains(line, []byte("Active")) {
		return false
	}
	peer := 0.0
	if m := linkEntry.FindSubmatch(line); m != nil {
		peer = number(m[1])
	}
	return slices.Contains(b.direct, peer)
}

// isLineBoard applies the script's first heuristic: about half of the ports are balanced.
func (b *balance) isLineBoard(u portUsage) bool {
	count, least, most := 0, 999999, 0
	for _, p := range u.ports {
		if n := b.counts[p]; n != u.most && n != u.most-1 && n != 0 {
			count, least, most = count+1, min(least, n), max(most, n)
		}
	}
	half := u.onSwitch / 2
	return count >= half-1 && count <= half+1 && most <= least+1
}

// isPartlyUsed applies the second heuristic: the other ports have no entries.
func (b *balance) isPartlyUsed(u portUsage) bool {
	for _, p := range u.ports {
		if n := b.counts[p]; n != u.most && n != u.most-1 && n != 0 {
			return false
		}
	}
	return true
}

// numeric is the text prefix that Perl converts to a number.
var numeric = lazyregexp.New(`^\s*([+-]?(?:(?i:inf|nan)|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))`)

// number converts a text to a number by Perl's rules: 0 without digits.
func number(text []byte) float64 {
	m := numeric.FindSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseFloat(string(m[1]), 64) // out of range: infinite
	return n
}
