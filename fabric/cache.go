package fabric

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/mad"
)

// The file format is version 1 of libibnetdisc's format (rdma-core,
// libibnetdisc/ibnetdisc_cache.c), which iblinkinfo, ibnetdiscover and ibqueryerrors
// write with --cache and read with --load-cache: a header, the node records, the port
// records. Integers are little-endian; attributes have the wire format's 64 bytes.
// encoding/binary reads and writes the structs below, which have the file's layout.
const (
	cacheMagic   = 0x8fe7832b
	cacheVersion = 1
)

const (
	cacheHeaderSize = 28
	cacheNodeSize   = 207
	cacheKeySize    = 9
	cachePortSize   = 95
)

type cacheHeader struct {
	Magic   uint32
	Version uint32
	Nodes   uint32
	Ports   uint32
	Start   ib.GUID // discovery's first node
	MaxHops uint32
}

// Stored cacheKeys follow each cacheNode.
type cacheNode struct {
	LID           ib.LID // for a switch's port 0; 0 for other nodes
	LMC           uint8
	EnhancedPort0 uint8
	Switch        [mad.DataSize]byte // SwitchInfo; zero if missing
	GUID          ib.GUID
	Type          uint8
	NumPorts      uint8
	Info          [mad.DataSize]byte
	Desc          mad.NodeDescription
	Stored        uint8
}

// A cacheKey refers to a port record. All switch ports share a GUID.
type cacheKey struct {
	GUID   ib.GUID
	Number uint8
}

type cachePort struct {
	Key      cacheKey
	External uint8
	LID      ib.LID // for a switch's ports, the LID of port 0
	LMC      uint8
	Info     [mad.DataSize]byte
	Node     ib.GUID
	Linked   uint8 // not 0 if Peer is valid
	Peer     cacheKey
}

// A cacheTrailer follows the records if the scan is partial or had a hop limit.
// libibnetdisc does not read it.
type cacheTrailer struct {
	Magic      uint32
	Flags      uint32
	Unanswered uint32
}

const (
	trailerMagic = 0x6b_69_62_69 // "ibik"
	trailerSize  = 12

	trailerAborted = 1 << 0
	trailerBounded = 1 << 1
)

// ErrStoredAborted is the Aborted value in a fabric from a cache, if the scan that the
// cache stores ended early.
var ErrStoredAborted = errors.New("the scan that the cache stores ended early")

// ErrNotCache is the error in a [CacheError] for data that does not begin as a cache does.
var ErrNotCache = errors.New("not a fabric cache")

// A CacheError is a cache format violation.
type CacheError struct {
	File   string // empty if the cache was not read from a file
	Offset int    // in bytes from the cache's beginning
	Err    error  // the expected and the actual data
}

// Error returns the error with file and offset.
func (e *CacheError) Error() string {
	switch notCache := errors.Is(e.Err, ErrNotCache); {
	case notCache && e.File == "":
		return "read cache: " + e.Err.Error()
	case notCache:
		return fmt.Sprintf("%s is %v", e.File, e.Err)
	}
	if e.File == "" {
		return fmt.Sprintf("read cache: offset %d: %v", e.Offset, e.Err)
	}
	return fmt.Sprintf("read cache %s: offset %d: %v", e.File, e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *CacheError) Unwrap() error { return e.Err }

// ReadCache reads a cache until the stream's end. See [ParseCache].
func ReadCache(r io.Reader) (*Fabric, error) {
	// Another file than a cache may be endless.
	b := bufio.NewReader(r)
	head, err := b.Peek(cacheHeaderSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read cache: %w", err)
	}
	if _, err := parseCacheHeader(head); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(b)
	if err != nil {
		return nil, fmt.Errorf("read cache: %w", err)
	}
	return ParseCache(data)
}

// ReadCacheFile reads a cache file. See [ParseCache].
func ReadCacheFile(path string) (*Fabric, error) {
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read cache: %w", err)
	}
	defer file.Close()
	f, err := ReadCache(file)
	if e, ok := errors.AsType[*CacheError](err); ok {
		e.File = path
	}
	if f != nil {
		for _, failure := range f.Failures {
			if e, ok := errors.AsType[*CacheError](failure.Err); ok {
				e.File = path
			}
		}
	}
	return f, err
}

// WriteCacheFile writes the fabric as [Fabric.WriteCache] does. A regular file is
// replaced as a whole: after an error it has its former content. A symbolic link
// is followed; a FIFO or a device is written through.
func (f *Fabric) WriteCacheFile(path string) error {
	return fileout.Write(path, f.WriteCache)
}
