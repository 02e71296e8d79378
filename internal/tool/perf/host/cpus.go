package host

import (
	"errors"
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

// CPUs selects processors. The zero value selects processors close to the device.
type CPUs struct {
	Off  bool  // the kernel selects
	List []int // to select from
}

// ErrCPUs is wrapped by ParseCPUs if its argument is malformed.
var ErrCPUs = errors.New("neither auto, off, nor a list such as 2,4-5")

// ParseCPUs parses "auto", "off", or a processor list such as "0-3,8" that this process may
// use.
func ParseCPUs(text string) (CPUs, error) {
	switch text {
	case "auto":
		return CPUs{}, nil
	case "off":
		return CPUs{Off: true}, nil
	}
	list, err := parseCPUList(text)
	if err != nil {
		return CPUs{}, err
	}
	allowed := AllowedCPUs()
	for _, cpu := range list {
		if !slices.Contains(allowed, cpu) {
			return CPUs{}, fmt.Errorf("parse CPUs %q: this process may not use CPU %d", text, cpu)
		}
	}
	return CPUs{List: list}, nil
}

func parseCPUList(text string) ([]int, error) {
	bad := fmt.Errorf("parse CPUs %q: %w", text, ErrCPUs)
	var cpus []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 16)
		if err != nil {
			return nil, bad
		}
		to, err := strconv.ParseUint(last, 10, 16)
		if err != nil || to < from {
			return nil, bad
		}
		for n := from; n <= to; n++ {
			cpus = append(cpus, int(n))
		}
	}
	return cpus, nil
}

// AllowedCPUs returns the processors that this process may use.
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

// near returns the processors that this process may use in descending order, with
// processors close to a device first.
func near(device string) []int {
	cpus := AllowedCPUs()
	slices.Reverse(cpus)
	path := filepath.Join(string(sysfs.Default), "class/infiniband", device, "device/local_cpulist")
	text, err := os.ReadFile(path)
	if err != nil {
		return cpus // a virtual device has no local processors
	}
	local, _ := parseCPUList(strings.TrimSpace(string(text)))
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

// Pick selects processors for n loops. It avoids the taken processors and the first
// processors, on which the kernel handles most interrupts. If there are too few, it
// returns fewer than n, or processors from the list several times. Shared reports
// whether a processor runs several loops.
func (c CPUs) Pick(device string, n int, taken []int) (cpus []int, shared bool) {
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

// reserved holds the processors that this process's loops use.
var reserved struct {
	lock sync.Mutex
	cpus []int
}

// Reserve is Pick without the processors that others in this process have reserved and
// not released.
func (c CPUs) Reserve(device string, n int, taken []int) (cpus []int, shared bool, release func()) {
	reserved.lock.Lock()
	defer reserved.lock.Unlock()
	cpus, shared = c.Pick(device, n, slices.Concat(reserved.cpus, taken))
	reserved.cpus = slices.Concat(reserved.cpus, cpus)
	return cpus, shared, func() {
		reserved.lock.Lock()
		defer reserved.lock.Unlock()
		for _, cpu := range cpus {
			if i := slices.Index(reserved.cpus, cpu); i >= 0 {
				reserved.cpus = slices.Delete(reserved.cpus, i, i+1)
			}
		}
	}
}
