// Package pcie reads the PCI Express tree of a host from sysfs: where each function is
// connected, and the settings of the bridges above it.
package pcie

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/sysfs"
)

// A Function is a PCI function. Pointers are nil for values that the kernel does not provide.
type Function struct {
	Address  string // for example "0000:81:00.0"
	Class    uint32 // 24 bits: base class, subclass, programming interface
	Vendor   uint16
	Device   uint16
	NUMANode *int // -1 if the firmware does not report it
	Link     Link

	HostBridge string      // for example "pci0000:80"
	Bridges    []*Function // from the root port to the parent

	AER *AER   // nil if the function does not report errors
	BAR uint64 // size of the largest memory region in bytes; 0 without a region

	P2P *P2PMemory // nil if the function offers no memory

	Config *Config // nil if the configuration space cannot be read
}

// P2PMemory is memory that a function's driver offers for transfers from other functions
// (p2pmem in sysfs), in bytes.
type P2PMemory struct {
	Size      uint64 `json:"size"`
	Available uint64 `json:"available"`
	Published bool   `json:"published"` // other drivers may use it
}

// readP2P reads the memory; nil if there is no memory.
func readP2P(d sysfs.Dir) *P2PMemory {
	size := d.Uint("size", 64)
	if size == nil {
		return nil
	}
	m := &P2PMemory{Size: *size}
	if v := d.Uint("available", 64); v != nil {
		m.Available = *v
	}
	if v := d.Uint("published", 8); v != nil {
		m.Published = *v != 0
	}
	return m
}

// Addresses look as below; a domain has more digits behind some host bridges.
var (
	addressPattern    = lazyregexp.New(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)
	hostBridgePattern = lazyregexp.New(`^pci[0-9a-f]{4,8}:[0-9a-f]{2}$`)
)

// IsAddress reports whether a name is the address of a PCI function.
func IsAddress(name string) bool { return addressPattern.MatchString(name) }

// A Tree is the PCI functions of a host.
type Tree struct {
	Functions []*Function // by address

	byAddress map[string]*Function
}

// Find returns the function with an address, or nil.
func (t *Tree) Find(address string) *Function { return t.byAddress[address] }

// Read reads the functions of a host. The tree is empty if sysfs has no PCI bus.
func Read(fs sysfs.FS, problems *[]error) *Tree {
	t := &Tree{byAddress: map[string]*Function{}}
	bus := fs.Dir(problems, "bus/pci/devices")
	ancestors := map[*Function][]string{}
	for _, address := range bus.Names() {
		if !IsAddress(address) {
			continue
		}
		d := bus.Sub(address)
		f := read(d, address)
		f.HostBridge, ancestors[f] = location(d.Path())
		t.Functions = append(t.Functions, f)
		t.byAddress[address] = f
	}
	for f, addresses := range ancestors {
		for _, a := range addresses {
			if bridge := t.byAddress[a]; bridge != nil {
				f.Bridges = append(f.Bridges, bridge)
			}
		}
	}
	return t
}

func read(d sysfs.Dir, address string) *Function {
	f := &Function{Address: address, NUMANode: d.Int("numa_node"), Link: ReadLink(d), AER: ReadAER(d), BAR: largestBAR(d.Text("resource")), P2P: readP2P(d.Sub("p2pmem"))}
	number := func(name string, bits int) uint64 {
		if n := d.Uint(name, bits); n != nil {
			return *n
		}
		return 0
	}
	f.Class = uint32(number("class", 24))
	f.Vendor, f.Device = uint16(number("vendor", 16)), uint16(number("device", 16))
	if b := d.Bytes("config", configSize); b != nil {
		f.Config = ParseConfig(b)
	}
	return f
}

// location returns the host bridge and the bridges above a function, the root port first,
// from the target of its symbolic link, for example
// ../../../devices/pci0000:80/0000:80:01.1/0000:81:00.0.
func location(path string) (hostBridge string, bridges []string) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", nil
	}
	for name := range strings.SplitSeq(filepath.Dir(target), string(filepath.Separator)) {
		switch {
		case hostBridgePattern.MatchString(name):
			hostBridge, bridges = name, nil
		case IsAddress(name):
			bridges = append(bridges, name)
		}
	}
	return hostBridge, bridges
}

// Base classes (PCI Code and ID Assignment Specification).
const (
	classDisplay     = 0x03
	classAccelerator = 0x12
)

// gpuVendors are the vendors of GPUs. Others make the video outputs of servers.
var gpuVendors = map[uint16]string{0x10de: "NVIDIA", 0x1002: "AMD", 0x8086: "Intel", 0x1da3: "Habana Labs"}

// IsGPU reports whether a function is a GPU or an accelerator behind a PCI Express port.
// Graphics on the bus of a host bridge are part of the processor.
func (f *Function) IsGPU() bool {
	base := f.Class >> 16
	_, known := gpuVendors[f.Vendor]
	return known && len(f.Bridges) > 0 && (base == classDisplay || base == classAccelerator)
}

// VendorName returns the name of a GPU's vendor, or "".
func (f *Function) VendorName() string { return gpuVendors[f.Vendor] }

// GPUs returns the GPUs by address.
func (t *Tree) GPUs() []*Function {
	return slices.DeleteFunc(slices.Clone(t.Functions), func(f *Function) bool { return !f.IsGPU() })
}
