//go:build inguest

package verbs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/verbs"
)

// limited checks that an error is a LimitError for a resource, and that its text
// contains words.
func limited(t *testing.T, err error, resource string, words ...string) {
	t.Helper()
	var limit *verbs.LimitError
	if !errors.As(err, &limit) || limit.Resource != resource {
		t.Errorf("got error %v, want a LimitError of %s", err, resource)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: got error %v, want %q in it", resource, err, word)
		}
	}
	t.Log(err)
}

// The error for a request that exceeds a limit contains the limit.
func TestGuestDeviceLimits(t *testing.T) {
	c := open(t)
	d := must(c.QueryDevice())(t)
	pd := must(c.AllocPD())(t)
	cq := must(c.CreateCQ(verbs.CQInit{Entries: 8}))(t)
	_, err := c.CreateCQ(verbs.CQInit{Entries: int(d.MaxCQE) + 1})
	limited(t, err, "entries of a CQ", fmt.Sprint(d.MaxCQE))
	_, err = pd.CreateSRQ(verbs.SRQInit{MaxWR: d.MaxSRQWR + 1, MaxSGE: 1})
	limited(t, err, "work requests of an SRQ", fmt.Sprint(d.MaxSRQWR))
	_, err = pd.CreateSRQ(verbs.SRQInit{MaxWR: 1, MaxSGE: d.MaxSRQSGE + 1})
	limited(t, err, "SGEs of an SRQ", fmt.Sprint(d.MaxSRQSGE))
	for resource, limit := range map[string]verbs.QPCap{
		"send work requests of a QP":    {MaxSendWR: d.MaxQPWR + 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
		"receive work requests of a QP": {MaxSendWR: 1, MaxRecvWR: d.MaxQPWR + 1, MaxSendSGE: 1, MaxRecvSGE: 1},
		"SGEs of a send":                {MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: d.MaxSGE + 1, MaxRecvSGE: 1},
		"SGEs of a receive":             {MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: d.MaxSGE + 1},
	} {
		_, err := pd.CreateQP(verbs.QPInit{Type: verbs.QPTypeRC, SendCQ: cq, RecvCQ: cq, Cap: limit})
		limited(t, err, resource, fmt.Sprint(limit.MaxSendWR+limit.MaxRecvWR+limit.MaxSendSGE+limit.MaxRecvSGE-3-1))
	}
	for _, n := range []int{-1, 0} {
		if _, err := c.CreateCQ(verbs.CQInit{Entries: n}); !errors.Is(err, unix.EINVAL) {
			t.Errorf("CQ of %d entries: got error %v, want %v", n, err, unix.EINVAL)
		}
		if _, err := c.NewMemory(n, verbs.MemoryOptions{}); !errors.Is(err, unix.EINVAL) {
			t.Errorf("%d bytes of memory: got error %v, want %v", n, err, unix.EINVAL)
		}
	}
	if _, err := c.NewMemory(1<<62, verbs.MemoryOptions{}); !errors.Is(err, unix.ENOMEM) {
		t.Errorf("too much memory: got error %v, want %v", err, unix.ENOMEM)
	} else {
		t.Log(err)
	}
	if _, err := pd.CreateQP(verbs.QPInit{Type: verbs.QPTypeRawPacket, SendCQ: cq, RecvCQ: cq}); !errors.Is(err, verbs.ErrUnsupported) {
		t.Errorf("raw packet QP: got error %v, want %v", err, verbs.ErrUnsupported)
	}
	// The driver supports no dma-buf, whatever the file is.
	if _, err := pd.RegisterDMABuf(0, 0, 4096, 0, verbs.AccessLocalWrite); !errors.Is(err, verbs.ErrUnknownMethod) && !errors.Is(err, verbs.ErrUnsupported) {
		t.Errorf("dma-buf: got error %v, want %v or %v", err, verbs.ErrUnknownMethod, verbs.ErrUnsupported)
	} else {
		t.Log(err)
	}
}

// runAlone runs a test from this binary in another process and expects it to pass.
func runAlone(t *testing.T, test string, change func(*exec.Cmd)) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.run=^"+test+"$")
	cmd.Dir, cmd.Env = "/", os.Environ()
	change(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+test) {
		t.Errorf("%v: %s", err, out)
	}
	t.Logf("%s", out)
}

// lockable is the environment variable with the locked memory limit, in bytes.
const lockable = "TEST_MEMLOCK"

// TestMemoryLimited runs as a user with a low locked memory limit.
func TestMemoryLimited(t *testing.T) {
	var limit uint64
	if _, err := fmt.Sscan(os.Getenv(lockable), &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
	c := open(t)
	pd := must(c.AllocPD())(t)
	memory := must(c.NewMemory(memorySize, verbs.MemoryOptions{}))(t)
	_, err := pd.RegisterMR(memory, verbs.AccessLocalWrite)
	limited(t, err, "locked memory", fmt.Sprintf("the limit is %d KiB", limit/1024), "1024")
	// The failed registration does not hold the memory.
	if err := memory.Close(); err != nil {
		t.Error(err)
	}
}

func TestGuestMemoryLimit(t *testing.T) {
	for _, limit := range []string{"65536", "0"} {
		runAlone(t, "TestMemoryLimited", func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, lockable+"="+limit)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		})
	}
}

// TestGroupLimited runs in a control group limited to 6 objects.
func TestGroupLimited(t *testing.T) {
	c := open(t)
	pd := must(c.AllocPD())(t)
	cq := must(c.CreateCQ(verbs.CQInit{Entries: 8}))(t)
	var err error
	made := 0
	for ; err == nil && made < 10; made++ {
		_, err = pd.CreateQP(verbs.QPInit{
			Type: verbs.QPTypeRC, SendCQ: cq, RecvCQ: cq, Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
		})
	}
	if made != 5 {
		t.Errorf("got %d QPs, want 4 and a failure", made-1)
	}
	limited(t, err, "QPs", "rdma.max")
	_, err = c.AllocPD()
	limited(t, err, "PDs", "rdma.max")
	_, err = verbs.Open(device, node)
	limited(t, err, "contexts", "rdma.max")
}

func TestGuestGroupLimit(t *testing.T) {
	const root = "/sys/fs/cgroup"
	if err := unix.Mount("none", root, "cgroup2", 0, ""); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(root, 0)
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	group := filepath.Join(root, "few")
	write(filepath.Join(root, "cgroup.subtree_control"), "+rdma")
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(group)
	write(filepath.Join(group, "rdma.max"), device+" hca_handle=1 hca_object=6")
	// Linux 6.1 keeps a dangling pointer to a group that is removed while it has
	// device limits, and uses it when the device is removed.
	defer write(filepath.Join(group, "rdma.max"), device+" hca_handle=max hca_object=max")
	dir, err := os.Open(group)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	runAlone(t, "TestGroupLimited", func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}
	})
}
