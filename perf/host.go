package perf

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/sysfs"
)

// NewIdentity says who this host is. Program is what the user knows it by.
func NewIdentity(program string) Identity {
	host, _ := os.Hostname() // where there is none, there is none
	id := Identity{Program: program, Host: host, BootID: firstLine("/proc/sys/kernel/random/boot_id"), CPUs: len(AllowedCPUs())}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		id.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return id
}

func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}

// AllowedCPUs are the processors that this process may use.
func AllowedCPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var cpus []int
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// near are processors that this process may use, from the last one on, those first
// that are near a device.
func near(device string) []int {
	cpus := AllowedCPUs()
	slices.Reverse(cpus)
	// Of a device that is plugged in nowhere nothing is near.
	local, _ := ParseCPUs(firstLine(filepath.Join(string(sysfs.Default), "class/infiniband", device, "device/local_cpulist")))
	slices.SortStableFunc(cpus, func(a, b int) int {
		return boolInt(slices.Contains(local, b)) - boolInt(slices.Contains(local, a))
	})
	return cpus
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ParseCPUs reads a list of processors such as "0-3,8".
func ParseCPUs(list string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("parse CPUs %q: %w", list, err)
		}
		to, err := strconv.ParseUint(last, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("parse CPUs %q: %w", list, err)
		}
		for n := from; n <= to; n++ {
			cpus = append(cpus, int(n))
		}
	}
	return cpus, nil
}

// CPUs is where loops run.
type CPUs struct {
	Off  bool  // the kernel decides
	List []int // nil: near the device
}

// pick returns processors for n loops, none of those that are taken, the last ones
// first: the first one is where the kernel does most of its own. Where there are too
// few the kernel decides for the rest, unless there is a list: then loops share.
func (c CPUs) pick(device string, n int, taken []int) (cpus []int, shared bool) {
	if c.Off || n == 0 {
		return nil, false
	}
	if c.List == nil {
		cpus = slices.DeleteFunc(near(device), func(cpu int) bool { return slices.Contains(taken, cpu) })
		return cpus[:min(n, len(cpus))], false
	}
	uses := map[int]int{}
	for _, cpu := range taken {
		uses[cpu]++
	}
	for range n {
		cpu := slices.MinFunc(c.List, func(a, b int) int { return uses[a] - uses[b] })
		shared = shared || uses[cpu] > 0
		uses[cpu]++
		cpus = append(cpus, cpu)
	}
	return cpus, shared
}

// taken are the processors that tests of this process run on.
var taken struct {
	lock sync.Mutex
	cpus []int
}

// reserve picks processors for a test of this process. Shared: another loop of it
// runs on one of them.
func (c CPUs) reserve(device string, n int, others []int) (cpus []int, shared bool, release func()) {
	taken.lock.Lock()
	defer taken.lock.Unlock()
	cpus, shared = c.pick(device, n, slices.Concat(taken.cpus, others))
	taken.cpus = slices.Concat(taken.cpus, cpus)
	return cpus, shared, func() {
		taken.lock.Lock()
		defer taken.lock.Unlock()
		for _, cpu := range cpus {
			if i := slices.Index(taken.cpus, cpu); i >= 0 {
				taken.cpus = slices.Delete(taken.cpus, i, i+1)
			}
		}
	}
}

// crowded tells whether loops of both sides may have to share a processor: then
// each gives it away between polls.
func crowded(own, other Identity, loops int) bool {
	return own.BootID != "" && own.BootID == other.BootID && own.CPUs < loops
}
