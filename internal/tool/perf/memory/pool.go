package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"

	"github.com/ibkit/ibkit/internal/dmabuf"
	"github.com/ibkit/ibkit/verbs"
)

// Helper is the program that has the memory of NVIDIA's GPUs.
const Helper = "ibkit-cuda"

// ErrHelper is wrapped if the helper cannot be started.
var ErrHelper = errors.New("cannot start " + Helper)

// ErrRegister is wrapped if a device cannot register memory of a source.
var ErrRegister = errors.New("cannot register the memory")

// A Pool is the memory of a test side.
type Pool struct {
	source  Source
	context *verbs.Context
	client  *dmabuf.Client // of a program that has the memory, or nil
	open    []interface{ Close() error }
}

// Open prepares the source for a device.
func (s Source) Open(c *verbs.Context) (p *Pool, err error) {
	p = &Pool{source: s, context: c}
	switch {
	case s.kind == cuda:
		if p.client, err = dmabuf.Start(Helper, "--device", s.at); errors.Is(err, exec.ErrNotFound) {
			err = fmt.Errorf("%w: %w", ErrHelper, err)
		}
	case s.kind == dmaBuf && isSocket(s.at):
		p.client, err = dmabuf.Dial(s.at)
	}
	if err != nil {
		return nil, fmt.Errorf("use memory %v: %w", s, err)
	}
	return p, nil
}

func isSocket(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Type() == fs.ModeSocket
}

// Addressable reports whether the processor can read and write the memory.
func (p *Pool) Addressable() bool { return p.client == nil }

// A Region is registered memory.
type Region struct {
	*verbs.MR
	Bytes  []byte
	Shared *dmabuf.Buffer // nil for memory of the host
}

// Register allocates memory and registers it. huge selects huge pages of the host.
func (p *Pool) Register(pd *verbs.PD, size int, access verbs.Access, huge bool) (Region, error) {
	if p.source.IsHost() {
		m, err := p.context.NewMemory(size, verbs.MemoryOptions{Huge: huge})
		if err != nil {
			return Region{}, err
		}
		p.open = append(p.open, m)
		mr, err := pd.RegisterMR(m, access)
		return Region{MR: mr, Bytes: m.Bytes()}, err
	}
	b, err := p.export(size)
	if err != nil {
		return Region{}, err
	}
	p.open = append(p.open, b)
	mr, err := pd.RegisterDMABuf(int(b.File.Fd()), 0, uint64(len(b.Bytes)), b.Addr(), access)
	if err != nil {
		return Region{}, fmt.Errorf("use memory %v: %w: %w", p.source, ErrRegister, err)
	}
	return Region{MR: mr, Bytes: b.Bytes, Shared: b}, nil
}

// export allocates a dma-buf.
func (p *Pool) export(size int) (*dmabuf.Buffer, error) {
	if p.client != nil {
		return p.client.New(size)
	}
	return dmabuf.New(p.source.at, size)
}

// Close releases the memory. The regions must have been closed.
func (p *Pool) Close() error {
	var errs []error
	for _, m := range p.open {
		errs = append(errs, m.Close())
	}
	p.open = nil
	if p.client != nil {
		errs = append(errs, p.client.Close())
		p.client = nil
	}
	return errors.Join(errs...)
}
