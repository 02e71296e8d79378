package sim

import "io"

// parseCongest reads "congest PORT NODE NODE [SL]", which adds an event to congestion
// logs.
func parseCongest(f *Fabric, l *eventLine) (action, error) {
	at, err := l.port(f)
	if err != nil {
		return nil, err
	}
	from, err := l.node(f)
	if err != nil {
		return nil, err
	}
	to, err := l.node(f)
	if err != nil {
		return nil, err
	}
	var sl uint64
	if l.more() {
		if sl, err = l.integer("a service level", 15); err != nil {
			return nil, err
		}
	}
	return func(f *Fabric, _ io.Writer) error {
		f.LogCongestion(at, from.firstPort(), to.firstPort(), uint8(sl))
		return nil
	}, nil
}
