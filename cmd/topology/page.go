package topology

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/umad"
)

// noteDevice stores the local port's name when a source opens it.
func (c *command) noteDevice(source *fabric.Source) {
	open := source.OpenPort
	source.OpenPort = func(ctx context.Context) (umad.Port, error) {
		p, err := open(ctx)
		if err == nil {
			attr := p.Attr()
			c.device = fmt.Sprintf("%s/%d", attr.Device, attr.Number)
		}
		return p, err
	}
}

// sourceText describes the fabric's source and its time for the page.
func (c *command) sourceText() string {
	const layout = "2006-01-02 15:04:05 -0700"
	switch sim := c.fabric.Sim; {
	case c.source.File != "":
		text := "file " + cmdutil.Visible(filepath.Base(c.source.File))
		if info, err := os.Stat(c.source.File); err == nil {
			text += ", written at " + info.ModTime().Format(layout)
		}
		return text
	case sim == fabricflag.Ibsim:
		return "simulated fabric, scanned at " + c.began.Format(layout)
	case sim != "":
		return fmt.Sprintf("simulated fabric %s, scanned at %s", cmdutil.Visible(sim), c.began.Format(layout))
	}
	return fmt.Sprintf("%s, scanned at %s", c.device, c.began.Format(layout))
}
