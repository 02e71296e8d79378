// Package simhost shows the local adapter of a simulated fabric as a host: a sysfs
// tree with one device, as libumad2sim has it for the tools of infiniband-diags.
package simhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Sysfs returns the root of sysfs: that of this host, or a temporary tree with the
// adapter of a simulated fabric if the settings or IBKIT_SIM select one. The caller
// calls remove at the end.
func Sysfs(ctx context.Context, env *cmdutil.Env, s *fabricflag.Settings) (root string, remove func(), err error) {
	if s.Sim == "" && env.Getenv("IBKIT_SIM") == "" {
		return env.Sysfs(), func() {}, nil
	}
	if err := s.Complete(ctx, env); err != nil {
		return "", nil, err
	}
	files, err := adapter(ctx, env, s)
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "ibkit-sysfs-")
	if err != nil {
		return "", nil, fmt.Errorf("create sysfs of the simulated adapter: %w", err)
	}
	for name, text := range files {
		path := filepath.Join(dir, "class/infiniband", name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text+"\n"), 0o644))
	}
	if err != nil {
		_ = os.RemoveAll(dir) // the first error counts
		return "", nil, fmt.Errorf("create sysfs of the simulated adapter: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// adapter returns the sysfs files of the local adapter by their paths below
// class/infiniband.
func adapter(ctx context.Context, env *cmdutil.Env, s *fabricflag.Settings) (files map[string]string, err error) {
	port, err := s.Open(env)(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, port.Close()) }()
	client := umad.NewClient(port, s.Client(env))
	var node mad.NodeInfo
	var desc mad.NodeDescription
	var info mad.PortInfo
	var pkeys mad.PKeyTable
	for _, q := range []struct {
		attr     mad.Attribute
		modifier uint32
	}{{&node, 0}, {&desc, 0}, {&info, uint32(port.Attr().Number)}, {&pkeys, 0}} {
		if err := client.Get(ctx, umad.Target{Route: mad.Local}, q.attr, umad.Modifier(q.modifier)); err != nil {
			return nil, fmt.Errorf("query %v of the simulated adapter: %w", q.attr.Spec().ID, err)
		}
	}
	device := port.Attr().Device
	files = map[string]string{
		"node_type":      nodeTypes[node.NodeType],
		"node_guid":      groups(node.NodeGUID),
		"sys_image_guid": groups(node.SystemGUID),
		"node_desc":      desc.String(),
		"hw_rev":         fmt.Sprintf("%x", node.Revision),
		// libumad2sim has these for all its devices.
		"fw_ver":   "1",
		"hca_type": "simulator",
	}
	number := strconv.Itoa(int(port.Attr().Number))
	for name, text := range portFiles(&node, &info) {
		files["ports/"+number+"/"+name] = text
	}
	for i, key := range pkeys.PKeys[:min(int(node.PartitionCap), len(pkeys.PKeys))] {
		files[fmt.Sprintf("ports/%s/pkeys/%d", number, i)] = fmt.Sprintf("0x%04x", uint16(key))
	}
	below := map[string]string{}
	for name, text := range files {
		below[device+"/"+name] = text
	}
	return below, nil
}

func portFiles(node *mad.NodeInfo, info *mad.PortInfo) map[string]string {
	speed := info.ActiveSpeed(info, nil)
	return map[string]string{
		"lid":            fmt.Sprintf("0x%x", info.LID),
		"lid_mask_count": strconv.Itoa(int(info.LMC)),
		"sm_lid":         fmt.Sprintf("0x%x", info.SMLID),
		"sm_sl":          strconv.Itoa(int(info.SMSL)),
		"cap_mask":       fmt.Sprintf("0x%08x", uint32(info.CapMask)),
		"state":          fmt.Sprintf("%d: %s", info.State, stateNames[info.State]),
		"phys_state":     fmt.Sprintf("%d: %v", info.PhysState, info.PhysState),
		"link_layer":     "InfiniBand",
		"gids/0":         ib.MakeGID(info.GIDPrefix, node.PortGUID).Addr().StringExpanded(),
		"rate":           fmt.Sprintf("%g Gb/sec (%v %v)", float64(info.LinkWidthActive.Lanes())*speed.NominalGbps(), info.LinkWidthActive, speed),
	}
}

// nodeTypes and stateNames are texts of the kernel's files.
var (
	nodeTypes = map[mad.NodeType]string{
		mad.NodeTypeCA: "1: CA", mad.NodeTypeSwitch: "2: switch", mad.NodeTypeRouter: "3: router",
	}
	stateNames = map[ib.PortState]string{
		ib.PortDown: "DOWN", ib.PortInit: "INIT", ib.PortArmed: "ARMED", ib.PortActive: "ACTIVE",
	}
)

// groups returns a GUID in the form of sysfs.
func groups(guid ib.GUID) string {
	g := fmt.Sprintf("%016x", uint64(guid))
	return strings.Join([]string{g[:4], g[4:8], g[8:12], g[12:]}, ":")
}
