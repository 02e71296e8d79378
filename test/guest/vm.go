package guest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest/internal/wire"
)

// vm is a QEMU process.
type vm struct {
	agent net.Conn
	pid   int
	done  chan struct{} // closed when QEMU ends
	err   error         // QEMU's result; valid after done
}

// hardware has the parts of a vm.
type hardware struct {
	kernel   *Kernel
	initrd   *os.File   // agent file system
	disk     *os.File   // spec contents, read by the agent
	state    *os.File   // saved state of a vm with the same parts, from which this vm goes on, or nil
	monitor  *os.File   // for commands to QEMU, or nil
	wires    []*os.File // stream sockets to other guests
	host     int        // part of the network addresses at the wires' ends
	console  io.Writer
	terminal bool   // this process's terminal is the console
	capture  string // file for packets on the wire, or ""
	extra    []string
}

// qemu is the program to run.
const qemu = "qemu-system-x86_64"

// startVM starts QEMU, which ends with the context and with this process.
func startVM(ctx context.Context, h hardware) (*vm, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	defer ours.Close() // net.FileConn has its own
	agent, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}

	cmd := exec.CommandContext(ctx, qemu)
	var files descriptors
	cmd.Args = append(cmd.Args, h.args(theirs, &files)...)
	cmd.ExtraFiles = files
	cmd.Stdout, cmd.Stderr = h.console, h.console
	if h.terminal {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}

	v := &vm{agent: agent, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel sends the parent death signal when the thread that started the child
		// ends, so that thread must live as long as the child.
		runtime.LockOSThread()
		err := cmd.Start()
		if err == nil {
			v.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			v.err = cmd.Wait()
			close(v.done)
		}
	}()
	if err := <-started; err != nil {
		_ = agent.Close()
		return nil, fmt.Errorf("start %s: %w; make deps installs it", qemu, err)
	}
	return v, nil
}

// descriptors are the files that QEMU inherits.
type descriptors []*os.File

// add returns the number of a file in QEMU, see exec.Cmd.ExtraFiles.
func (d *descriptors) add(f *os.File) int {
	*d = append(*d, f)
	return 2 + len(*d)
}

// args returns QEMU's arguments and the files that they name. A guest restart, after a
// panic or when the agent ends, ends QEMU.
func (h hardware) args(agent *os.File, files *descriptors) []string {
	args := append(h.machine(files),
		"-chardev", "stdio,id=console,signal=off",
		"-chardev", fmt.Sprintf("socket,id=agent,fd=%d", files.add(agent)),
		"-drive", fmt.Sprintf("id=disk,if=none,format=raw,read-only=on,file=/proc/self/fd/%d", files.add(h.disk)))
	for rail, wire := range h.wires {
		args = append(args, "-netdev", fmt.Sprintf("socket,id=%s,fd=%d", wireName(rail), files.add(wire)))
		if rail == 0 && h.capture != "" {
			// A comma ends an option value.
			args = append(args, "-object", "filter-dump,id=capture,netdev=wire,file="+strings.ReplaceAll(h.capture, ",", ",,"))
		}
	}
	if h.state != nil {
		args = append(args, "-incoming", fmt.Sprintf("fd:%d", files.add(h.state)))
	}
	if h.monitor != nil {
		args = append(args, "-chardev", fmt.Sprintf("socket,id=monitor,fd=%d", files.add(h.monitor)), "-mon", "monitor")
	}
	return args
}

// machine returns the QEMU arguments that a vm's saved state depends on.
func (h hardware) machine(files *descriptors) []string {
	args := []string{
		"-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
		"-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1024",
		"-kernel", h.kernel.Image,
		"-initrd", fmt.Sprintf("/proc/self/fd/%d", files.add(h.initrd)),
		// On a loaded machine, the kernel's timer check can miss the emulated interrupts,
		// and the kernel panics. The kernel's TSC check fails too, although the emulated
		// processors share a counter; without it a program reads the clock without a
		// system call, as on a real machine.
		"-append", "console=ttyS0 loglevel=4 panic=-1 oops=panic reboot=t no_timer_check clocksource=tsc tsc=reliable mitigations=off",
		"-serial", "chardev:console",
		"-device", "virtio-serial-pci", "-device", "virtserialport,chardev=agent,name=" + wire.PortName,
		"-device", "virtio-blk-pci,drive=disk",
	}
	for rail := range h.wires {
		args = append(args, "-device", fmt.Sprintf("virtio-net-pci,netdev=%s,romfile=,mac=%s", wireName(rail), macAddress(rail, h.host)))
	}
	return append(args, h.extra...)
}

// wireName returns the name of a rail's wire in QEMU.
func wireName(rail int) string {
	if rail == 0 {
		return "wire"
	}
	return fmt.Sprintf("wire%d", rail)
}

// macAddress returns the network address of a guest on a rail.
func macAddress(rail, host int) string { return fmt.Sprintf("52:54:00:00:%02x:%02x", rail, host) }

// socketPair returns two joined stream sockets.
func socketPair() (a, b *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make socket pair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "socket"), os.NewFile(uintptr(fds[1]), "socket"), nil
}
