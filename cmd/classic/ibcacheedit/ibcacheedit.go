// Package ibcacheedit implements ibcacheedit from infiniband-diags.
package ibcacheedit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/nosim"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// command is an ibcacheedit call. An edit that was not given is nil.
type command struct {
	*getopt.Diag
	switchGUID, caGUID, systemGUID, portGUID []ib.GUID
	sim                                      bool
}

// New returns ibcacheedit.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "ibcacheedit")}
	options := []getopt.Option{
		{Long: "switchguid", Arg: "BEFOREGUID:AFTERGUID", Help: "Specify before and after switchguid to edit", Set: c.setGUIDs(&c.switchGUID, 2)},
		{Long: "caguid", Arg: "BEFOREGUID:AFTERGUID", Help: "Specify before and after caguid to edit", Set: c.setGUIDs(&c.caGUID, 2)},
		{Long: "sysimgguid", Arg: "BEFOREGUID:AFTERGUID", Help: "Specify before and after sysimgguid to edit", Set: c.setGUIDs(&c.systemGUID, 2)},
		{Long: "portguid", Arg: "NODEGUID:BEFOREGUID:AFTERGUID", Help: "Specify before and after port guid to edit", Set: c.setGUIDs(&c.portGUID, 3)},
	}
	shared := slices.DeleteFunc(c.Options("CDdeGKLPstvy"), func(o getopt.Option) bool { return o.Extension }) // no fabric
	return &getopt.Tool{
		Name: "ibcacheedit", Family: getopt.InfinibandDiags, Operands: "<orig.cache> <new.cache>",
		Options: slices.Concat(options, shared, nosim.Options(&c.sim)), Run: c.run,
	}
}

// setGUIDs parses count GUIDs with colons between them, as C reads numbers.
func (c *command) setGUIDs(to *[]ib.GUID, count int) func(string) error {
	return func(value string) error {
		fields := strings.SplitN(value, ":", count)
		if len(fields) < count || fields[count-1] == "" {
			fmt.Fprintf(c.Env.ErrOut, "invalid input '%s'\n", value)
			return getopt.ErrUsage
		}
		*to = nil
		for _, f := range fields {
			*to = append(*to, ib.GUID(getopt.Strtoull(f)))
		}
		return nil
	}
}

func (c *command) run(_ context.Context, operands []string) error {
	if c.sim {
		return nosim.ErrFiles
	}
	switch len(operands) {
	case 0:
		return c.Iberror("main", nil, "original cache file not specified")
	case 1:
		return c.Iberror("main", nil, "new cache file not specified")
	}
	f, err := fabric.ReadCacheFile(operands[0])
	if err != nil {
		return c.Iberror("main", err, "loading original cached fabric failed")
	}
	if err := c.edit(f); err != nil {
		return err
	}
	if err := f.WriteCacheFile(operands[1]); err != nil {
		return c.Iberror("main", err, "caching new cache data failed")
	}
	return nil
}

func (c *command) edit(f *fabric.Fabric) error {
	missing := func(what string, guid ib.GUID) error {
		return c.Iberror("main", nil, "%s = %x not found", what, uint64(guid))
	}
	if g := c.switchGUID; g != nil && replaceNodeGUID(f, mad.NodeTypeSwitch, g[0], g[1]) == 0 {
		return missing("switchguid", g[0])
	}
	if g := c.caGUID; g != nil && replaceNodeGUID(f, mad.NodeTypeCA, g[0], g[1]) == 0 {
		return missing("caguid", g[0])
	}
	if g := c.systemGUID; g != nil && replaceSystemGUID(f, g[0], g[1]) == 0 {
		return missing("sysimgguid", g[0])
	}
	if g := c.portGUID; g != nil {
		switch nodes, changed := replacePortGUID(f, g[0], g[1], g[2]); {
		case nodes == 0:
			return missing("nodeguid", g[0])
		case changed == 0:
			return missing("portguid", g[1])
		}
	}
	return nil
}
