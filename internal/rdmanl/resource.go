package rdmanl

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// A ResourceKind is a kernel object kind that the kernel lists.
type ResourceKind int

// The object kinds.
const (
	Contexts ResourceKind = iota // open devices
	PDs                          // protection domains
	MRs                          // memory regions
	CQs                          // completion queues
	SRQs                         // shared receive queues
	QPs                          // queue pairs
	CMIDs                        // connection manager IDs
)

// resourceKinds has the command and table attribute for each kind, the kind's name and the
// first Linux release that lists it.
var resourceKinds = [...]struct {
	cmd, table uint16
	name       string
	since      string
}{
	Contexts: {cmdResCtxGet, attrResContext, "contexts", "5.14"},
	PDs:      {cmdResPDGet, attrResPD, "PDs", "4.17"},
	MRs:      {cmdResMRGet, attrResMR, "MRs", "4.17"},
	CQs:      {cmdResCQGet, attrResCQ, "CQs", "4.17"},
	SRQs:     {cmdResSRQGet, attrResSRQ, "SRQs", "5.14"},
	QPs:      {cmdResQPGet, attrResQP, "QPs", "4.16"},
	CMIDs:    {cmdResCMIDGet, attrResCMID, "connection IDs", "4.17"},
}

// String returns the kind's name in the plural.
func (k ResourceKind) String() string { return resourceKinds[k].name }

// Since returns the first Linux release that lists objects of the kind.
func (k ResourceKind) Since() string { return resourceKinds[k].since }

// A Resource is a device object. The kernel sets the attributes that the object kind has
// (drivers/infiniband/core/nldev.c, fill_res_*_entry); the others are nil.
type Resource struct {
	PID        *uint32 // process that created the object; nil if another PID namespace has it
	KernelName string  // kernel module that created the object, or ""

	Port *uint32

	PDN, CQN, MRN, CMIDN, ContextN, SRQN *uint32 // numbers for this object or for the object it uses

	QPN, RemoteQPN, RQPSN, SQPSN *uint32
	PathMig                      *uint8 // 0 migrated, 1 rearm, 2 armed (enum ib_mig_state)
	Type                         *uint8 // enum ib_qp_type or enum ib_srq_type
	State                        *uint8 // enum ib_qp_state or enum rdma_cm_state

	PortSpace           *uint32 // enum rdma_ucm_port_space
	Source, Destination []byte  // struct sockaddr_storage

	CQE         *uint32
	Users       *uint64
	PollContext *uint8 // enum ib_poll_context; kernel CQs only
	Moderation  *bool  // adaptive moderation is on

	Length       *uint64
	LKey, RKey   *uint32 // only with CAP_NET_ADMIN
	LocalDMALKey *uint32 // only with CAP_NET_ADMIN
	GlobalRKey   *uint32 // only with CAP_NET_ADMIN

	QPs []QPRange // queue pairs that use an SRQ
}

// A QPRange is a consecutive QP number range.
type QPRange struct{ First, Last uint32 }

