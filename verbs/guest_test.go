//go:build inguest

package verbs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs"
)

// The guest's device.
const (
	device = "rxe0"
	node   = "/dev/infiniband/uverbs0"
)

func open(t *testing.T) *verbs.Context {
	t.Helper()
	c, err := verbs.Open(device, node)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestGuestQueries is traced by the system call test, and also runs as an
// unprivileged user.
func TestGuestQueries(t *testing.T) {
	c := open(t)
	if _, err := c.QueryDevice(); err != nil {
		t.Error(err)
	}
	if _, err := c.QueryPort(1); err != nil {
		t.Error(err)
	}
	if _, err := c.GIDTable(); err != nil {
		t.Error(err)
	}
	if c.Driver() != verbs.DriverRXE {
		t.Errorf("got driver %v, want rxe", c.Driver())
	}
}

// TestUserDenied runs as a user who may not open the device.
func TestUserDenied(t *testing.T) {
	if _, err := verbs.Open(device, node); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got error %v, want %v", err, fs.ErrPermission)
	}
}

// TestGuestUser runs tests as an unprivileged user. The kernel creates device nodes
// that all users may open, unless an administrator changes the mode.
func TestGuestUser(t *testing.T) {
	run := func(test string) {
		t.Helper()
		cmd := exec.Command("/proc/self/exe", "-test.v", "-test.run=^"+test+"$")
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+test) {
			t.Errorf("%v: %s", err, out)
		}
	}
	info, err := os.Stat(node)
	if err != nil {
		t.Fatal(err)
	}
	run("TestGuestQueries")
	if err := os.Chmod(node, 0o600); err != nil {
		t.Fatal(err)
	}
	run("TestUserDenied")
	if err := os.Chmod(node, info.Mode()); err != nil {
		t.Fatal(err)
	}
}

// The driver is not determined if the caller specifies it, and a wrong driver is an
// error.
func TestGuestDriver(t *testing.T) {
	c, err := verbs.Device{Name: device, Path: node, Driver: verbs.DriverRXE}.Open()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := (verbs.Device{Name: device, Path: node, Driver: verbs.DriverMLX5}).Open(); !errors.Is(err, unix.EINVAL) {
		t.Errorf("wrong driver: got error %v, want %v", err, unix.EINVAL)
	}
}

// labels returns the ibv_devinfo -v values by label. Lines below a label without
// a value are joined by commas.
func labels(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command("ibv_devinfo", "-v", "-d", device).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	last := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\n")
		if text, ok := strings.CutPrefix(line, "\t\t\t\t\t"); ok {
			all[last] = strings.TrimPrefix(all[last]+","+text, ",")
			continue
		}
		label, value, ok := strings.Cut(strings.TrimSpace(line), ":\t")
		if !ok {
			label = strings.TrimSuffix(strings.TrimSpace(line), ":")
		}
		if label == "" {
			continue
		}
		if label == "device_cap_flags" || label == "device_cap_flags_ex" {
			all[label+" value"] = strings.TrimSpace(value)
			last, all[label] = label, ""
			continue
		}
		if prev, ok := all[label]; ok && label == "supported_qp" {
			value = prev
		}
		last, all[label] = label, strings.TrimSpace(value)
	}
	return all
}

func list[T any](known []string, rest T) string { return strings.Join(known, ",") }

// orNone returns a transport's operation list.
func orNone(c verbs.ODPTransport) string {
	if c == 0 {
		return "NO SUPPORT"
	}
	return list(c.Names())
}

