package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

// mounts are the file systems that programs count on, in order.
var mounts = []struct{ kind, dir string }{
	{"proc", "/proc"},
	{"sysfs", "/sys"},
	{"devtmpfs", "/dev"},
	{"devpts", "/dev/pts"},
	{"tmpfs", "/dev/shm"},
	{"debugfs", "/sys/kernel/debug"},
}

// modules names the modules to load, including the modules for the port to the runner.
const modules = "/etc/modules"

// prepare makes the system usable: file systems, environment, modules.
func prepare() error {
	for _, m := range mounts {
		if err := os.MkdirAll(m.dir, 0o755); err != nil {
			return fmt.Errorf("make mount point: %w", err)
		}
		if err := unix.Mount(m.kind, m.dir, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s on %s: %w", m.kind, m.dir, err)
		}
	}
	for name, value := range map[string]string{
		"PATH": "/usr/sbin:/usr/bin:/usr/lib/busybox",
		"HOME": "/root",
		"TERM": "linux",
	} {
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	names, err := os.ReadFile(modules)
	if err != nil {
		return err
	}
	args := append([]string{"-a"}, strings.Fields(string(names))...)
	if out, err := exec.Command("modprobe", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("load modules: %w: %s", err, out)
	}
	return tellClock()
}

// tellClock adds the clock rate to /proc/cpuinfo, which lacks it on an emulated processor.
// perftest tools convert cycles to time with it, and refuse to report without. QEMU's
// emulated cycle counter counts nanoseconds.
func tellClock() error {
	const info, with = "/proc/cpuinfo", "/run/cpuinfo"
	text, err := os.ReadFile(info)
	if err != nil {
		return err
	}
	if bytes.Contains(text, []byte("cpu MHz")) {
		return nil
	}
	line := []byte("cpu family")
	text = bytes.ReplaceAll(text, line, append([]byte("cpu MHz\t\t: 1000.000\n"), line...))
	if err := os.WriteFile(with, text, 0o444); err != nil {
		return err
	}
	if err := unix.Mount(with, info, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s on %s: %w", with, info, err)
	}
	return nil
}
