package pcie

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/testenv"
)

// host returns a sysfs with functions: their directories below devices, with the files'
// contents separated by commas, for example
// "pci0000:80/0000:80:01.1/0000:81:00.0 class=0x030200,vendor=0x10de".
func host(t *testing.T, functions ...string) sysfs.FS {
	t.Helper()
	files := map[string]string{}
	for _, f := range functions {
		dir, attributes, _ := strings.Cut(f, " ")
		files["devices/"+dir+"/device"] = "0x0000"
		for a := range strings.SplitSeq(attributes, ",") {
			name, value, _ := strings.Cut(a, "=")
			files["devices/"+dir+"/"+name] = value
		}
		files["bus/pci/devices/"+path.Base(dir)+" -> ../../../devices/"+dir] = ""
	}
	return sysfs.FS(testenv.WriteTree(t, files))
}

const (
	bridge = " class=0x060400,vendor=0x1000"
	gpu    = " class=0x030200,vendor=0x10de"
	nic    = " class=0x020700,vendor=0x15b3"
)

// TestBetween has the positions that nvidia-smi topo -m distinguishes. The first host is part of
// a DGX A100 (github.com/NVIDIA/nccl, issue 1505; its matrix has PXB for GPU0 and mlx5_0).
func TestBetween(t *testing.T) {
	const (
		root    = "pci0000:00/0000:00:01.1"
		top     = root + "/0000:01:00.0"                    // upstream port of a switch
		left    = top + "/0000:02:00.0/0000:03:00.0"        // upstream port of a switch below it
		right   = top + "/0000:02:04.0/0000:0a:00.0"        // and of its neighbour
		gpu0    = left + "/0000:04:00.0/0000:07:00.0"       // below a downstream port
		gpu1    = left + "/0000:04:10.0/0000:0f:00.0"       // the same switch
		mlx0    = right + "/0000:0b:00.0/0000:0c:00.0"      // another switch
		mlx1    = left + "/0000:04:14.0/0000:10:00.0"       // the switch of the GPUs
		mlx1f1  = left + "/0000:04:14.0/0000:10:00.1"       // its second function
		mlx2    = "pci0000:00/0000:00:03.1/0000:21:00.0"    // another root port
		mlx3    = "pci0000:40/0000:40:01.1/0000:41:00.0"    // another host bridge
		mlx4    = "pci0000:80/0000:80:01.1/0000:81:00.0"    // another NUMA node
		mlx5    = "pci10000:00/10000:00:01.1/10000:01:00.0" // another domain, no NUMA node
		node0   = ",numa_node=0"
		node1   = ",numa_node=1"
		bridges = 12
	)
	fs := host(t,
		root+bridge, top+bridge, path.Dir(left)+bridge, left+bridge, path.Dir(right)+bridge, right+bridge,
		path.Dir(gpu0)+bridge, path.Dir(gpu1)+bridge, path.Dir(mlx0)+bridge, path.Dir(mlx1)+bridge, path.Dir(mlx2)+bridge, path.Dir(mlx3)+bridge,
		gpu0+gpu+node0, gpu1+gpu+node0, mlx0+nic+node0, mlx1+nic+node0, mlx1f1+nic+node0, mlx2+nic+node0, mlx3+nic+node0, mlx4+nic+node1, mlx5+nic,
		"pci0000:00/0000:00:02.0 class=0x030000,vendor=0x8086",                                                // graphics of the processor
		"pci0000:00/0000:00:1d.0"+bridge, "pci0000:00/0000:00:1d.0/0000:05:00.0 class=0x030000,vendor=0x1a03", // of a BMC
	)
	var problems []error
	tree := Read(fs, &problems)
	if len(problems) > 0 {
		t.Errorf("got problems %v, want none", problems)
	}
	find := func(p string) *Function {
		f := tree.Find(path.Base(p))
		if f == nil {
			t.Fatalf("%s not found", p)
		}
		return f
	}
	var gpus []string
	for _, f := range tree.GPUs() {
		gpus = append(gpus, f.Address)
	}
	if want := []string{"0000:07:00.0", "0000:0f:00.0"}; !slices.Equal(gpus, want) {
		t.Errorf("got GPUs %v, want %v", gpus, want)
	}
	count := 0
	for _, f := range tree.Functions {
		if f.Class>>8 == 0x0604 {
			count++
		}
	}
	if want := bridges + 1; count != want {
		t.Errorf("got %d bridges, want %d", count, want)
	}
	for _, test := range []struct {
		a, b string
		want Distance
	}{
		{gpu0, gpu1, PIX},
		{gpu0, mlx1, PIX},
		{mlx1, mlx1f1, PIX},
		{gpu0, mlx0, PXB},
		{gpu0, mlx2, PHB},
		{gpu0, mlx3, Node},
		{gpu0, mlx4, SYS},
		{gpu0, mlx5, SYS},
	} {
		t.Run(path.Base(test.a)+" "+path.Base(test.b), func(t *testing.T) {
			a, b := find(test.a), find(test.b)
			if got := Between(a, b); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if got := Between(b, a); got != test.want {
				t.Errorf("reverse: got %s, want %s", got, test.want)
			}
		})
	}
	var between []string
	for _, b := range PathBetween(find(gpu0), find(mlx0)) {
		between = append(between, b.Address)
	}
	want := []string{"0000:02:00.0", "0000:03:00.0", "0000:04:00.0", "0000:02:04.0", "0000:0a:00.0", "0000:0b:00.0"}
	if !slices.Equal(between, want) {
		t.Errorf("got path %v, want %v", between, want)
	}
}

