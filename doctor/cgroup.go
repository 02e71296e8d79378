package doctor

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// checkCgroup looks at the limits of the cgroups that this process is in, of both
// versions (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/rdma.rst).
func checkCgroup(_ context.Context, h *host) []Item {
	dirs, err := h.rdmaCgroups()
	if err != nil {
		return []Item{unread("", err)}
	}
	var items []Item
	for _, dir := range dirs {
		limits, err := h.text(dir + "/rdma.max")
		if err != nil {
			continue // not with this controller
		}
		current, _ := h.text(dir + "/rdma.current")
		used := parseRDMALimits(current)
		for device, values := range parseRDMALimits(limits) {
			for _, value := range values {
				if value.amount != "max" {
					items = append(items, cgroupItem(dir, device, value, used[device]))
				}
			}
		}
	}
	if items == nil {
		return nothing("no limit")
	}
	return items
}

// An rdmaLimit is one of hca_handle and hca_object.
type rdmaLimit struct{ resource, amount string }

// parseRDMALimits reads lines such as "mlx5_0 hca_handle=2 hca_object=max".
func parseRDMALimits(text string) map[string][]rdmaLimit {
	all := map[string][]rdmaLimit{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		for _, w := range words[min(1, len(words)):] {
			if resource, amount, ok := strings.Cut(w, "="); ok {
				all[words[0]] = append(all[words[0]], rdmaLimit{resource, amount})
			}
		}
	}
	return all
}

func cgroupItem(dir, device string, l rdmaLimit, used []rdmaLimit) Item {
	i := Item{
		Subject: device, Verdict: Note, Found: fmt.Sprintf("%s is limited to %s", l.resource, l.amount),
		Why:    "handles are open devices, objects what is made on them (PD, MR, CQ, QP): what is beyond fails with EAGAIN",
		Mend:   []string{fmt.Sprintf("echo %s >%s", quote(device+" "+l.resource+"=max"), quote("/"+dir+"/rdma.max"))},
		Advice: "whoever started the container or the service set it, and may again",
	}
	limit, err := strconv.ParseUint(l.amount, 10, 64)
	for _, u := range used {
		if n, err2 := strconv.ParseUint(u.amount, 10, 64); u.resource == l.resource && err == nil && err2 == nil {
			i.Found += fmt.Sprintf(", %d are in use", n)
			if n >= limit {
				i.Verdict = Error
			}
		}
	}
	return i
}

// rdmaCgroups returns the folders of the cgroups that hold for this process.
func (h *host) rdmaCgroups() ([]string, error) {
	text, err := h.text("proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	var dirs []string
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		var mount string
		switch {
		case fields[0] == "0" && fields[1] == "":
			mount = "sys/fs/cgroup"
		case fields[1] == "rdma":
			mount = "sys/fs/cgroup/rdma"
		default:
			continue
		}
		// A limit holds for all below; a path that leads out of what is seen
		// here is cut off at its root.
		for p := path.Clean("/" + fields[2]); ; p = path.Dir(p) {
			dirs = append(dirs, path.Join(mount, p))
			if p == "/" {
				break
			}
		}
	}
	return dirs, nil
}
