package devinfo

import (
	"cmp"
	"maps"
	"slices"
)

// A Usage is the number of objects that a process or a kernel module has on a device.
type Usage struct {
	Owner
	Contexts, PDs, MRs, CQs, SRQs, QPs, CMIDs int
}

// Usages counts the objects by owner: processes by ID, then kernel modules by name,
// then objects of unknown processes.
func (d *DeviceResources) Usages() []Usage {
	all := map[ownerKey]*Usage{}
	of := func(o Owner) *Usage {
		u := all[o.key()]
		if u == nil {
			u = &Usage{Owner: o}
			all[o.key()] = u
		}
		return u
	}
	for i := range d.Contexts {
		of(d.Contexts[i].Owner).Contexts++
	}
	for i := range d.PDs {
		of(d.PDs[i].Owner).PDs++
	}
	for i := range d.MRs {
		of(d.MRs[i].Owner).MRs++
	}
	for i := range d.CQs {
		of(d.CQs[i].Owner).CQs++
	}
	for i := range d.SRQs {
		of(d.SRQs[i].Owner).SRQs++
	}
	for i := range d.QPs {
		of(d.QPs[i].Owner).QPs++
	}
	for i := range d.CMIDs {
		of(d.CMIDs[i].Owner).CMIDs++
	}
	usages := []Usage{}
	for _, key := range slices.SortedFunc(maps.Keys(all), ownerKey.compare) {
		usages = append(usages, *all[key])
	}
	return usages
}

// An ownerKey identifies an owner.
type ownerKey struct {
	rank   int // 0 process, 1 kernel module, 2 unknown process
	pid    uint32
	kernel string
}

func (o Owner) key() ownerKey {
	switch {
	case o.PID != nil:
		return ownerKey{pid: *o.PID}
	case o.Kernel != nil:
		return ownerKey{rank: 1, kernel: *o.Kernel}
	}
	return ownerKey{rank: 2}
}

func (k ownerKey) compare(other ownerKey) int {
	return cmp.Or(cmp.Compare(k.rank, other.rank), cmp.Compare(k.pid, other.pid), cmp.Compare(k.kernel, other.kernel))
}
