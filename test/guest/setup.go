package guest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// insertDir is where modules from Spec.Insert are in a guest.
const insertDir = "/usr/lib/modules/insert/"

// image packs what the spec names.
func (s Spec) image(ctx context.Context, k *Kernel) (*os.File, error) {
	im, err := newImage(ctx)
	if err != nil {
		return nil, err
	}
	modules := slices.Concat([]string{"virtio_pci", "virtio_console"}, s.modules())
	if err := im.addModules(ctx, k, modules); err != nil {
		return nil, err
	}
	tools := s.Tools
	if len(s.Devices) > 0 {
		tools = slices.Concat(tools, []string{"ip", "rdma"})
	}
	if err := im.addPrograms(ctx, tools); err != nil {
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
	return im.write()
}

// modules are those to load, in order.
func (s Spec) modules() []string {
	var names []string
	if len(s.Devices) > 0 {
		names = slices.Clone(rdmaModules)
	}
	for _, d := range s.Devices {
		names = append(names, d.Link.module())
	}
	return append(names, s.Modules...)
}

// setUp waits for the agent and makes what the spec names.
func (g *Guest) setUp(ctx context.Context) error {
	select {
	case hello := <-g.session.hello:
		g.Release = hello.Release
	case <-g.session.done:
		return g.failure()
	case <-ctx.Done():
		return context.Cause(ctx)
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

// setupScript loads modules and makes devices. Duplicate address detection is
// off: there is nobody to share an address with, and it takes a second.
func (g *Guest) setupScript() string {
	var s strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&s, format+"\n", args...) }
	for _, name := range g.spec.modules() {
		line("modprobe %s", name)
	}
	for _, file := range g.spec.Insert {
		line("insmod %s", insertDir+filepath.Base(file))
	}
	line("echo 0 | tee /proc/sys/net/ipv6/conf/all/accept_dad >/proc/sys/net/ipv6/conf/default/accept_dad")
	line("ip link set lo up")
	for i, p := range g.Ports {
		switch g.spec.Devices[i].Link {
		case Dummy:
			line("ip link add %s type dummy", p.Netdev)
		case Veth:
			line("ip link add %s type veth peer name %[1]speer", p.Netdev)
			line("ip link set %speer up", p.Netdev)
		case Wire: // it is there
		}
		line("ip address add %s/%d dev %s", p.Addr, prefixLen, p.Netdev)
		line("ip link set %s up", p.Netdev)
		line("rdma link add %s type rxe netdev %s", quote(p.Device), p.Netdev)
	}
	return s.String()
}

// readyScript succeeds when the port is active and has its GIDs: the kernel
// adds them some time after the addresses. It prints what there is.
func (p Port) readyScript() string {
	a := p.Addr.As4()
	mapped := fmt.Sprintf("0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", a[0], a[1], a[2], a[3])
	return fmt.Sprintf(`cd /sys/class/infiniband/%s/ports/1 || exit
cat state
cat gids/* 2>/dev/null | grep -v '^0000:.*:0000$'
grep -q ACTIVE state && cat gids/* 2>/dev/null | grep -q %s && cat gids/* 2>/dev/null | grep -q ^fe80:`, quote(p.Device), mapped)
}

// quote makes one word of a text for the shell.
func quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
