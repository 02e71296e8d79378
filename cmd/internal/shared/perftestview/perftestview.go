// Package perftestview prints results in the form of perftest's programs.
package perftestview

import (
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
)

// Rule separates the parts of the output.
var Rule = strings.Repeat("-", 87) + "\n"

// titles are the verbs as in the title of the output.
var titles = map[perftest.Verb]string{
	perftest.Send: "Send", perftest.Write: "RDMA_Write", perftest.Read: "RDMA_Read", perftest.Atomic: "Atomic",
}

// A Header is the description of a test at the start of the output.
type Header struct {
	perftest.Test
	MTU             int // bytes
	Device, Link    string
	IWARP           bool
	HasGID          bool
	GIDIndex        int
	Reads           uint32
	Sends, Receives bool // this side sends, receives
	Server          bool
	Managed         bool   // the connection manager has connected the programs
	ManagedQPs      bool   // and the queue pairs
	TOS             *uint8 // of these; nil: that of the host
}

func onOff(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}

// transport returns the name for the transport (transport_str in perftest_parameters.c).
func (h Header) transport() string {
	switch {
	case h.IWARP:
		return "IW"
	case h.Link == ib.LinkLayerUnspecified.String(): // EFA
		return "Unknown"
	}
	return "IB"
}

func (h Header) title() string {
	words := []string{titles[h.Verb]}
	if h.Imm {
		words[0] += "_imm"
	}
	for _, w := range []struct {
		there bool
		word  string
	}{
		{h.Verb == perftest.Atomic && h.CompareSwap, "CMP_AND_SWAP"}, {h.Verb == perftest.Atomic && !h.CompareSwap, "FETCH_AND_ADD"},
		{h.Bidirectional, "Bidirectional"}, {h.List > 1, "Post List"}, {h.Bandwidth, "BW"}, {!h.Bandwidth, "Latency"},
		{h.Multicast != nil, "Multicast"},
	} {
		if w.there {
			words = append(words, w.word)
		}
	}
	return strings.Join(append(words, "Test"), " ")
}

// Print prints the header between two rules.
func (h Header) Print(out io.Writer) {
	fmt.Fprintf(out, "%s                    %s\n", Rule, h.title())
	if h.Events {
		fmt.Fprintf(out, " Test with events. Using %s_comp%d\n", h.Device, h.Vector)
	}
	if h.Multicast != nil {
		fmt.Fprint(out, " MultiCast runs on UD!\n")
	}
	fmt.Fprintf(out, " Dual-port       : OFF\t\tDevice         : %s\n", h.Device)
	fmt.Fprintf(out, " Number of qps   : %d\t\tTransport type : %s\n", h.Numbers(), h.transport())
	fmt.Fprintf(out, " Connection type : %s\t\tUsing SRQ      : %s\n", h.Connection(), onOff(h.Shared()))
	fmt.Fprintf(out, " PCIe relax order: OFF\n ibv_wr* API     : OFF\n")
	if h.Sends {
		fmt.Fprintf(out, " TX depth        : %d\n", h.TxDepth)
	}
	if h.List > 1 {
		fmt.Fprintf(out, " Post List       : %d\n", h.List)
	}
	if h.RecvList > 1 {
		fmt.Fprintf(out, " Recv Post List  : %d\n", h.RecvList)
	}
	if h.Receives {
		fmt.Fprintf(out, " RX depth        : %d\n", h.RxDepth)
	}
	if h.Bandwidth {
		fmt.Fprintf(out, " CQ Moderation   : %d\n", h.Moderate(h.Sizes[0]))
	}
	fmt.Fprintf(out, " Mtu             : %d[B]\n", h.MTU)
	fmt.Fprintf(out, " Link type       : %s\n", h.link())
	if h.HasGID {
		fmt.Fprintf(out, " GID index       : %d\n", h.GIDIndex)
	}
	if h.Verb == perftest.Read || h.Verb == perftest.Atomic {
		fmt.Fprintf(out, " Outstand reads  : %d\n", h.Reads)
	} else {
		fmt.Fprintf(out, " Max inline data : %d[B]\n", h.Inline)
	}
	fmt.Fprintf(out, " rdma_cm QPs\t : %s\n Data ex. method : %s", onOff(h.ManagedQPs), h.exchange())
	if h.TOS != nil {
		fmt.Fprintf(out, " \tTOS    : %d", *h.TOS)
	}
	if h.ManagedQPs && h.Server {
		fmt.Fprintf(out, "\n%s Waiting for client rdma_cm QP to connect\n Please run the same command with the IB/RoCE interface IP", Rule)
	}
	fmt.Fprintf(out, "\n%s", Rule)
}

// link returns the name for the link layer (link_layer_str in perftest_parameters.c).
func (h Header) link() string {
	if h.Link == ib.LinkLayerEthernet.String() {
		return h.Link
	}
	return "IB"
}

// exchange returns the medium of the messages of the programs.
func (h Header) exchange() string {
	if h.Managed {
		return "rdma_cm"
	}
	return "Ethernet"
}
