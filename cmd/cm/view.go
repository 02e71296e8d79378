package cm

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/cm"
)

// A view prints a result as text.
type view struct {
	out       *render.Output
	palette   *render.Palette
	histogram bool
}

func (v *view) print(r *cm.Result) error {
	v.path(r)
	err := v.steps(r)
	if v.histogram {
		v.bars(r)
	}
	if r.Connections > 1 {
		fmt.Fprintf(v.out, "\n%d of %d connections established in %s, %.4g per second\n", r.Established, r.Connections,
			render.Duration(seconds(r.Seconds)), float64(r.Established)/r.Seconds)
	}
	v.failures(r)
	return err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// path prints the local port and the route.
func (v *view) path(r *cm.Result) {
	fmt.Fprintf(v.out, "to %s", r.Address)
	p := r.Path
	if p == nil {
		fmt.Fprint(v.out, "\n\n")
		return
	}
	fmt.Fprintf(v.out, " from %s/%d, %s\nGID %v to %v", p.Device, p.Port, p.Local, p.LocalGID, p.PeerGID)
	if p.DLID != nil {
		fmt.Fprintf(v.out, ", LID %v", *p.DLID)
	}
	if p.MTU != nil {
		fmt.Fprintf(v.out, ", MTU %d, SL %d, P_Key %#04x", *p.MTU, *p.SL, *p.PKey)
	}
	fmt.Fprintf(v.out, ", service ID %#016x\n\n", p.ServiceID)
}

// steps prints a table: for one connection the time of each step, else statistics.
func (v *view) steps(r *cm.Result) error {
	several := r.Connections > 1
	header := []string{"STEP", "TIME"}
	if several {
		header = []string{"STEP", "OK", "FAILED", "MIN", "MEDIAN", "P99", "MAX"}
	}
	var rows [][]string
	for _, s := range r.Steps {
		switch {
		case several:
			rows = append(rows, []string{
				s.Step.String(), strconv.Itoa(s.Count), strconv.Itoa(s.Failed), text(s.Min), text(s.Median), text(s.P99), text(s.Max),
			})
		case s.Failed > 0:
			rows = append(rows, []string{s.Step.String(), v.palette.Bad("failed")})
		default:
			rows = append(rows, []string{s.Step.String(), text(s.Min)})
		}
	}
	return render.Table(v.out, header, rows)
}

func text(ns *int64) string {
	if ns == nil {
		return render.Absent
	}
	return render.Duration(time.Duration(*ns))
}

func (v *view) bars(r *cm.Result) {
	for _, s := range r.Steps {
		if s.Count == 0 {
			continue
		}
		fmt.Fprintf(v.out, "\n%v\n", s.Step)
		var bars []render.Bar
		for _, b := range s.Histogram {
			bars = append(bars, render.Bar{From: time.Duration(b.From), To: time.Duration(b.To), Count: b.Count})
		}
		render.Bars(v.out, bars)
	}
}

// failures prints the failed step, the cause and the advice of each kind of failure.
func (v *view) failures(r *cm.Result) {
	for _, f := range r.Failed {
		count := ""
		if r.Connections > 1 {
			count = strconv.Itoa(f.Count) + " × "
		}
		fmt.Fprintf(v.out, "\n%s%s: %s\n", count, v.palette.Bad(string(f.Cause)), f.Error)
		if len(f.PrivateData) > 0 {
			fmt.Fprintf(v.out, "  private data: %s\n", render.Printable(f.PrivateData))
		}
		for _, line := range advice(r, f) {
			fmt.Fprintf(v.out, "  check: %s\n", line)
		}
	}
}

// advices are the things to check by cause, the likeliest first. HOST is the IP
// address of the target, PORT its port.
var advices = map[cm.Cause][]string{
	cm.CauseNoRoute:        {"the route: ip route get HOST"},
	cm.CauseNoDevice:       {"an RDMA device on the interface of the route: ip route get HOST; rdma link show", "on InfiniBand, IPoIB: ip link show type ipoib", efaHint, "ibkit doctor"},
	cm.CauseNoNeighbour:    {"the host is up and in the same subnet: ping HOST; ip neighbour show HOST"},
	cm.CauseLocalAddress:   {"the local addresses: ip address show"},
	cm.CauseNoPath:         {"the subnet manager: ibkit sm; the path: ibkit sa PathRecord", "on RoCE, the GIDs and the VLAN of the interface: ibkit devinfo"},
	cm.CauseNoProvider:     {"the driver: ibkit creates queue pairs on rxe, siw, mlx5, irdma, bnxt_re and vmw_pvrdma; the steps before work: ibkit devinfo"},
	cm.CauseSetup:          {"limits and the state of the device: ibkit doctor"},
	cm.CauseNoListener:     {"a program listens on HOST, port PORT, port space TCP. There: rdma resource show cm_id; ibkit cm --serve :PORT"},
	cm.CauseRefused:        {"the log of the program that listens on HOST, port PORT"},
	cm.CauseStale:          {"connect again after some seconds: HOST still has an older connection of the queue pair"},
	cm.CauseWrongGID:       {"HOST has the GID as the device that listens, with the same version of RoCE: ibkit devinfo"},
	cm.CauseNoResources:    {"limits of queue pairs on HOST: rdma resource show"},
	cm.CauseRejected:       {"the parameters that the reason names, on both hosts"},
	cm.CauseNoReply:        {"UDP port 4791 is open on both hosts and between them", "the version of RoCE of both hosts: ibkit devinfo; ibkit ping", "the device of HOST is up: rdma link show"},
	cm.CauseNotEstablished: {"the parameters of the queue pair: MTU, reads and atomics, GID: ibkit devinfo"},
	cm.CauseNoDisconnect:   {"the program at HOST, port PORT, is alive: it does not confirm the end of the connection"},
	cm.CauseDeviceRemoved:  {"the log of the kernel: dmesg; the device: rdma link show"},
}

// advice returns the things to check for a failure.
func advice(r *cm.Result, f cm.FailedStep) []string {
	host, port, _ := net.SplitHostPort(r.Address) // always an IP address with a port
	var lines []string
	for _, line := range advices[f.Cause] {
		lines = append(lines, strings.NewReplacer("HOST", host, "PORT", port).Replace(line))
	}
	return lines
}
