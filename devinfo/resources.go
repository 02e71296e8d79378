package devinfo

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ibkit/ibkit/internal/rdmahost"
	"github.com/ibkit/ibkit/internal/rdmanl"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/verbs"
)

// ResourcesSchema identifies the version of the JSON encoding of Resources. The file
// schema/devinfo-resources.json describes it.
const ResourcesSchema = "ibkit/devinfo-resources/2"

// Resources are the objects that processes and the kernel have on devices. Its JSON
// encoding is the output of ibkit devinfo --resources --json. A list is nil if the kernel
// cannot list objects of its kind.
type Resources struct {
	report.Head
	Devices  []*DeviceResources `json:"devices"`
	Problems []Problem          `json:"-"` // the failures, with advice
	Keys     bool               `json:"-"` // the kernel reports keys of memory to this user
}

// DeviceResources are the objects on a device.
type DeviceResources struct {
	Name       string          `json:"name"`
	Index      uint32          `json:"index"`
	Contexts   []ContextObject `json:"contexts"`
	PDs        []PDObject      `json:"pds"`
	MRs        []MRObject      `json:"mrs"`
	CQs        []CQObject      `json:"cqs"`
	SRQs       []SRQObject     `json:"srqs"`
	QPs        []QPObject      `json:"qps"`
	CMIDs      []CMIDObject    `json:"cm_ids"`
	Statistics []Statistic     `json:"statistics"` // nil unless they were requested
}

// An Owner is the process or the kernel module that created an object.
type Owner struct {
	PID     *uint32 `json:"pid"`     // nil for the kernel, and for processes of other PID namespaces
	Process *string `json:"process"` // name of the process; nil if it is unknown
	Kernel  *string `json:"kernel"`  // name of the kernel module; nil for objects of processes
}

// A ContextObject is an open device.
type ContextObject struct {
	Number *uint32 `json:"ctxn"`
	Owner
}

// A PDObject is a protection domain.
type PDObject struct {
	Number       *uint32 `json:"pdn"`
	Context      *uint32 `json:"ctxn"`
	Users        *uint64 `json:"users"`
	LocalDMALKey *uint32 `json:"local_dma_lkey"`     // only with CAP_NET_ADMIN
	GlobalRKey   *uint32 `json:"unsafe_global_rkey"` // only with CAP_NET_ADMIN
	Owner
}

// An MRObject is a memory region.
type MRObject struct {
	Number *uint32 `json:"mrn"`
	PD     *uint32 `json:"pdn"`
	Length *uint64 `json:"length"` // in bytes
	LKey   *uint32 `json:"lkey"`   // only with CAP_NET_ADMIN
	RKey   *uint32 `json:"rkey"`   // only with CAP_NET_ADMIN
	Owner
}

// A CQObject is a completion queue.
type CQObject struct {
	Number      *uint32 `json:"cqn"`
	Context     *uint32 `json:"ctxn"`
	Entries     *uint32 `json:"cqe"`
	Users       *uint64 `json:"users"`
	PollContext *string `json:"poll_context"` // of CQs of the kernel
	Moderation  *bool   `json:"adaptive_moderation"`
	Owner
}

// An SRQObject is a shared receive queue.
type SRQObject struct {
	Number *uint32  `json:"srqn"`
	Type   *string  `json:"type"`
	PD     *uint32  `json:"pdn"`
	CQ     *uint32  `json:"cqn"`
	QPs    []string `json:"qps"` // numbers of queue pairs and ranges of them: "17", "20-23"
	Owner
}

// A QPObject is a queue pair.
type QPObject struct {
	Number        *uint32 `json:"qpn"`
	Port          *uint32 `json:"port"`
	Type          *string `json:"type"`
	State         *string `json:"state"`
	RemoteQPN     *uint32 `json:"remote_qpn"`
	RQPSN         *uint32 `json:"rq_psn"`
	SQPSN         *uint32 `json:"sq_psn"`
	PathMigration *string `json:"path_migration"`
	PD            *uint32 `json:"pdn"`
	Owner
}

// A CMIDObject is an ID of the connection manager.
type CMIDObject struct {
	Number      *uint32 `json:"cm_idn"`
	Port        *uint32 `json:"port"`
	State       *string `json:"state"`
	PortSpace   *string `json:"port_space"`
	QPType      *string `json:"qp_type"`
	QPN         *uint32 `json:"qpn"`
	Source      *string `json:"source"`
	Destination *string `json:"destination"`
	Owner
}