// String returns the number, or the first and last number: "17-20".
func (r QPRange) String() string {
	if r.First == r.Last {
		return strconv.FormatUint(uint64(r.First), 10)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

// ErrUnsupported is the error for objects that the kernel cannot list.
var ErrUnsupported = errors.New("not supported by the kernel")

// Resources lists the objects of a kind that a device has. Unprivileged users may list
// them. It returns ErrUnsupported if the kernel does not know the kind.
func (c *Conn) Resources(device uint32, kind ResourceKind) ([]Resource, error) {
	k := resourceKinds[kind]
	messages, err := c.execute(k.cmd, netlink.Dump, func(e *netlink.AttributeEncoder) { e.Uint32(attrDevIndex, device) })
	if err != nil {
		return nil, c.unsupported(device, err)
	}
	all := []Resource{}
	for _, m := range messages {
		some, err := parseResources(m.Data, k.table)
		if err != nil {
			return all, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// unsupported returns why a device query failed. The kernel returns EINVAL both for a
// device that does not exist and for unknown commands.
func (c *Conn) unsupported(device uint32, err error) error {
	if !errors.Is(err, unix.EINVAL) {
		return err
	}
	devices, listErr := c.Devices()
	if listErr != nil || !slices.ContainsFunc(devices, func(d Device) bool { return d.Index == device }) {
		return err
	}
	return fmt.Errorf("%w: %w", err, ErrUnsupported)
}

// parseResources parses a table's entries.
func parseResources(b []byte, table uint16) ([]Resource, error) {
	return parseTable(b, table, func(ad *netlink.AttributeDecoder) Resource {
		var r Resource
		for ad.Next() {
			r.set(ad)
		}
		return r
	})
}

// parseTable parses a message with a table: an attribute with a nested attribute per entry.
func parseTable[T any](b []byte, table uint16, entry func(*netlink.AttributeDecoder) T) ([]T, error) {
	var all []T
	err := parse(b, func(ad *netlink.AttributeDecoder) {
		if ad.Type() == table {
			all = append(all, entries(ad, entry)...)
		}
	})
	return all, err
}

// entries parses the attributes nested in the current attribute.
func entries[T any](ad *netlink.AttributeDecoder, entry func(*netlink.AttributeDecoder) T) (all []T) {
	ad.Nested(func(list *netlink.AttributeDecoder) error {
		for list.Next() {
			list.Nested(func(ad *netlink.AttributeDecoder) error {
				all = append(all, entry(ad))
				return nil
			})
		}
		return nil
	})
	return all
}

// set sets the field for the current attribute.
func (r *Resource) set(ad *netlink.AttributeDecoder) {
	switch ad.Type() {
	case attrResPID:
		r.PID = new(ad.Uint32())
	case attrResKernelName:
		r.KernelName = ad.String()
	case attrPortIndex:
		r.Port = new(ad.Uint32())
	case attrResPDN:
		r.PDN = new(ad.Uint32())
	case attrResCQN:
		r.CQN = new(ad.Uint32())
	case attrResMRN:
		r.MRN = new(ad.Uint32())
	case attrResCMIDN:
		r.CMIDN = new(ad.Uint32())
	case attrResContextN:
		r.ContextN = new(ad.Uint32())
	case attrResSRQN:
		r.SRQN = new(ad.Uint32())
	case attrResQPN:
		r.QPN = new(ad.Uint32())
	case attrResRemoteQPN:
		r.RemoteQPN = new(ad.Uint32())
	case attrResRQPSN:
		r.RQPSN = new(ad.Uint32())
	case attrResSQPSN:
		r.SQPSN = new(ad.Uint32())
	case attrResPathMig:
		r.PathMig = new(ad.Uint8())
	case attrResType:
		r.Type = new(ad.Uint8())
	case attrResState:
		r.State = new(ad.Uint8())
	case attrResPortSpace:
		r.PortSpace = new(ad.Uint32())
	case attrResSource:
		r.Source = ad.Bytes()
	case attrResDestination:
		r.Destination = ad.Bytes()
	case attrResCQE:
		r.CQE = new(ad.Uint32())
	case attrResUsers:
		r.Users = new(ad.Uint64())
	case attrResPollContext:
		r.PollContext = new(ad.Uint8())
	case attrDIM:
		r.Moderation = new(ad.Uint8() != 0)
	case attrResMRLength:
		r.Length = new(ad.Uint64())
	case attrResLKey:
		r.LKey = new(ad.Uint32())
	case attrResRKey:
		r.RKey = new(ad.Uint32())
	case attrResLocalDMALKey:
		r.LocalDMALKey = new(ad.Uint32())
	case attrResGlobalRKey:
		r.GlobalRKey = new(ad.Uint32())
	case attrResQP:
		r.QPs = parseQPs(ad)
	}
}

// parseQPs parses a list with QP numbers and ranges.
func parseQPs(ad *netlink.AttributeDecoder) []QPRange {
	return entries(ad, func(ad *netlink.AttributeDecoder) (r QPRange) {
		for ad.Next() {
			switch ad.Type() {
			case attrResQPN:
				r = QPRange{ad.Uint32(), ad.Uint32()}
			case attrMinRange:
				r.First = ad.Uint32()
			case attrMaxRange:
				r.Last = ad.Uint32()
			}
		}
		return r
	})
}
