package guest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ibkit/ibkit/internal/textfile"
)

// insertDir is the directory for modules from Spec.Insert in a guest.
const insertDir = "/usr/lib/modules/insert/"

// disk returns an archive of the spec's contents.
func (s Spec) disk(ctx context.Context, k *Kernel, root string, modules []string) (*os.File, error) {
	im := newImage()
	if err := im.addModules(ctx, k, modules); err != nil {
		return nil, err
	}
	tools := s.Tools
	if len(s.Devices) > 0 {
		tools = slices.Concat(tools, []string{"ip", "rdma"})
	}
	if err := (programs{im, root}).addPrograms(tools); err != nil {
		return nil, err
	}
	for _, p := range s.Programs {
		body, err := buildProgram(ctx, p)
		if err != nil {
			return nil, err
		}
		im.add("/usr/bin/"+p.name(), 0o755, body)
	}
	for to, from := range s.Files {
		if err := im.addFiles(to, from); err != nil {
			return nil, err
		}
	}
	for _, from := range s.Insert {
		if err := im.addFiles(insertDir+filepath.Base(from), from); err != nil {
			return nil, err
		}
	}
	return im.disk()
}

// baseModules returns the modules that are loaded before a machine's state is saved: the
// bus, the agent's port, and the modules that all guests with devices have.
func (s Spec) baseModules(k *Kernel) ([]string, error) {
	names := []string{"virtio_pci", "virtio_console"}
	if len(s.Devices) == 0 {
		return names, nil
	}
	names = append(names, rdmaModules...)
	tree, err := readModules(k.Modules)
	if err == nil && tree.has(crc32) {
		names = append(names, crc32)
	}
	return names, err
}

// modules returns the other modules to load, in order.
func (s Spec) modules() []string {
	var names []string
	for _, d := range s.Devices {
		names = append(names, d.Link.module())
	}
	return append(names, s.Modules...)
}

// setUp starts the agent and creates the spec's devices.
func (g *Guest) setUp(ctx context.Context) error {
	if err := g.session.begin(); err != nil {
		return g.explain(err)
	}
	if err := g.awaitHello(ctx); err != nil {
		return err
	}
	if _, err := g.Check(ctx, "sh", "-exc", g.setupScript()); err != nil {
		return err
	}
	for _, p := range g.Ports {
		if err := g.Await(ctx, "sh", "-c", p.readyScript()); err != nil {
			return fmt.Errorf("wait for device %s: %w", p.Device, err)
		}
	}
	return nil
}

// awaitHello waits until the agent is ready. Its processes are not known before: only
// kernel output is progress.
func (g *Guest) awaitHello(ctx context.Context) error {
	w := g.watch(ctx, "the agent")
	defer w.timer.Stop()
	w.limit = max(w.limit, quietLimit) // it unpacks files without output
	for printed := 0; ; {
		select {
		case hello := <-g.session.hello:
			g.Release = hello.Release
			return nil
		case <-g.session.done:
			return g.failure()
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.timer.C:
			w.timer.Reset(w.interval)
		}
		text := g.Console()
		if w.quiet += w.interval; len(text) > printed {
			printed, w.quiet, w.progress = len(text), 0, time.Now()
		}
		if w.quiet >= w.limit {
			return w.hang("unknown: the guest boots\n" + tail(text, 20))
		}
	}
}

// setupScript loads modules and makes devices. Duplicate address detection is off: it
// takes a second, and no other host shares the addresses. A single ip process runs all ip
// commands: a process costs about 10 ms.
func (g *Guest) setupScript() string {
	var s, ip, rdma strings.Builder
	for _, name := range g.spec.modules() {
		fmt.Fprintf(&s, "modprobe %s\n", name)
	}
	for _, file := range g.spec.Insert {
		fmt.Fprintf(&s, "insmod %s\n", insertDir+filepath.Base(file))
	}
	s.WriteString("echo 0 | tee /proc/sys/net/ipv6/conf/all/accept_dad >/proc/sys/net/ipv6/conf/default/accept_dad\n")
	s.WriteString("ip link set lo up\n")
	for i, p := range g.Ports {
		switch g.spec.Devices[i].Link {
		case Dummy:
			fmt.Fprintf(&ip, "link add %s type dummy\n", p.Netdev)
		case Veth:
			fmt.Fprintf(&ip, "link add %s type veth peer name %[1]speer\nlink set %[1]speer up\n", p.Netdev)
		case Wire: // it exists, with the address of the second guest in the saved state
			if g.host > 2 {
				fmt.Fprintf(&ip, "link set %s address %s\n", p.Netdev, macAddress(int(p.Addr.As4()[2]), g.host))
			}
		}
		fmt.Fprintf(&ip, "address add %s/%d dev %s\nlink set %[3]s up\n", p.Addr, prefixLen, p.Netdev)
		fmt.Fprintf(&rdma, "rdma link add %s type rxe netdev %s\n", textfile.ShellWord(p.Device), p.Netdev)
	}
	if ip.Len() > 0 { // busybox has no -batch
		fmt.Fprintf(&s, "ip -batch - <<'END'\n%sEND\n%s", &ip, &rdma)
	}
	return s.String()
}

// readyScript succeeds when the port is active and has GIDs, which the kernel adds some
// time after the addresses, at the lowest indexes. It prints the state and the GIDs.
func (p Port) readyScript() string {
	a := p.Addr.As4()
	return fmt.Sprintf(`cd /sys/class/infiniband/%s/ports/1 || exit
text=$(cat state gids/[0-3] 2>/dev/null)
echo "$text"
for want in ACTIVE fe80: 0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x; do
	case $text in *$want*) ;; *) exit 1 ;; esac
done`, textfile.ShellWord(p.Device), a[0], a[1], a[2], a[3])
}