// A Statistic is a set of counters that a driver keeps: those of a port, those that are
// bound to queue pairs, or those of a memory region.
type Statistic struct {
	Port     *uint32           `json:"port"`
	Counter  *uint32           `json:"cntn"` // number of bound counters
	Mode     *string           `json:"mode"` // of bound counters: "auto" or "manual"
	QPType   *string           `json:"qp_type"`
	QPs      []string          `json:"qps"`
	MR       *uint32           `json:"mrn"`
	Counters map[string]uint64 `json:"counters"`
}

// Names of enumerations of the kernel, in the words of rdma-resource(8): enum
// ib_mig_state, ib_poll_context and ib_srq_type of <rdma/ib_verbs.h>, rdma_cm_state of
// drivers/infiniband/core/cma_priv.h, rdma_nl_counter_mode of <rdma/rdma_netlink.h>.
var (
	migrationNames = []string{"MIGRATED", "REARM", "ARMED"}
	pollNames      = []string{"DIRECT", "SOFTIRQ", "WORKQUEUE", "UNBOUND_WORKQUEUE"}
	srqNames       = []string{"BASIC", "XRC", "TM"}
	modeNames      = []string{"none", "auto", "manual"}
	cmStateNames   = []string{
		"IDLE", "ADDR_QUERY", "ADDR_RESOLVED", "ROUTE_QUERY", "ROUTE_RESOLVED", "CONNECT", "DISCONNECT", "ADDR_BOUND",
		"LISTEN", "DEVICE_REMOVAL", "DESTROYING",
	}
)

// name returns the name of a number, or the number itself if it is unknown.
func name[N uint8 | uint32](names []string, n *N) *string {
	if n == nil {
		return nil
	}
	if int(*n) < len(names) {
		return &names[*n]
	}
	return new(fmt.Sprint(*n))
}

// qpType returns the name of a type of queue pairs.
func qpType(t *uint8) *string {
	if t == nil {
		return nil
	}
	switch *t { // types of the kernel's own queue pairs (enum ib_qp_type)
	case 0:
		return new("SMI")
	case 1:
		return new("GSI")
	case uint8(verbs.QPTypeSRD): // and the types of other drivers
		return new("driver")
	}
	return new(verbs.QPType(*t).String())
}

// A lister lists objects: a socket of NETLINK_RDMA.
type lister interface {
	Devices() ([]rdmanl.Device, error)
	Resources(device uint32, kind rdmanl.ResourceKind) ([]rdmanl.Resource, error)
	PortStatistic(device, port uint32) (*rdmanl.Statistic, error)
	BoundStatistics(device uint32, kind rdmanl.ResourceKind) ([]rdmanl.Statistic, error)
}

// ListResources lists the objects on the devices of this host, and their counters if
// statistics is set. device limits the list to a device; "" is all. A list that cannot be
// read is a Problem.
func ListResources(device string, statistics bool) (*Resources, error) {
	c, err := rdmanl.Dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return listResources(c, device, statistics)
}

func listResources(c lister, device string, statistics bool) (*Resources, error) {
	r := &Resources{Head: report.NewHead(ResourcesSchema, time.Now()), Devices: []*DeviceResources{}, Keys: true}
	devices, err := c.Devices()
	if err != nil {
		return nil, err
	}
	for _, d := range devices {
		if device != "" && d.Name != device {
			continue
		}
		dr := &DeviceResources{Name: d.Name, Index: d.Index}
		r.list(c, dr)
		if statistics {
			r.statistics(c, dr, d.Ports)
		}
		r.Devices = append(r.Devices, dr)
	}
	if device != "" && len(r.Devices) == 0 {
		return nil, fmt.Errorf("find device %s: %w", device, ErrNoDevice)
	}
	return r, nil
}

