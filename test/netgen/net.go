package netgen

import (
	"bufio"
	"fmt"
	"io"
)

// A Net is a fabric with hosts and switches.
type Net struct {
	Hosts, Switches []*Node
}

// A Node is a host or a switch.
type Node struct {
	ID     string // how ibsim's console and SIM_HOST call it
	Desc   string // node description
	Switch bool
	Size   int // number of ports

	peers []end // by port number less 1
}

// An end is one side of a link.
type end struct {
	node *Node
	port int
}

// connect leads a link between the lowest free ports on two nodes.
func (n *Node) connect(m *Node) {
	n.peers = append(n.peers, end{m, len(m.peers) + 1})
	m.peers = append(m.peers, end{n, len(n.peers)})
}

// Links returns the number of links.
func (net *Net) Links() int {
	ends := len(net.Hosts)
	for _, s := range net.Switches {
		ends += len(s.peers)
	}
	return ends / 2
}

// header makes all links 4X HDR. The bases keep the host GUIDs, two for each host in
// ibsim, apart from the switch GUIDs.
const header = `caguid=0x0010000000100000
switchguid=0x0010000000800000
width=3
speed=7
extspeed=7
`

// Write writes the net file, hosts first.
func (net *Net) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString(header)
	for _, h := range net.Hosts {
		h.write(b, "Hca")
	}
	for _, s := range net.Switches {
		s.write(b, "Switch")
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write net file: %w", err)
	}
	return nil
}

// write leaves errors to the Flush that ends the file.
func (n *Node) write(b *bufio.Writer, kind string) {
	fmt.Fprintf(b, "\n%s\t%d \"%s\"\t# \"%s\"\n", kind, n.Size, n.ID, n.Desc)
	for i, peer := range n.peers {
		fmt.Fprintf(b, "[%d]\t\"%s\"[%d]\n", i+1, peer.node.ID, peer.port)
	}
}
