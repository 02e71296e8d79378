package check

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// A deviceType is a vendor's devices with the same device ID.
type deviceType struct {
	vendor uint32
	device uint16
}

// firmwareVersions are a type's devices by version and board.
type firmwareVersions map[[2]string][]*fabric.Node

// A firmwareProbe has the versions from each type's first devices.
type firmwareProbe struct {
	order    []deviceType
	versions map[deviceType]firmwareVersions
	replied  map[deviceType]bool // by a device
	rest     []*fabric.Node      // of these types, without a version yet
}

// typeOf returns a node's type.
func typeOf(n *fabric.Node) deviceType { return deviceType{n.Info.VendorID, n.Info.DeviceID} }

// isSilent reports whether the first devices of a node's type did not reply.
func (p *firmwareProbe) isSilent(n *fabric.Node) bool { return p != nil && !p.replied[typeOf(n)] }

// probeFirmware queries each type's first devices. If they do not respond to one attempt,
// the others are not queried: agents ignore a class that they do not have.
func (r *fabricRun) probeFirmware(ctx context.Context) error {
	types := map[deviceType][]*fabric.Node{}
	p := &firmwareProbe{versions: map[deviceType]firmwareVersions{}, replied: map[deviceType]bool{}}
	for _, n := range r.fabric.Nodes {
		t := typeOf(n)
		if t.vendor != mad.VendorMlnx || nodeLID(n).LID == 0 {
			continue
		}
		if types[t] == nil {
			p.order, p.versions[t] = append(p.order, t), firmwareVersions{}
		}
		types[t] = append(types[t], n)
	}
	once := r.opts.Source.Client
	once.Attempts = 1
	silent := map[deviceType][]*fabric.Node{}
	err := r.call(ctx, once, func(c *umad.Client) {
		for _, t := range p.order {
			for _, n := range types[t][:min(len(types[t]), phy.ProbesPerType)] {
				r.readFirmware(c, n, p.versions[t], func(ok bool) {
					if p.replied[t] = p.replied[t] || ok; !ok {
						silent[t] = append(silent[t], n)
					}
				})
			}
		}
	})
	if err != nil {
		return err
	}
	for _, t := range p.order {
		if p.replied[t] {
			p.rest = append(p.rest, silent[t]...)
			p.rest = append(p.rest, types[t][min(len(types[t]), phy.ProbesPerType):]...)
		}
	}
	r.firmware = p
	return nil
}

// checkFirmware compares firmware among devices with the same type and board.
func checkFirmware(ctx context.Context, r *fabricRun) error {
	if r.firmware == nil {
		if err := r.probeFirmware(ctx); err != nil {
			return err
		}
	}
	p, err := r.firmware, error(nil)
	if len(p.rest) > 0 {
		err = r.call(ctx, r.opts.Source.Client, func(c *umad.Client) {
			for _, n := range p.rest {
				r.readFirmware(c, n, p.versions[typeOf(n)], func(ok bool) {
					if !ok {
						r.add(r.nodeFinding(report.Unchecked, n, "GeneralInfo: no reply, although other devices of the type responded").WithHint("ibkit query GeneralInfo {node}"))
					}
				})
			}
		})
	}
	if err != nil {
		return err
	}
	known := 0
	for _, t := range p.order {
		known += r.compareFirmware(p.versions[t])
	}
	switch {
	case known == 0:
		r.skipped("no device reports its firmware in band")
	default:
		r.comment("%s of %s", count(known, "device"), count(len(p.order), "type"))
	}
	return nil
}

// nodeLID returns the address for a node's general services, LID 0 if they cannot be reached.
func nodeLID(n *fabric.Node) umad.Target {
	for _, p := range n.Ports {
		if p != nil && p.LID() != 0 && p.Unreachable() == nil {
			return umad.Target{LID: p.LID()}
		}
	}
	return umad.Target{}
}

// readFirmware requests a node's version.
func (r *fabricRun) readFirmware(c *umad.Client, n *fabric.Node, into firmwareVersions, done func(ok bool)) {
	var a mad.MlnxGeneralInfo
	c.SubmitGet(nodeLID(n), &a, func(err error) {
		if err == nil {
			psid, _, _ := strings.Cut(string(a.PSID[:]), "\x00")
			key := [2]string{mad.NewNodeDescription(psid).Clean(), a.Firmware()}
			into[key] = append(into[key], n)
		}
		done(err == nil)
	})
}

// compareFirmware reports devices with another version than most devices with their board.
// It returns the device count.
func (r *fabricRun) compareFirmware(v firmwareVersions) (known int) {
	boards := map[string][][2]string{}
	for key, nodes := range v {
		boards[key[0]] = append(boards[key[0]], key)
		known += len(nodes)
	}
	for _, board := range slices.Sorted(maps.Keys(boards)) {
		keys := boards[board]
		slices.SortFunc(keys, func(a, b [2]string) int {
			return cmp.Or(cmp.Compare(len(v[b]), len(v[a])), cmp.Compare(b[1], a[1]))
		})
		for _, key := range keys[1:] {
			for _, n := range v[key] {
				r.add(r.nodeFinding(report.FirmwareDiffers, n, "firmware %s, but %d of %d devices of board %s have %s",
					key[1], len(v[keys[0]]), total(v, keys), cmp.Or(board, fmt.Sprint(n.Info.DeviceID)), keys[0][1]))
			}
		}
	}
	return known
}

// total returns the device count for some versions.
func total(v firmwareVersions, keys [][2]string) (n int) {
	for _, key := range keys {
		n += len(v[key])
	}
	return n
}
