package doctor

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/textfile"
)

// checkCgroup checks the limits in this process's cgroups, for both versions
// (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/rdma.rst).
func checkCgroup(_ context.Context, h *host) []Item {
	dirs, err := h.rdmaCgroups()
	if err != nil {
		return []Item{unreadable("", err)}
	}
	var items []Item
	for _, dir := range dirs {
		limits, err := h.text(dir + "/rdma.max")
		if err != nil {
			continue // the cgroup does not use the rdma controller
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
		return []Item{good("", "no limit")}
	}
	return items
}

// An rdmaLimit limits a single resource: hca_handle or hca_object.
type rdmaLimit struct{ resource, amount string }

// parseRDMALimits parses lines like "mlx5_0 hca_handle=2 hca_object=max". It returns each
// device's limits.
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
		Why:  "programs fail with EAGAIN above the limit; handles are open devices, objects are PDs, MRs, CQs and QPs",
		Fix:  []string{fmt.Sprintf("echo %s >%s", textfile.ShellWord(device+" "+l.resource+"=max"), textfile.ShellWord("/"+dir+"/rdma.max"))},
		Hint: "the container runtime or service manager sets this limit; change it there to keep the fix",
	}
	limit, err := strconv.ParseUint(l.amount, 10, 64)
	for _, u := range used {
		if n, err2 := strconv.ParseUint(u.amount, 10, 64); u.resource == l.resource && err == nil && err2 == nil {
			i.Found += fmt.Sprintf(", %d in use", n)
			if n >= limit {
				i.Verdict = Error
			}
		}
	}
	return i
}

// rdmaCgroups returns the directories for the cgroups that limit this process.
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
		// A limit also applies to all descendants. Clean removes ".." elements
		// that lead out of the visible hierarchy.
		for p := path.Clean("/" + fields[2]); ; p = path.Dir(p) {
			dirs = append(dirs, path.Join(mount, p))
			if p == "/" {
				break
			}
		}
	}
	return dirs, nil
}