func TestGuestAgainstDevinfo(t *testing.T) {
	c := open(t)
	d, err := c.QueryDevice()
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.QueryPort(1)
	if err != nil {
		t.Fatal(err)
	}
	guid := func(v ib.GUID) string {
		return fmt.Sprintf("%04x:%04x:%04x:%04x", v>>48, v>>32&0xffff, v>>16&0xffff, v&0xffff)
	}
	n := func(v any) string { return fmt.Sprint(v) }
	enum := func(v any) string { return fmt.Sprintf("%v (%d)", v, v) }
	code := func(v any) string { return fmt.Sprintf("(%d)", v) } // ibv_devinfo has its own names
	got := map[string]string{
		"hca_id":                    c.Name(),
		"fw_ver":                    d.FW.String(),
		"node_guid":                 guid(d.NodeGUID),
		"sys_image_guid":            guid(d.SysImageGUID),
		"vendor_id":                 fmt.Sprintf("0x%04x", d.VendorID),
		"vendor_part_id":            n(d.VendorPartID),
		"hw_ver":                    fmt.Sprintf("0x%X", d.HWVersion),
		"phys_port_cnt":             n(d.PhysPortCount),
		"max_mr_size":               fmt.Sprintf("0x%x", d.MaxMRSize),
		"page_size_cap":             fmt.Sprintf("0x%x", d.PageSizeCap),
		"max_qp":                    n(d.MaxQP),
		"max_qp_wr":                 n(d.MaxQPWR),
		"device_cap_flags value":    fmt.Sprintf("0x%08x", uint32(d.Caps)),
		"device_cap_flags":          list(d.Caps.Names()),
		"max_sge":                   n(d.MaxSGE),
		"max_sge_rd":                n(d.MaxSGERd),
		"max_cq":                    n(d.MaxCQ),
		"max_cqe":                   n(d.MaxCQE),
		"max_mr":                    n(d.MaxMR),
		"max_pd":                    n(d.MaxPD),
		"max_qp_rd_atom":            n(d.MaxQPRdAtom),
		"max_ee_rd_atom":            n(d.MaxEERdAtom),
		"max_res_rd_atom":           n(d.MaxResRdAtom),
		"max_qp_init_rd_atom":       n(d.MaxQPInitRdAtom),
		"max_ee_init_rd_atom":       n(d.MaxEEInitRdAtom),
		"atomic_cap":                enum(d.AtomicCap),
		"max_ee":                    n(d.MaxEE),
		"max_rdd":                   n(d.MaxRDD),
		"max_mw":                    n(d.MaxMW),
		"max_raw_ipv6_qp":           n(d.MaxRawIPv6QP),
		"max_raw_ethy_qp":           n(d.MaxRawEthyQP),
		"max_mcast_grp":             n(d.MaxMcastGroup),
		"max_mcast_qp_attach":       n(d.MaxMcastQPAttach),
		"max_total_mcast_qp_attach": n(d.MaxTotalMcastQPAttach),
		"max_ah":                    n(d.MaxAH),
		"max_fmr":                   n(d.MaxFMR),
		"max_srq":                   n(d.MaxSRQ),
		"max_srq_wr":                n(d.MaxSRQWR),
		"max_srq_sge":               n(d.MaxSRQSGE),
		"max_pkeys":                 n(d.MaxPKeys),
		"local_ca_ack_delay":        n(d.LocalCAAckDelay),
		"general_odp_caps":          list(d.ODP.General.Names()),
		"rc_odp_caps":               orNone(d.ODP.RC),
		"uc_odp_caps":               orNone(d.ODP.UC),
		"ud_odp_caps":               orNone(d.ODP.UD),
		"xrc_odp_caps":              orNone(*d.XRCODP),
		"device_cap_flags_ex value": fmt.Sprintf("0x%X", uint64(*d.CapsEx)),
		"device_cap_flags_ex":       list(d.CapsEx.Names()),

		"max_rwq_indirection_tables":     n(d.RSS.MaxRWQIndirectionTables),
		"max_rwq_indirection_table_size": n(d.RSS.MaxRWQIndirectionTableSize),
		"max_wq_type_rq":                 n(*d.MaxWQTypeRQ),
		"num_comp_vectors":               n(c.CompVectors()),

		"port":            "1",
		"state":           code(p.State),
		"max_mtu":         enum(p.MaxMTU),
		"active_mtu":      enum(p.ActiveMTU),
		"sm_lid":          n(p.SMLID),
		"port_lid":        n(p.LID),
		"port_lmc":        fmt.Sprintf("0x%02x", p.LMC),
		"link_layer":      p.LinkLayer.String(),
		"max_msg_sz":      fmt.Sprintf("0x%x", p.MaxMsgSize),
		"port_cap_flags":  fmt.Sprintf("0x%08x", uint32(p.Caps)),
		"port_cap_flags2": fmt.Sprintf("0x%04x", p.Caps2),
		"max_vl_num":      code(p.MaxVL),
		"bad_pkey_cntr":   fmt.Sprintf("0x%x", p.BadPKeys),
		"qkey_viol_cntr":  fmt.Sprintf("0x%x", p.QKeyViols),
		"sm_sl":           n(p.SMSL),
		"pkey_tbl_len":    n(p.PKeyTableLen),
		"gid_tbl_len":     n(p.GIDTableLen),
		"subnet_timeout":  n(p.SubnetTimeout),
		"init_type_reply": n(p.InitTypeReply),
		"active_width":    enum(p.ActiveWidth),
		"active_speed":    code(p.ActiveSpeed),
		"phys_state":      code(p.PhysState),
	}
	want := labels(t)
	for label, value := range got {
		w, ok := want[label]
		if !ok {
			t.Errorf("%s: got %q, ibv_devinfo does not print it", label, value)
		} else if w != value && !(strings.HasPrefix(value, "(") && strings.HasSuffix(w, " "+value)) {
			t.Errorf("%s: got %q, ibv_devinfo prints %q", label, value, w)
		}
		delete(want, label)
	}

	// Compare the table's GIDs and the single entries.
	table, err := c.GIDTable()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range table {
		label := fmt.Sprintf("GID[%3d]", e.Index)
		text := e.GID.String()
		if e.Type != verbs.GIDTypeRoCEv2 {
			text = e.GID.StringExpanded()
		}
		if value := text + ", " + e.Type.String(); want[label] != value {
			t.Errorf("%s: got %q, ibv_devinfo prints %q", label, value, want[label])
		}
		delete(want, label)
		if one, err := c.GID(1, e.Index); err != nil || one != e {
			t.Errorf("GID %d: got %v, error %v, want %v as in the table", e.Index, one, err, e)
		}
		if name, err := os.ReadFile("/sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/" + fmt.Sprint(e.Index)); err != nil {
			t.Error(err)
		} else if index, err := os.ReadFile(filepath.Join("/sys/class/net", strings.TrimSpace(string(name)), "ifindex")); err != nil ||
			strings.TrimSpace(string(index)) != fmt.Sprint(e.Ifindex) {
			t.Errorf("GID %d: got network device %d, want %s as in sysfs", e.Index, e.Ifindex, index)
		}
	}
	if len(table) < 2 {
		t.Errorf("got %d GIDs, want at least 2", len(table))
	}

	// The remaining values are zero because the kernel does not report them, or have
	// no field.
	if d.TagMatching.MaxNumTags != 0 || *d.TimestampMask != 0 || *d.CoreClock != 0 || d.TSO != nil || d.PacketPacing != nil {
		t.Errorf("got capabilities that Soft-RoCE does not have: %+v", d)
	}
	for _, label := range []string{
		"transport", "completion_timestamp_mask not supported", "core clock not supported", "tag matching not supported",
		"tso_caps", "max_tso", "rss_caps", "rx_hash_function", "rx_hash_fields_mask", "packet_pacing_caps",
		"qp_rate_limit_min", "qp_rate_limit_max", "board_id",
	} {
		delete(want, label)
	}
	for label, value := range want {
		t.Errorf("%s: got no value, ibv_devinfo prints %q", label, value)
	}
}

