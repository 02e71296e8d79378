package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// unlimited is a limit that is none.
const unlimited = math.MaxUint64

// A limit is a soft and a hard one of a process.
type limit struct{ soft, hard uint64 }

// limit reads one of a process by its name, such as "Max open files".
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
			if err := errors.Join(err1, err2); err != nil {
				return limit{}, fmt.Errorf("read %s: %w", h.path(file), err)
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
	return strconv.ParseUint(word, 10, 64)
}

// raise returns the commands that raise a limit for the shell that they are typed
// in, and for good.
func (h *host) raise(i *Item, option, item, value, unit string) {
	i.Mend = []string{fmt.Sprintf("prlimit --pid $$ --%s=%s:%s", option, value, value)}
	name := "*"
	if h.user.isRoot() {
		name = "root" // * leaves root out (man 5 limits.conf)
	}
	i.Keep = []string{fmt.Sprintf("echo '%s - %s %s' >>/etc/security/limits.d/rdma.conf", name, item, value)}
	i.Advice = fmt.Sprintf("the file counts from the next login on; a service needs %s=%s in its unit", unit, strings.Replace(value, "unlimited", "infinity", 1))
	if h.isContainer() {
		i.Mend, i.Keep = nil, nil
		i.Advice = fmt.Sprintf("start the container with --ulimit %s=%s", option, strings.Replace(value, "unlimited", "-1", 1))
	}
}

// littleMemory is what MPI and NCCL need more of: the limit of distributions is
// 64 KiB, or 8 MiB.
const littleMemory = 64 << 20

// checkMemlock looks at RLIMIT_MEMLOCK, which does not hold for those with
// CAP_IPC_LOCK (ib_umem_get in drivers/infiniband/core/umem.c).
func checkMemlock(_ context.Context, h *host) []Item {
	l, err := h.limit("self", "Max locked memory")
	if err != nil {
		return []Item{unread("", err)}
	}
	switch {
	case l.soft == unlimited:
		return []Item{good("", "unlimited")}
	case h.user.can(capIPCLock):
		return []Item{good("", "%s, which does not hold for you (CAP_IPC_LOCK)", bytes(l.soft))}
	}
	i := Item{
		Verdict: Note, Found: bytes(l.soft) + " of memory may be locked",
		Why: "memory that a device reads and writes is locked: registering more fails with ENOMEM (ibv_reg_mr, ibv_create_qp, ibv_create_cq)",
	}
	if l.soft < littleMemory {
		i.Verdict = Error
	}
	h.raise(&i, "memlock", "memlock", "unlimited", "LimitMEMLOCK")
	return []Item{i}
}

// fewFiles is the soft limit that distributions have.
const fewFiles = 1024

// checkNofile looks at RLIMIT_NOFILE of the process that started this one: Go
// raises its own to what it may.
func checkNofile(_ context.Context, h *host) []Item {
	l, err := h.limit(h.user.parent, "Max open files")
	if err != nil {
		if l, err = h.limit("self", "Max open files"); err != nil {
			return []Item{unread("", err)}
		}
	}
	if l.soft >= fewFiles {
		return []Item{good("", "%d", l.soft)}
	}
	i := Item{
		Verdict: Warning, Found: fmt.Sprintf("%d files may be open", l.soft),
		Why: "each device, completion channel and connection of rdma_cm is an open file: large jobs fail with EMFILE",
	}
	h.raise(&i, "nofile", "nofile", "65536", "LimitNOFILE")
	return []Item{i}
}

// bytes writes a number of bytes for people.
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
