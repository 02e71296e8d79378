package phy

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/umad"
)

// A memoryReader reads the memory of a link end's module in parts.
type memoryReader struct {
	end    *End
	memory register.Memory
	read   func(part register.MemoryPart, done func([]byte, error))
}

// run reads the parts that each module has, then limits and light, and fills in the module.
func (m *memoryReader) run(name string) {
	gap := func(err error) { m.end.Gaps = append(m.end.Gaps, Gap{name, err}) }
	fill := func() {
		module := register.NewModule(m.end.Local)
		if err := m.memory.Fill(module); err != nil {
			gap(err)
			return
		}
		if m.end.Module == nil {
			m.end.Module = module
		}
	}
	m.parts(register.FirstParts, func(err error) {
		switch {
		case errors.Is(err, register.EEPROMNotConnected) && m.end.Module == nil:
			m.end.Module = register.NewModule(m.end.Local)
			m.end.Module.Type = register.CableUnplugged
		case err != nil:
			gap(err)
		default:
			m.parts(m.memory.MoreParts(), func(err error) {
				if err != nil {
					gap(err)
				}
				fill()
			})
		}
	})
}

// parts reads parts in turn, and calls done with the first error.
func (m *memoryReader) parts(parts []register.MemoryPart, done func(error)) {
	if len(parts) == 0 {
		done(nil)
		return
	}
	part := parts[0]
	m.read(part, func(data []byte, err error) {
		if err == nil && len(data) != int(part.Size) {
			err = fmt.Errorf("got %d bytes at address %d of page %d, want %d", len(data), part.Address, part.Page, part.Size)
		}
		if err == nil {
			err = m.memory.Store(part.Page, part.Address, data)
		}
		if err != nil {
			done(err)
			return
		}
		m.parts(parts[1:], done)
	})
}

// readMemory reads a module's memory by registers.
func (r *reader) readMemory(e *End) {
	if e.Lanes == nil || e.Lanes.Width == 0 {
		return
	}
	if r.result.Raw != nil {
		r.get(e.Device, &register.ModuleStatus{Module: e.Lanes.Lanes[0].Module}, func(*Gap) {})
	}
	m := &memoryReader{end: e, read: func(part register.MemoryPart, done func([]byte, error)) {
		eeprom := register.NewEEPROM(e.Lanes.Lanes[0].Module, part.Page, part.Address, part.Size)
		r.get(e.Device, eeprom, func(g *Gap) {
			if g != nil {
				done(nil, g.Err)
				return
			}
			done(eeprom.Bytes())
		})
	}}
	m.run(register.IDMCIA.String())
}

// readCables reads the memory of modules by subnet management on devices without registers.
func (r *reader) readCables(ctx context.Context) error {
	for _, d := range r.result.Devices {
		if !errors.Is(d.Missing, errNoAccess) || d.Port.Node.Info.VendorID != mad.VendorMlnx {
			continue
		}
		for _, e := range d.ends {
			m := &memoryReader{end: e, read: func(part register.MemoryPart, done func([]byte, error)) { r.cableInfo(e, part, done) }}
			m.run("CableInfo")
		}
	}
	return r.client.Run(ctx)
}

// cableInfo reads a part by CableInfo, which has its request in the data.
func (r *reader) cableInfo(e *End, part register.MemoryPart, done func([]byte, error)) {
	info := register.NewCableInfo(part.Page, part.Address, part.Size)
	data := make([]byte, info.Spec().Size)
	if err := mad.Encode(info, data); err != nil {
		done(nil, err)
		return
	}
	r.client.Submit(&umad.Request{
		To: r.target(e.Device), Value: info, Data: data, Modifier: uint32(e.Port.Number),
		Done: func(_ *umad.Request, reply *umad.Reply) {
			err := reply.Err
			if status, ok := errors.AsType[mad.StatusError](err); ok {
				if meaning := register.CableStatus(mad.Status(status)); meaning != nil {
					err = meaning
				}
			}
			if err == nil && (info.Page != part.Page || info.Address != part.Address) {
				err = fmt.Errorf("got address %d of page %d, want %d of %d", info.Address, info.Page, part.Address, part.Page)
			}
			done(info.Data[:min(info.Size, register.EEPROMSize)], err)
		},
	})
}