func TestGuestErrors(t *testing.T) {
	c := open(t)
	if _, err := c.QueryPort(2); !errors.Is(err, unix.EINVAL) {
		t.Errorf("port 2: got error %v, want %v", err, unix.EINVAL)
	}
	if _, err := c.GID(1, 900); !errors.Is(err, unix.ENODATA) {
		t.Errorf("empty GID: got error %v, want %v", err, unix.ENODATA)
	}
	if _, err := c.GID(1, 1<<20); !errors.Is(err, unix.EINVAL) {
		t.Errorf("GID past the end of the table: got error %v, want %v", err, unix.EINVAL)
	}
	if _, err := c.PortSpeed(1); !errors.Is(err, verbs.ErrUnknownMethod) {
		t.Errorf("speed of a port: got error %v, want %v", err, verbs.ErrUnknownMethod)
	}
	if _, err := c.CompCounterCaps(); !errors.Is(err, verbs.ErrUnknownMethod) {
		t.Errorf("completion counters: got error %v, want %v", err, verbs.ErrUnknownMethod)
	}
	if h, err := c.Handles(uapi.ObjectPD); err != nil || len(h) != 0 {
		t.Errorf("got handles %v, error %v, want none", h, err)
	}
	if _, err := verbs.Open("none", "/dev/infiniband/uverbs9"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no node: got error %v, want %v", err, fs.ErrNotExist)
	}
	if _, err := verbs.Open("null", "/dev/null"); !errors.Is(err, verbs.ErrUnknownMethod) {
		t.Errorf("/dev/null: got error %v, want %v", err, verbs.ErrUnknownMethod)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.QueryPort(1); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: got error %v, want %v", err, fs.ErrClosed)
	}
}

func TestGuestMethods(t *testing.T) {
	c := open(t)
	methods, err := c.Methods()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range methods {
		known[m.Object+" "+m.Name] = m.Known
		t.Logf("%v %s %s", m.Known, m.Object, m.Name)
	}
	for name, want := range map[string]bool{
		"DEVICE GET_CONTEXT":      true,
		"DEVICE QUERY_GID_TABLE":  true,
		"DEVICE QUERY_PORT_SPEED": false,
		"QP QP_CREATE":            true,
		"MR REG_MR":               false,
		"WRITE POST_SEND":         true,
		"WRITE REG_MR":            true,
		"WRITE BIND_MW":           false,
		"WRITE EX_QUERY_DEVICE":   true,
	} {
		if known[name] != want {
			t.Errorf("%s: got %v, want %v", name, known[name], want)
		}
	}
	// Probing creates no objects.
	for kind := range verbs.ObjectKind(uapi.ObjectAsyncEvent + 1) {
		if h, err := c.Handles(kind); err == nil && len(h) != 0 {
			t.Errorf("%v: got handles %v, want none", kind, h)
		}
	}
}
