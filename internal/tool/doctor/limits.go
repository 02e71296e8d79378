package doctor

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// unlimited stands for no limit.
const unlimited = math.MaxUint64

// A limit is a process's resource limit.
type limit struct{ soft, hard uint64 }

// limit reads a process's resource limit. The name is the limit's in /proc/PID/limits, for
// example "Max open files".
func (h *host) limit(process, name string) (limit, error) {
	file := "proc/" + process + "/limits"
	text, err := h.text(file)
	if err != nil {
		return limit{}, err
	}
	for line := range strings.Lines(text) {
		rest, is := strings.CutPrefix(line, name+" ")
		if words := strings.Fields(rest); is && len(words) >= 2 {
			soft, err1 := parseLimit(words[0])
			hard, err2 := parseLimit(words[1])
			if err := cmp.Or(err1, err2); err != nil {
				return limit{}, fmt.Errorf("read %s: %s: %w", h.path(file), name, err)
			}
			return limit{soft, hard}, nil
		}
	}
	return limit{}, fmt.Errorf("read %s: %s: %w", h.path(file), name, fs.ErrNotExist)
}

func parseLimit(word string) (uint64, error) {
	if word == "unlimited" {
		return unlimited, nil
	}
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number or \"unlimited\"", word)
	}
	return n, nil
}

// raise adds the commands that raise a limit: for the shell that runs them, and
// permanently.
func (h *host) raise(i *Item, option, item, value, unit string) {
	i.Fix = []string{fmt.Sprintf("prlimit --pid $$ --%s=%s:%s", option, value, value)}
	name := "*"
	if h.user.isRoot() {
		name = "root" // * does not include root (man 5 limits.conf)
	}
	i.Persist = []string{fmt.Sprintf("echo '%s - %s %s' >>/etc/security/limits.d/rdma.conf", name, item, value)}
	i.Hint = fmt.Sprintf("the file takes effect at the next login; for a service, set %s=%s in its unit", unit, strings.Replace(value, "unlimited", "infinity", 1))
	if h.isContainer() {
		i.Fix, i.Persist = nil, nil
		i.Hint = fmt.Sprintf("start the container with --ulimit %s=%s", option, strings.Replace(value, "unlimited", "-1", 1))
	}
}

// littleMemory is a limit that is too low for MPI and NCCL. Distributions set
// 64 KiB or 8 MiB.
const littleMemory = 64 << 20

// checkMemlock checks RLIMIT_MEMLOCK, which does not apply to processes with
// CAP_IPC_LOCK (ib_umem_get in drivers/infiniband/core/umem.c).
func checkMemlock(_ context.Context, h *host) []Item {
	l, err := h.limit("self", "Max locked memory")
	if err != nil {
		return []Item{unreadable("", err)}
	}
	switch {
	case l.soft == unlimited:
		return []Item{good("", "unlimited")}
	case h.user.can(capIPCLock):
		return []Item{good("", "%s, but does not apply to you (CAP_IPC_LOCK)", bytes(l.soft))}
	}
	i := Item{
		Verdict: Note, Found: "locked memory is limited to " + bytes(l.soft),
		Why: "devices need locked memory: ibv_reg_mr, ibv_create_qp and ibv_create_cq fail with ENOMEM above the limit",
	}
	if l.soft < littleMemory {
		i.Verdict = Error
	}
	h.raise(&i, "memlock", "memlock", "unlimited", "LimitMEMLOCK")
	return []Item{i}
}

// fewFiles is distributions' default soft limit.
const fewFiles = 1024

// checkNofile checks the parent process's RLIMIT_NOFILE, because the Go runtime raises its
// own process's limit.
func checkNofile(_ context.Context, h *host) []Item {
	l, err := h.limit(h.user.parent, "Max open files")
	if err != nil {
		if l, err = h.limit("self", "Max open files"); err != nil {
			return []Item{unreadable("", err)}
		}
	}
	if l.soft >= fewFiles {
		return []Item{good("", "%d", l.soft)}
	}
	i := Item{
		Verdict: Warning, Found: fmt.Sprintf("open files are limited to %d", l.soft),
		Why: "each device, completion channel and rdma_cm connection is an open file: large jobs fail with EMFILE",
	}
	h.raise(&i, "nofile", "nofile", "65536", "LimitNOFILE")
	return []Item{i}
}

// bytes formats a byte count with a binary unit.
func bytes(n uint64) string {
	for _, unit := range []struct {
		size uint64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return strconv.FormatFloat(math.Round(float64(n)/float64(unit.size)*10)/10, 'f', -1, 64) + " " + unit.name
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
