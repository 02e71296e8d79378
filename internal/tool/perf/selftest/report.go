package selftest

import (
	"time"

	"github.com/ibkit/ibkit/report"
)

// Schema identifies the JSON form of a [Report]; schema/perf-self-test.json describes it.
const Schema = "ibkit/perf-self-test/3"

// A Report is the result of Run. It contains no addresses, names or GUIDs of the host.
type Report struct {
	report.Head
	Program string  `json:"program"` // "ibkit 1.2.3"
	System  System  `json:"system"`
	Device  Device  `json:"device"`
	Cases   []Case  `json:"cases"`
	Seconds float64 `json:"seconds"`
}

// System describes the host.
type System struct {
	Kernel       string `json:"kernel"`
	Architecture string `json:"architecture"`
	CPUs         int    `json:"cpus"`
	PageSize     int    `json:"page_size"`
}

// Device describes the device and the port.
type Device struct {
	Name         string  `json:"name"`
	Driver       string  `json:"driver"`
	Firmware     string  `json:"firmware"`
	VendorID     uint32  `json:"vendor_id"`
	VendorPartID uint32  `json:"vendor_part_id"`
	Board        *string `json:"board"` // PSID of Mellanox adapters; nil if unknown
	HWVersion    uint32  `json:"hw_version"`
	Port         uint8   `json:"port"`
	Ports        uint8   `json:"num_ports"`
	Link         string  `json:"link"`
	Rate         *string `json:"rate"` // nil if unknown
	MTU          int     `json:"mtu"`
	GIDType      *string `json:"gid_type"`  // nil without a GID
	GIDIndex     *int    `json:"gid_index"` // nil without a GID
}

// An Outcome is the result of a case.
type Outcome string

// The outcomes.
const (
	Pass        Outcome = "pass"
	Fail        Outcome = "fail"
	Unsupported Outcome = "unsupported" // by the device, the driver or the provider
)

// A Case is a check.
type Case struct {
	Transport string  `json:"transport"` // "rc", "uc", "ud", "srd", "xrc" or "device"
	Name      string  `json:"name"`
	Outcome   Outcome `json:"outcome"`
	Reason    *string `json:"reason"` // nil for Pass without a deviation
	Sizes     []int   `json:"sizes"`  // of messages in bytes
	Seconds   float64 `json:"seconds"`
}

// CountOf returns the number of cases with an outcome.
func (r *Report) CountOf(o Outcome) (n int) {
	for i := range r.Cases {
		if r.Cases[i].Outcome == o {
			n++
		}
	}
	return n
}

// caseTimeout is the default of tester.timeout. Adapters may retransmit for some seconds before
// they give up.
const caseTimeout = 30 * time.Second
