package doctor

import (
	"context"
	"fmt"
	"strings"
)

// checkNames looks at what InfiniBand devices call themselves, which is what all
// tools of the subnet call this host.
func checkNames(_ context.Context, h *host) []Item {
	hostname, err := h.text("proc/sys/kernel/hostname")
	if err != nil {
		return []Item{unread("", err)}
	}
	short, _, _ := strings.Cut(hostname, ".")
	if short == "" || short == "(none)" || short == "localhost" {
		return nothing("this host has no name")
	}
	var items []Item
	seen := ""
	for d, p := range h.ports() {
		if p.Ethernet() || d.NodeDesc == nil || d.Name == seen {
			continue
		}
		seen = d.Name
		i := good(d.Name, "%s", short)
		if !strings.Contains(*d.NodeDesc, short) {
			i.Verdict, i.Found = Note, fmt.Sprintf("is called %q, which does not name this host (%s)", *d.NodeDesc, short)
			i.Why = "linkinfo, ibnetdiscover and the subnet manager's log call it so: nobody finds the host by it"
			i.Mend = []string{fmt.Sprintf("echo %s >%s", quote(short+" "+d.Name), quote("/sys/class/infiniband/"+d.Name+"/node_desc"))}
			i.Keep = []string{"systemctl enable --now rdma-ndd"}
		}
		items = append(items, i)
	}
	if items == nil {
		return nothing("no InfiniBand device")
	}
	return items
}
