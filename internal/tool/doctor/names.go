package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/internal/textfile"
)

// checkNames checks that InfiniBand devices' node descriptions, which tools on the subnet
// display, identify this host.
func checkNames(_ context.Context, h *host) []Item {
	hostname, err := h.text("proc/sys/kernel/hostname")
	if err != nil {
		return []Item{unreadable("", err)}
	}
	short, _, _ := strings.Cut(hostname, ".")
	if short == "" || short == "(none)" || short == "localhost" {
		return skipped("the host has no name")
	}
	var items []Item
	seen := ""
	for d, p := range h.ports() {
		if !isInfiniBand(d, p) || d.NodeDesc == nil || d.Name == seen {
			continue
		}
		seen = d.Name
		i := good(d.Name, "%s", short)
		if !strings.Contains(*d.NodeDesc, short) {
			i.Verdict, i.Found = Note, fmt.Sprintf("node description %q does not contain the host name %s", *d.NodeDesc, short)
			i.Why = "linkinfo, ibnetdiscover and the log of the subnet manager show the node description, which does not identify this host"
			i.Fix = []string{fmt.Sprintf("echo %s >%s", textfile.ShellWord(short+" "+d.Name), textfile.ShellWord("/sys/class/infiniband/"+d.Name+"/node_desc"))}
			i.Persist = []string{"systemctl enable --now rdma-ndd"}
		}
		items = append(items, i)
	}
	if items == nil {
		return skipped("no InfiniBand device")
	}
	return items
}
