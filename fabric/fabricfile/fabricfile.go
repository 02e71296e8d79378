// Package fabricfile reads stored fabrics: caches, ibkit linkinfo JSON, ibnetdiscover
// output, and ibdiagnet files.
package fabricfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/textfile"
)

// maxSize is the maximum fabric file size: the JSON for 10,400 adapters has 150 MB.
const maxSize = 1 << 30

// Read reads a fabric from a file in any of these formats, which it recognizes by the
// content: a libibnetdisc cache, ibkit linkinfo JSON with attributes,
// ibdiagnet2.db_csv, a link list from opensm and ibdiagnet, and ibnetdiscover output,
// also its port list (-p). Fabrics from the last two are [fabric.Fabric.Sparse]. Only a
// db_csv file has counters. Of a directory, Read reads ibdiagnet2.db_csv.
//
// Parts of the file that could not be read are failures of the fabric, which is then
// [fabric.Fabric.Damaged]. A file without any node is an error.
func Read(path string) (*ibdiagnet.Database, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, databaseFile)
	}
	data, err := interrupt.ReadFile(path, maxSize)
	if err != nil {
		return nil, fmt.Errorf("read fabric: %w", err)
	}
	return Parse(data, path)
}

// databaseFile is the file with the fabric in a directory of ibdiagnet.
const databaseFile = "ibdiagnet2.db_csv"

// Parse is [Read] for a file's content. Errors contain name.
func Parse(data []byte, name string) (d *ibdiagnet.Database, err error) {
	data = textfile.TrimMark(data)
	d = &ibdiagnet.Database{}
	switch KindOf(data) {
	case Cache:
		d.Fabric, err = parseCache(data, name)
	case JSON:
		if d.Fabric, err = parseLinks(data, name); err != nil {
			err = fmt.Errorf("read fabric: %w", err)
		}
	case List:
		d.Fabric, err = ibdiagnet.ReadList(bytes.NewReader(data), name)
	case Netdiscover:
		d.Fabric, err = parseNetdiscover(data, name)
	case PortList:
		d.Fabric, err = parsePortList(data, name)
	case Database:
		d, err = ibdiagnet.ReadDatabase(bytes.NewReader(data), name)
	default:
		err = fmt.Errorf("read fabric %s: want a cache, the output of ibnetdiscover or of ibkit linkinfo --json --attributes, or a db_csv or lst file of ibdiagnet", name)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// parseCache reads a cache, from a damaged cache the consistent part.
func parseCache(data []byte, name string) (*fabric.Fabric, error) {
	f, err := fabric.ParseCache(data)
	if f == nil {
		if e, ok := errors.AsType[*fabric.CacheError](err); ok {
			e.File = name
		}
		return nil, err
	}
	for _, failure := range f.Failures {
		if e, ok := errors.AsType[*fabric.CacheError](failure.Err); ok {
			e.File = name
		}
	}
	return f, nil
}
