package route

import (
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/shared/portindex"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/textfile"
)

// A pair is the addresses of two ports. The second one is not used with --to-all.
type pair struct {
	from, to lookup.Address
	line     int // of the file; 0: of the command line
}

// parsePairs returns the pairs of the command line or of a file.
func (c *command) parsePairs(args []string) ([]pair, error) {
	switch {
	case c.toAll:
		from, err := portindex.Parse(c.from)
		return []pair{{from: from}}, err
	case c.pairsFile != "":
		return c.readPairs(c.pairsFile)
	}
	p, err := parsePair(args)
	return []pair{p}, err
}

func parsePair(words []string) (p pair, err error) {
	if p.from, err = portindex.Parse(words[0]); err == nil {
		p.to, err = portindex.Parse(words[1])
	}
	return p, err
}

// readPairs reads a file of pairs.
func (c *command) readPairs(path string) ([]pair, error) {
	if path == "-" {
		return scanPairs(interrupt.Reader(c.env.In), c.pairsName())
	}
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, cmdutil.WithFileHint(fmt.Errorf("read pairs: %w", err), "the file has two ports on each line; -: standard input")
	}
	defer file.Close()
	return scanPairs(file, path)
}

// pairsName returns the name of the file of pairs in messages.
func (c *command) pairsName() string {
	if c.pairsFile != "-" {
		return c.pairsFile
	}
	return "standard input"
}

// scanPairs parses lines with two ports each. Empty lines and lines that begin with # are
// ignored.
func scanPairs(in io.Reader, name string) (pairs []pair, err error) {
	lines := textfile.NewReader(in, name)
	for lines.Next() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("read %w", lines.Errorf("number of ports: got %d, want 2", len(words)))
		}
		p, err := parsePair(words)
		if err != nil {
			return nil, fmt.Errorf("read %w", lines.At(err))
		}
		p.line = lines.Line()
		pairs = append(pairs, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %w", err)
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("read %s: no pairs", name)
	}
	return pairs, nil
}
