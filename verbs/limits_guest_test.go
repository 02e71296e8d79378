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

// limited checks that an error says what is used up, and that the message has
// words in it.
func limited(t *testing.T, err error, what string, words ...string) {
	t.Helper()
	var limit *verbs.LimitError
	if !errors.As(err, &limit) || limit.Resource != what {
		t.Errorf("%s: %v", what, err)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: no %q in %v", what, word, err)
		}
	}
	t.Log(err)
}

// What a device cannot have is said with what it can.
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
	for what, limit := range map[string]verbs.QPCap{
		"send work requests of a QP":    {MaxSendWR: d.MaxQPWR + 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
		"receive work requests of a QP": {MaxSendWR: 1, MaxRecvWR: d.MaxQPWR + 1, MaxSendSGE: 1, MaxRecvSGE: 1},
		"SGEs of a send":                {MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: d.MaxSGE + 1, MaxRecvSGE: 1},
		"SGEs of a receive":             {MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: d.MaxSGE + 1},
	} {
		_, err := pd.CreateQP(verbs.QPInit{Type: verbs.QPTypeRC, SendCQ: cq, RecvCQ: cq, Cap: limit})
		limited(t, err, what, fmt.Sprint(limit.MaxSendWR+limit.MaxRecvWR+limit.MaxSendSGE+limit.MaxRecvSGE-3-1))
	}
	for _, n := range []int{-1, 0} {
		if _, err := c.CreateCQ(verbs.CQInit{Entries: n}); !errors.Is(err, unix.EINVAL) {
			t.Errorf("CQ of %d entries: %v", n, err)
		}
		if _, err := c.NewMemory(n, false); !errors.Is(err, unix.EINVAL) {
			t.Errorf("%d bytes of memory: %v", n, err)
		}
	}
	if _, err := c.NewMemory(1<<62, false); !errors.Is(err, unix.ENOMEM) {
		t.Errorf("too much memory: %v", err)
	} else {
		t.Log(err)
	}
	if _, err := pd.CreateQP(verbs.QPInit{Type: verbs.QPTypeRawPacket, SendCQ: cq, RecvCQ: cq}); !errors.Is(err, verbs.ErrUnsupported) {
		t.Errorf("raw packets: %v", err)
	}
	// The driver does no dma-bufs, whatever the file.
	if _, err := pd.RegisterDMABuf(0, 0, 4096, 0, verbs.AccessLocalWrite); !errors.Is(err, verbs.ErrUnknownMethod) && !errors.Is(err, verbs.ErrUnsupported) {
		t.Errorf("dma-buf: %v", err)
	} else {
		t.Log(err)
	}
}

// again runs a test of this binary in a process of its own, and wants it to pass.
func again(t *testing.T, test string, change func(*exec.Cmd)) {
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

// lockable is the environment variable with the limit of locked memory, in bytes.
const lockable = "TEST_MEMLOCK"

// TestMemoryLimited is for a user who may lock little memory.
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
	memory := must(c.NewMemory(memorySize, false))(t)
	_, err := pd.RegisterMR(memory, verbs.AccessLocalWrite)
	limited(t, err, "locked memory", fmt.Sprintf("the limit is %d KiB", limit/1024), "1024", "ulimit -l", "--ulimit memlock=-1")
	// What failed does not hold the memory.
	if err := memory.Close(); err != nil {
		t.Error(err)
	}
}

func TestGuestMemoryLimit(t *testing.T) {
	for _, limit := range []string{"65536", "0"} {
		again(t, "TestMemoryLimited", func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, lockable+"="+limit)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		})
	}
}

// TestGroupLimited is for a process whose control group may have 6 objects.
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
		t.Errorf("%d QPs", made)
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
	// A group that goes while it has limits of a device leaves a dangling pointer to
	// itself in Linux 6.1, which it stumbles over when the device goes.
	defer write(filepath.Join(group, "rdma.max"), device+" hca_handle=max hca_object=max")
	dir, err := os.Open(group)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	again(t, "TestGroupLimited", func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}
	})
}
