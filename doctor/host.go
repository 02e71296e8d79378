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
	"github.com/ibkit/ibkit/internal/dcbnl"
	"github.com/ibkit/ibkit/internal/sysfs"
)

// A host is what is looked at.
type host struct {
	root    string
	live    bool // this machine's kernel, not a copy of its files
	timeout time.Duration

	devices *devinfo.Result
	user    user

	// bridging asks what a network device does about priorities; nil: nobody
	// can be asked.
	bridging func(netdev string) (dcbnl.Bridging, error)
}

// path returns where a file is. Its name is one below the root.
func (h *host) path(name string) string { return filepath.Join(h.root, name) }

func (h *host) sysfs() sysfs.FS { return sysfs.FS(h.path("sys")) }

// text reads a file without blanks around.
func (h *host) text(name string) (string, error) {
	b, err := os.ReadFile(h.path(name))
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}

// exists tells whether there is something of a name.
func (h *host) exists(name string) bool {
	_, err := os.Stat(h.path(name))
	return err == nil
}

// names returns the names in a folder; none where it is not there or closed.
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

// link returns the last part of what a symbolic link points to; "": there is
// none.
func (h *host) link(name string) string {
	target, err := os.Readlink(h.path(name))
	if err != nil {
		return ""
	}
	return filepath.Base(target)
}

// isContainer tells whether the process runs in a container, by what those that
// run them leave there: Docker, Podman, systemd-nspawn, LXC, Kubernetes.
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

// ports yields all ports of all devices.
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

// roce yields the ports that RoCE runs over now.
func (h *host) roce() iter.Seq2[*devinfo.Device, *devinfo.Port] {
	return func(yield func(*devinfo.Device, *devinfo.Port) bool) {
		for d, p := range h.ports() {
			if p.Ethernet() && p.Active() && !isIWARP(d) && !yield(d, p) {
				return
			}
		}
	}
}

// isIWARP tells whether a device is one of iWARP, as its node type says.
func isIWARP(d *devinfo.Device) bool { return d.NodeType != nil && *d.NodeType == 4 }

// finding returns what devinfo found wrong of a kind; nil: nothing.
func (h *host) finding(kind, device string, port int) *devinfo.Finding {
	for _, f := range h.devices.Findings {
		if f.Kind == kind && f.Device == device && f.Port == port {
			return &f
		}
	}
	return nil
}

// portName is how a port is called: "mlx5_0/1".
func portName(d *devinfo.Device, p *devinfo.Port) string {
	return fmt.Sprintf("%s/%d", d.Name, p.Number)
}

// good is an item that all is well with.
func good(subject, format string, args ...any) Item {
	return Item{Subject: subject, Verdict: OK, Found: fmt.Sprintf(format, args...)}
}

// nothing is that of a check which has nothing to look at.
func nothing(what string) []Item { return []Item{good("", "%s", what)} }

// unread is an item that could not be looked at.
func unread(subject string, err error) Item {
	i := Item{Subject: subject, Verdict: Unknown, Found: err.Error()}
	switch {
	case errors.Is(err, fs.ErrPermission):
		i.Advice = "run as root"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		i.Advice = "is /proc or /sys not mounted, or hidden from this container?"
	}
	return i
}

// onHost is advice for what files do not tell.
const onHost = "run it on the host itself"

// quote makes one word of a text for a shell, as it is where it is one.
func quote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@,", r)
	}
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// sysctl returns the commands that set a value of /proc/sys now and for good.
func sysctl(name, value string) (mend, keep []string) {
	return []string{fmt.Sprintf("sysctl -w %s=%s", name, value)},
		[]string{fmt.Sprintf("echo '%s = %s' >>/etc/sysctl.d/60-rdma.conf", name, value)}
}

// bootParameter returns the commands that add a parameter to the kernel's command
// line, by the tool that this distribution has; none where it is not known.
func (h *host) bootParameter(parameter string) []string {
	switch {
	case h.exists("usr/sbin/grubby"):
		return []string{"grubby --update-kernel=ALL --args=" + quote(parameter)}
	case h.exists("usr/sbin/update-grub"):
		return []string{
			fmt.Sprintf(`sed -i 's/^GRUB_CMDLINE_LINUX="/&%s /' /etc/default/grub`, parameter),
			"update-grub",
		}
	}
	return nil
}
