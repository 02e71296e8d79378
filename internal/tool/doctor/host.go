package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

// A host is the host to check.
type host struct {
	root    string
	live    bool // the host runs this process; its kernel can be queried
	timeout time.Duration
	selects func(check string) bool // whether a check runs; nil if all run

	devices *devinfo.Result
	user    user

	// reported contains the problems that prerequisite has returned.
	reported map[string]bool

	queries roce.Host
	window  time.Duration // of RoCE counters; 0: not read
}

// path returns the path for a file that is named relative to the root.
func (h *host) path(name string) string { return filepath.Join(h.root, name) }

func (h *host) sysfs() sysfs.FS { return sysfs.FS(h.path("sys")) }

// text returns a file's contents without leading and trailing white space.
func (h *host) text(name string) (string, error) {
	b, err := os.ReadFile(h.path(name))
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}

func (h *host) exists(name string) bool {
	_, err := os.Stat(h.path(name))
	return err == nil
}

// names returns a directory's entry names; nil if it cannot be read.
func (h *host) names(dir string) []string {
	entries, err := os.ReadDir(h.path(dir))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// link returns the last element in a symbolic link's target; "" if the name is not a link.
func (h *host) link(name string) string {
	target, err := os.Readlink(h.path(name))
	if err != nil {
		return ""
	}
	return filepath.Base(target)
}

// isContainer reports whether the process runs in a container. It checks the marker files
// from Docker, Podman, systemd-nspawn and Kubernetes, and the environment variable that LXC
// sets.
func (h *host) isContainer() bool {
	if h.exists(".dockerenv") || h.exists("run/.containerenv") || h.exists("run/systemd/container") ||
		h.exists("run/secrets/kubernetes.io") || h.exists("var/run/secrets/kubernetes.io") {
		return true
	}
	environ, err := h.text("proc/1/environ")
	return err == nil && slices.ContainsFunc(strings.Split(environ, "\x00"), func(v string) bool {
		return strings.HasPrefix(v, "container=")
	})
}

// ports yields all ports on all devices.
func (h *host) ports() iter.Seq2[*devinfo.Device, *devinfo.Port] {
	return func(yield func(*devinfo.Device, *devinfo.Port) bool) {
		for _, d := range h.devices.Devices {
			for _, p := range d.Ports {
				if !yield(d, p) {
					return
				}
			}
		}
	}
}

// roce yields the active RoCE ports.
func (h *host) roce() iter.Seq2[*devinfo.Device, *devinfo.Port] { return h.active(roce.IsRoCE) }

// active yields the active ports that match.
func (h *host) active(match func(*devinfo.Device, *devinfo.Port) bool) iter.Seq2[*devinfo.Device, *devinfo.Port] {
	return func(yield func(*devinfo.Device, *devinfo.Port) bool) {
		for d, p := range h.ports() {
			if match(d, p) && p.Active() && !yield(d, p) {
				return
			}
		}
	}
}

func isInfiniBand(_ *devinfo.Device, p *devinfo.Port) bool {
	return p.LinkLayer != nil && *p.LinkLayer == "InfiniBand"
}

// finding returns devinfo's finding with the given kind; nil without such a finding.
func (h *host) finding(kind report.Kind, subject string) *report.Finding {
	for _, f := range h.devices.Findings {
		if f.Kind == kind && f.Subject == subject {
			return &f
		}
	}
	return nil
}

// portName returns a port's name, for example "mlx5_0/1".
func portName(d *devinfo.Device, p *devinfo.Port) string {
	return devinfo.PortName(d.Name, p.Number)
}

// good returns an item without a problem.
func good(subject, format string, args ...any) Item {
	return Item{Subject: subject, Verdict: OK, Found: fmt.Sprintf(format, args...)}
}

// skipped returns the result for a check that does not apply to the host.
func skipped(reason string) []Item { return []Item{{Verdict: Skipped, Found: reason}} }

// prerequisite returns the item for a check that cannot run due to a problem that another
// check reports. If the other check runs too, or an earlier check has already reported the
// problem, the item is only Skipped.
func (h *host) prerequisite(check string, problem Item) Item {
	if h.selects == nil || h.selects(check) || h.reported[problem.Found] {
		return Item{Verdict: Skipped, Found: problem.Found}
	}
	if h.reported == nil {
		h.reported = map[string]bool{}
	}
	h.reported[problem.Found] = true
	return problem
}

// noDevice returns the item for a device check on a host without a device.
func (h *host) noDevice() Item {
	return h.prerequisite("devices", Item{
		Verdict: Error, Found: noDevice, Why: whyNoDevice,
		Hint: "to find the cause, run: ibkit doctor --only modules,devices",
	})
}

// noActivePort returns the result for an active port check on a host without such an active
// port.
func (h *host) noActivePort(kind string, match func(*devinfo.Device, *devinfo.Port) bool) []Item {
	for d, p := range h.ports() {
		if match(d, p) {
			return []Item{h.prerequisite("ports", Item{Verdict: Error, Found: "no active " + kind, Why: whyDown, Hint: hintCable})}
		}
	}
	return skipped("no " + kind)
}

// unreadable returns an item for a check that failed to read a file.
func unreadable(subject string, err error) Item {
	i := Item{Subject: subject, Verdict: Unknown, Found: err.Error()}
	switch {
	case errors.Is(err, fs.ErrPermission):
		i.Hint = "run as root"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		i.Hint = "check that /proc and /sys are mounted and not hidden from this container"
	}
	return i
}

// Result and hint for checks that cannot run on another host's files.
const (
	notLive    = "requires the running kernel of the host"
	hintOnHost = "run ibkit doctor on the host itself"
)

// sysctl returns the commands that set a kernel parameter now and permanently.
func sysctl(name, value string) (fix, persist []string) {
	return []string{fmt.Sprintf("sysctl -w %s=%s", name, value)},
		[]string{fmt.Sprintf("echo '%s = %s' >>/etc/sysctl.d/60-rdma.conf", name, value)}
}

// bootParameter returns the commands that add a parameter to the kernel command line with
// the distribution's tool; nil if the tool is unknown.
func (h *host) bootParameter(parameter string) []string {
	switch {
	case h.exists("usr/sbin/grubby"):
		return []string{"grubby --update-kernel=ALL --args=" + textfile.ShellWord(parameter)}
	case h.exists("usr/sbin/update-grub"):
		return []string{
			fmt.Sprintf(`sed -i 's/^GRUB_CMDLINE_LINUX="/&%s /' /etc/default/grub`, parameter),
			"update-grub",
		}
	}
	return nil
}
