package counters

// CollectOptions returns options that read the error counters that the limits require: the
// sums over all ports on a switch first, and the details for ports that exceed a limit.
func (l *Limits) CollectOptions() CollectOptions {
	return CollectOptions{
		Suspicious: l.suspicious,
		Details:    func(p *Port) DetailSet { return l.details(p, false) },
	}
}

// WindowOptions returns options that read the error and traffic counters that windows
// between passes require, and the details for ports with errors.
func (l *Limits) WindowOptions() CollectOptions {
	return CollectOptions{
		Attributes: AllAttributes,
		Details:    func(p *Port) DetailSet { return l.details(p, true) },
	}
}

// maxTickBytes is the largest result from [Port.TickBytes].
const maxTickBytes = 256 * 12

// suspicious reports whether a port may exceed a limit, by the sums over all ports.
func (l *Limits) suspicious(total *Sample) bool {
	for _, c := range bySeverity {
		v, ok := total.Value(c)
		switch {
		case !ok:
		case c == XmitWait && !l.Thresholds.IsGiven(c):
			if v.N >= minLost/maxTickBytes {
				return true
			}
		case v.Saturated(), l.exceeds(c, v.N, false):
			return true
		}
	}
	return false
}

// details selects the attributes that explain a port's errors. For a window it selects the
// attributes for all errors, because both samples need them.
func (l *Limits) details(p *Port, inWindow bool) (set DetailSet) {
	above := func(c Counter) bool {
		v, ok := p.Now.Value(c)
		return ok && (v.N > 0 && inWindow || v.Saturated() || l.exceeds(c, v.N, false))
	}
	if above(RcvErrors) {
		set |= RcvErrorDetails
	}
	if above(XmitDiscards) {
		set |= XmitDiscardDetails
	}
	if above(SymbolErrors) || above(LinkErrorRecovery) {
		set |= FECDetails
	}
	if v, ok := p.Now.Value(XmitWait); ok && v.N > 0 {
		set |= TickDetails
	}
	if d := p.Delta(); d != nil {
		if ch, ok := d.Change(LinkDowned); ok && ch.Increase > 0 || p.state != nil {
			set |= LinkDetails
		}
	}
	return set
}