// list reads all lists of a device.
func (r *Resources) list(c lister, d *DeviceResources) {
	read := func(kind rdmanl.ResourceKind) []rdmanl.Resource {
		all, err := c.Resources(d.Index, kind)
		if err != nil {
			r.fail(d.Name, fmt.Errorf("list %v: %w", kind, err), listHint(err, kind))
		}
		return all
	}
	d.Contexts = convert(read(rdmanl.Contexts), func(o *rdmanl.Resource) ContextObject { return ContextObject{o.ContextN, owner(o)} })
	d.PDs = convert(read(rdmanl.PDs), func(o *rdmanl.Resource) PDObject {
		return PDObject{o.PDN, o.ContextN, o.Users, o.LocalDMALKey, o.GlobalRKey, owner(o)}
	})
	d.MRs = convert(read(rdmanl.MRs), func(o *rdmanl.Resource) MRObject {
		r.Keys = r.Keys && o.LKey != nil
		return MRObject{o.MRN, o.PDN, o.Length, o.LKey, o.RKey, owner(o)}
	})
	d.CQs = convert(read(rdmanl.CQs), func(o *rdmanl.Resource) CQObject {
		return CQObject{o.CQN, o.ContextN, o.CQE, o.Users, name(pollNames, o.PollContext), o.Moderation, owner(o)}
	})
	d.SRQs = convert(read(rdmanl.SRQs), func(o *rdmanl.Resource) SRQObject {
		return SRQObject{o.SRQN, name(srqNames, o.Type), o.PDN, o.CQN, ranges(o.QPs), owner(o)}
	})
	d.QPs = convert(read(rdmanl.QPs), func(o *rdmanl.Resource) QPObject {
		var state *string
		if o.State != nil {
			state = new(verbs.QPState(*o.State).String())
		}
		return QPObject{o.QPN, o.Port, qpType(o.Type), state, o.RemoteQPN, o.RQPSN, o.SQPSN, name(migrationNames, o.PathMig), o.PDN, owner(o)}
	})
	d.CMIDs = convert(read(rdmanl.CMIDs), func(o *rdmanl.Resource) CMIDObject {
		var space *string
		if o.PortSpace != nil {
			space = new(rdmacm.PortSpace(*o.PortSpace).String())
		}
		return CMIDObject{o.CMIDN, o.Port, name(cmStateNames, o.State), space, qpType(o.Type), o.QPN, address(o.Source), address(o.Destination), owner(o)}
	})
}

// fail adds a list that could not be read.
func (r *Resources) fail(device string, err error, hint string) {
	p := Problem{device, err, hint}
	r.Problems = append(r.Problems, p)
	r.Fail(p.failure())
}

// listHint returns advice on a list of objects that could not be read, or "".
func listHint(err error, kind rdmanl.ResourceKind) string {
	switch {
	case errors.Is(err, rdmanl.ErrUnsupported):
		return "Linux lists " + kind.String() + " since release " + kind.Since()
	case errors.Is(err, fs.ErrPermission):
		return "run as root"
	}
	return ""
}

// convert converts the elements of a list. It returns nil for nil.
func convert[T any](all []rdmanl.Resource, element func(*rdmanl.Resource) T) []T {
	if all == nil {
		return nil
	}
	converted := make([]T, len(all))
	for i := range all {
		converted[i] = element(&all[i])
	}
	return converted
}

// owner returns the owner of an object.
func owner(o *rdmanl.Resource) Owner {
	switch {
	case o.KernelName != "":
		return Owner{Kernel: &o.KernelName}
	case o.PID == nil:
		return Owner{}
	}
	return Owner{PID: o.PID, Process: rdmahost.ProcessName(*o.PID)}
}

func ranges(all []rdmanl.QPRange) []string {
	texts := []string{}
	for _, r := range all {
		texts = append(texts, r.String())
	}
	return texts
}

// address returns the text of a socket address, nil for a missing one.
func address(b []byte) *string {
	a, err := rdmacm.ParseSockaddr(b)
	if a == nil || err != nil {
		return nil
	}
	return new(a.String())
}

// statistics reads the counters of the ports and objects of a device.
func (r *Resources) statistics(c lister, d *DeviceResources, ports uint32) {
	d.Statistics = []Statistic{}
	var all []rdmanl.Statistic
	failed := func(err error) {
		if err != nil {
			r.fail(d.Name, fmt.Errorf("read counters: %w", err), "")
		}
	}
	for port := uint32(1); port <= ports; port++ {
		s, err := c.PortStatistic(d.Index, port)
		failed(err)
		if s != nil {
			all = append(all, *s)
		}
	}
	for _, kind := range []rdmanl.ResourceKind{rdmanl.QPs, rdmanl.MRs} {
		bound, err := c.BoundStatistics(d.Index, kind)
		failed(err)
		all = append(all, bound...)
	}
	for _, s := range all {
		converted := Statistic{
			Counter: s.CounterID, Mode: name(modeNames, s.Mode), QPType: qpType(s.QPType), QPs: ranges(s.QPs), MR: s.MRN, Counters: s.Counters,
		}
		if s.Port != 0 {
			converted.Port = &s.Port
		}
		d.Statistics = append(d.Statistics, converted)
	}
}
