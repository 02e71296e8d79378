// Package host describes a measurement side: the host, its processors and the port.
package host

import (
	"net/netip"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
)

// Identity describes a side's process and host.
type Identity struct {
	Program string `json:"program"` // "ibkit 1.2.3"
	Host    string `json:"host"`
	Kernel  string `json:"kernel"`
	BootID  string `json:"boot_id"` // equal for processes on the same host
	CPUs    int    `json:"cpus"`    // that the process may use
}

// NewIdentity describes this host. Program is the caller's name and version.
func NewIdentity(program string) Identity {
	name, _ := os.Hostname() // empty if unknown
	id := Identity{Program: program, Host: name, BootID: firstLine("/proc/sys/kernel/random/boot_id"), CPUs: len(AllowedCPUs())}
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

// PortInfo describes a port and the GID that a test uses. A perftest or libibverbs
// program reveals only its LID and its GID.
type PortInfo struct {
	Device   string     `json:"device"`
	Driver   string     `json:"driver"`
	Port     uint8      `json:"port"`
	Link     string     `json:"link"` // "Ethernet" or "InfiniBand"
	LID      ib.LID     `json:"lid"`
	GID      netip.Addr `json:"gid"` // invalid: InfiniBand by LID
	GIDType  string     `json:"gid_type"`
	GIDIndex int        `json:"gid_index"` // negative: no GID, or unknown
	Why      string     `json:"why"`       // reason for the GID choice
	MTU      int        `json:"mtu"`       // port MTU in bytes

	Memory string `json:"memory,omitempty"` // of the messages, as package memory spells it; "": unknown
}
