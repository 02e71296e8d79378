package loop

// An Area is registered local memory.
type Area struct {
	Bytes []byte
	Addr  uint64
	LKey  uint32

	// Shared is memory of another device, which contains Bytes from Offset on; nil: memory
	// of the host.
	Shared Shared
	Offset int
}

// Shared is memory that is not the processor's. *dmabuf.Buffer implements it.
type Shared interface {
	Begin(at, length int) error // before the processor reads
	End(at, length int) error   // after the processor has written
}

// Begin makes length bytes from an offset on visible in Bytes.
func (a *Area) Begin(at, length int) error {
	if a.Shared == nil {
		return nil
	}
	return a.Shared.Begin(a.Offset+at, length)
}

// End makes length bytes from an offset on visible to devices.
func (a *Area) End(at, length int) error {
	if a.Shared == nil {
		return nil
	}
	return a.Shared.End(a.Offset+at, length)
}

// fill writes a payload.
func (a *Area) fill(at, length int, seed, count uint64) error {
	Fill(a.Bytes[at:at+length], seed, count)
	return a.End(at, length)
}

// check checks a payload.
func (a *Area) check(at, length int, seed, count uint64) error {
	if err := a.Begin(at, length); err != nil {
		return err
	}
	return Check(a.Bytes[at:at+length], seed, count)
}