// TestRead_damaged reads functions with files that cannot be parsed beside a good function.
func TestRead_damaged(t *testing.T) {
	fs := host(t, "pci0000:00/0000:00:01.0 class=bridge,vendor=0x12345", "pci0000:00/0000:00:02.0"+nic, "pci0000:00/0000:00:03.0 numa_node=x")
	var problems []error
	tree := Read(fs, &problems)
	if len(tree.Functions) != 3 || len(problems) != 3 {
		t.Errorf("got %d functions, problems %v, want 3 of each", len(tree.Functions), problems)
	}
	if f := tree.Find("0000:00:02.0"); f == nil || f.Vendor != 0x15b3 {
		t.Errorf("got %+v, want vendor 15b3", f)
	}
	if tree := Read(sysfs.FS(t.TempDir()), &problems); len(tree.Functions) > 0 || len(problems) != 3 {
		t.Errorf("no bus: got %d functions, problems %v", len(tree.Functions), problems)
	}
}

func TestLink_Below(t *testing.T) {
	gen4, gen3, odd := "16.0 GT/s PCIe", "8.0 GT/s PCIe", "Unknown"
	full := Link{new(16), new(16), &gen4, &gen4}
	for name, test := range map[string]struct {
		link, other Link
		want        string
	}{
		"full":              {full, full, ""},
		"narrow":            {Link{new(8), new(16), &gen4, &gen4}, full, "x8 of x16"},
		"slow":              {Link{new(16), new(16), &gen3, &gen4}, full, "8.0 of 16.0 GT/s"},
		"both":              {Link{new(4), new(16), &gen3, &gen4}, full, "x4 of x16, 8.0 of 16.0 GT/s"},
		"narrow slot":       {Link{new(8), new(16), &gen4, &gen4}, Link{new(8), new(8), &gen4, &gen4}, ""},
		"slow slot":         {Link{new(16), new(16), &gen3, &gen4}, Link{new(16), new(16), &gen3, &gen3}, ""},
		"unknown":           {Link{nil, new(16), &odd, &gen4}, full, ""},
		"virtual function":  {Link{new(0), new(0), &odd, &odd}, full, ""},
		"other end unknown": {Link{new(8), new(16), &gen4, &gen4}, Link{}, "x8 of x16"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(test.link.BelowMaximum(test.other), ", "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// config returns a configuration space with bytes at offsets.
func config(size int, at map[int]string) []byte {
	b := make([]byte, size)
	for _, offset := range slices.Sorted(maps.Keys(at)) {
		copy(b[offset:], at[offset])
	}
	return b
}

func TestParseConfig(t *testing.T) {
	whole := config(configSize, map[int]string{
		0x06: "\x10", 0x34: "\x40",
		0x40:  "\x01\x50\x03\x00",                                            // power management, next 0x50
		0x50:  "\x10\x00\x62\x00\x02\x80\x00\x00\x30\x29",                    // downstream port; MaxPayload 256 of 512, MaxReadReq 512, RlxdOrd+
		0x100: "\x01\x00\x02\x20", 0x200: "\x0d\x00\x01\x30\x00\x00\x1d\x00", // AER; ACS: SrcValid ReqRedir CmpltRedir UpstreamFwd
		0x300: "\x0f\x00\x01\x00\x00\x00\x00\x80", // ATS enabled
	})
	c := ParseConfig(whole)
	if c.Restricted || *c.PortType != DownstreamPort || *c.MaxPayload != 256 || *c.MaxReadRequest != 512 || !*c.RelaxedOrdering {
		t.Errorf("got %+v, want a downstream port with MaxPayload 256 and MaxReadReq 512", c)
	}
	if want := (ACS{true, true}); *c.ACS != want || !c.ACS.Redirects() || !*c.ATS {
		t.Errorf("got ACS %+v, ATS %v, want %+v and true", c.ACS, *c.ATS, want)
	}
	if c := ParseConfig(whole[:64]); !c.Restricted || c.PortType != nil || c.ACS.Redirects() {
		t.Errorf("header: got %+v, want a restricted space without capabilities", c)
	}
	if c := ParseConfig(whole[:256]); c.Restricted || c.PortType == nil || c.ACS != nil {
		t.Errorf("256 bytes: got %+v, want capabilities without extended ones", c)
	}
	for name, b := range map[string][]byte{
		"empty":         {},
		"all ones":      slices.Repeat([]byte{0xff}, configSize),
		"loop":          config(configSize, map[int]string{0x06: "\x10", 0x34: "\x40", 0x40: "\x01\x40", 0x100: "\x01\x00\x01\x10"}),
		"list past end": config(configSize, map[int]string{0x06: "\x10", 0x34: "\xfc", 0xfc: "\x01\xff", 0x100: "\x01\x00\xc1\xff"}),
		"cut":           whole[:0x53],
	} {
		t.Run(name, func(t *testing.T) {
			if c := ParseConfig(b); c.PortType != nil || c.ACS != nil || c.ATS != nil {
				t.Errorf("got %+v, want no capability", c)
			}
		})
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add(config(256, map[int]string{0x06: "\x10", 0x34: "\x40", 0x40: "\x10\x00\x62\x00"}))
	f.Fuzz(func(_ *testing.T, b []byte) { ParseConfig(b) })
}

// Published hosts: the PCI tree that lspci -t or NCCL printed, and the distance that nvidia-smi
// topo -m printed on the same host.
func TestBetween_Published(t *testing.T) {
	const node0, node3 = ",numa_node=0", ",numa_node=3"
	for _, test := range []struct {
		source string
		a, b   string // with the bridges above them
		class  string // and vendor of b
		node   string
		want   Distance
	}{
		{ // DGX A100: GPU0 and mlx5_0; NCCL omits downstream ports
			"github.com/NVIDIA/nccl issue 1505",
			"pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:00.0/0000:03:00.0/0000:04:00.0/0000:07:00.0",
			"pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:04.0/0000:0a:00.0/0000:0b:00.0/0000:0c:00.0", nic, node3, PXB,
		},
		{ // DGX A100: GPU1 and mlx5_0, both below 0000:0a:00.0
			"github.com/NVIDIA/nccl issue 1505",
			"pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:04.0/0000:0a:00.0/0000:0b:04.0/0000:0d:00.0/0000:0e:00.0/0000:0f:00.0",
			"pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:04.0/0000:0a:00.0/0000:0b:00.0/0000:0c:00.0", nic, node3, PXB,
		},
		{ // Threadripper Pro: two GPUs below root ports of a host bridge
			"github.com/noonghunna/club-3090 issue 1229",
			"pci0000:00/0000:00:01.1/0000:01:00.0", "pci0000:00/0000:00:03.1/0000:02:00.0", gpu, node0, PHB,
		},
		{ // EPYC: two GPUs below different host bridges of a NUMA node
			"github.com/noonghunna/club-3090 issue 1125",
			"pci0000:80/0000:80:01.1/0000:81:00.0", "pci0000:c0/0000:c0:01.1/0000:c1:00.0", gpu, node0, Node,
		},
	} {
		t.Run(test.source+" "+path.Base(test.a), func(t *testing.T) {
			functions := []string{test.a + gpu + test.node, test.b + test.class + test.node}
			seen := map[string]bool{}
			for _, f := range []string{test.a, test.b} {
				for dir := path.Dir(f); path.Dir(dir) != "." && !seen[dir]; dir = path.Dir(dir) {
					seen[dir] = true
					functions = append(functions, dir+bridge)
				}
			}
			var problems []error
			tree := Read(host(t, functions...), &problems)
			if got := Between(tree.Find(path.Base(test.a)), tree.Find(path.Base(test.b))); got != test.want || len(problems) > 0 {
				t.Errorf("got %s, problems %v, want %s", got, problems, test.want)
			}
		})
	}
}
