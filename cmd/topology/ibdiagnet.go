package topology

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/shared/errorcounters"
	"github.com/ibkit/ibkit/cmd/internal/shared/routefiles"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/internal/tool/route/dump"
	"github.com/ibkit/ibkit/umad"
)

// wantsDatabase reports whether the output includes counters.
func (c *command) wantsDatabase() bool { return c.format == formatDatabase || c.ibdiagnet != "" }

// scanDatabase reads the fabric, the counters of all ports and, for a directory, the
// forwarding tables.
func (c *command) scanDatabase(ctx context.Context, source fabric.Source) (*fabric.Fabric, error) {
	s, err := source.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	collector := counters.NewCollector(s.Client, counters.CollectOptions{Attributes: counters.ClassicAttributes})
	f, err := c.collect(ctx, s, collector)
	if f == nil || err != nil {
		return f, err
	}
	if c.pause > 0 {
		select {
		case <-ctx.Done():
			c.database = counters.Database(f, collector.Nodes()) // without increases
			return f, ctx.Err()
		case <-time.After(c.pause):
		}
		if err := collector.Read(ctx, f); err != nil {
			return f, err
		}
		c.fabric.WarnEarlyEvents(c.env)
	}
	c.database = counters.Database(f, collector.Nodes())
	for _, n := range collector.Nodes() {
		c.unread = append(c.unread, errorcounters.FailuresOf(n, c.names)...)
	}
	if c.phy {
		if err := c.addRegisters(ctx, s.Client, f); err != nil {
			return f, err
		}
	}
	if c.ibdiagnet == "" {
		return f, nil
	}
	c.routing = route.FromFabric(f)
	if err := route.Read(ctx, s.Client, c.routing, route.ReadOptions{}); err != nil {
		return f, err
	}
	for _, failure := range c.routing.Failures[len(f.Failures):] { // behind those of the scan
		c.unread = append(c.unread, routefiles.FailureError(failure, c.names))
	}
	return f, nil
}

// addRegisters adds cables, bit error rates and temperatures to the database.
func (c *command) addRegisters(ctx context.Context, client *umad.Client, f *fabric.Fabric) error {
	r, err := phy.Read(ctx, client, f, phy.Options{Key: c.key, Names: c.names, Switches: true})
	if err != nil {
		return err
	}
	r.Store(c.database)
	for p, g := range r.Unread() {
		c.unread = append(c.unread, fmt.Errorf("%s: %s: %w", c.names.PortName(p), g.Register, g.Err))
	}
	return nil
}

// collect reads the fabric and its counters.
func (c *command) collect(ctx context.Context, s *fabric.Session, collector *counters.Collector) (*fabric.Fabric, error) {
	if !c.source.SA {
		return collector.Scan(ctx, s.Options(fabric.DiscoverOptions{}))
	}
	f, err := s.Fabric(ctx, fabric.DiscoverOptions{})
	if err != nil {
		return f, err
	}
	return f, collector.Read(ctx, f)
}

// makeDirectory makes the directory for the files of ibdiagnet, in an existing one.
func (c *command) makeDirectory() error {
	if c.ibdiagnet == "" {
		return nil
	}
	err := os.Mkdir(c.ibdiagnet, 0o755)
	if errors.Is(err, fs.ErrExist) {
		var info fs.FileInfo
		if info, err = os.Stat(c.ibdiagnet); err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "open", Path: c.ibdiagnet, Err: syscall.ENOTDIR}
		}
	}
	if err != nil {
		return fmt.Errorf("write files of ibdiagnet: %w", err)
	}
	return nil
}

// storeIbdiagnet writes the files of ibdiagnet to the directory. Those of a partial result
// replace others only with --save-partial.
func (c *command) storeIbdiagnet(f *fabric.Fabric) error {
	if !c.wantsDatabase() {
		return nil
	}
	failures := c.fabric.Failures(c.env, "warning")
	for _, err := range c.unread {
		failures.Print(err)
	}
	if n := failures.Close(); n > 0 {
		fmt.Fprintf(c.env.ErrOut, "warning: the result is partial: %s for counters and tables failed\n", plural.Count(n, "request", "requests"))
	}
	if c.database == nil { // of a file, or of a scan that ended early
		c.database = c.source.Read
	}
	if c.database == nil {
		c.database = &ibdiagnet.Database{Fabric: f}
	}
	c.database.Ended = c.ended
	partial := c.isPartial(f)
	switch {
	case c.ibdiagnet == "":
		return nil
	case partial && !c.savePartial && c.hasIbdiagnet():
		fmt.Fprintf(c.env.ErrOut, "warning: the files in %s were not replaced, because the result is partial (--save-partial stores it)\n", cmdutil.Visible(c.ibdiagnet))
		return nil
	}
	files := map[string]func(io.Writer) error{
		"db_csv": c.database.Write,
		"lst":    func(w io.Writer) error { return ibdiagnet.WriteList(w, f, c.names) },
	}
	if c.routing != nil {
		files["fdbs"] = func(w io.Writer) error { return dump.WriteForwarding(w, c.routing) }
	}
	return c.writeIbdiagnet(files)
}

// writeIbdiagnet replaces the files of ibdiagnet, by their extensions. It replaces none before
// the content of all is complete, since the files belong together.
func (c *command) writeIbdiagnet(files map[string]func(io.Writer) error) error {
	var outputs []*fileout.File
	defer func() {
		for _, out := range outputs {
			out.Abort() // without effect on those that were replaced
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out, err := fileout.Create(c.ibdiagnetFile(name))
		if err != nil {
			return err
		}
		outputs = append(outputs, out)
		if err := files[name](out); err != nil {
			return err
		}
	}
	for _, out := range outputs {
		if err := out.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// ibdiagnetFile returns the path of a file of ibdiagnet.
func (c *command) ibdiagnetFile(name string) string {
	return filepath.Join(c.ibdiagnet, "ibdiagnet2."+name)
}

// isPartial reports whether a part of the result is missing.
func (c *command) isPartial(f *fabric.Fabric) bool {
	return f.Partial() || len(c.unread) > 0 || c.ended
}

// hasIbdiagnet reports whether the directory contains files of ibdiagnet.
func (c *command) hasIbdiagnet() bool {
	info, err := os.Stat(c.ibdiagnetFile("db_csv"))
	return err == nil && info.Mode().IsRegular()
}
