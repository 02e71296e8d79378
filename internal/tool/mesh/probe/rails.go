package probe

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// findRails returns the active ports, or the ports of a list of DEVICE and DEVICE/PORT.
func findRails(fs sysfs.FS, list []string) (rails []crew.Rail, failed []error) {
	if len(list) == 0 {
		list = fs.DeviceNames()
		slices.Sort(list)
		if len(list) == 0 {
			return nil, []error{fmt.Errorf("this host has %w", perf.ErrNoDevice)}
		}
	}
	for _, text := range list {
		found, err := railsOf(fs, text)
		if err != nil {
			failed = append(failed, err)
		}
		rails = append(rails, found...)
	}
	return rails, failed
}

// railsOf returns a device's active ports, or the port after a slash.
func railsOf(fs sysfs.FS, text string) (rails []crew.Rail, err error) {
	device, number, chosen := strings.Cut(text, "/")
	numbers := fs.Dir(new([]error), "class/infiniband", device, "ports").Numbers(255)
	if len(numbers) == 0 {
		return nil, fmt.Errorf("open device %s: %w of this name", device, perf.ErrNoDevice)
	}
	for _, n := range numbers {
		if chosen && strconv.Itoa(n) != number {
			continue
		}
		port, err := fs.Port(device, uint8(n))
		switch {
		case err != nil:
			return rails, err
		case port.State == ib.PortActive:
			rails = append(rails, rail(fs, port))
		}
	}
	if len(rails) == 0 {
		return nil, fmt.Errorf("open %s: %w", text, errInactive)
	}
	return rails, nil
}

var errInactive = errors.New("no active port")

func rail(fs sysfs.FS, p sysfs.Port) crew.Rail {
	r := crew.Rail{Device: p.Device, Port: p.Number, Link: p.LinkLayer, GUID: p.GUID, LID: p.LID}
	if device := fs.Dir(new([]error), "class/infiniband", p.Device); device.Text("parent") == nil { // Soft-RoCE has no rate
		_, _ = fmt.Sscan(linkRate(fs, p.Device, p.Number), &r.Gbps) // stays 0 if unknown
	}
	return r
}

// linkRate returns the rate of a port, such as "100 Gb/sec (4X EDR)".
func linkRate(fs sysfs.FS, device string, port uint8) string {
	rate := fs.Dir(new([]error), "class/infiniband", device, "ports", strconv.Itoa(int(port))).Text("rate")
	return *cmp.Or(rate, new(""))
}
