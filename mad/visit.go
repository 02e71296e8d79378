package mad

// Visit calls visit for each number in a, in classic dump order, and stores the result.
// The arguments are the name in the classic dump, the width in bits and the value. An
// array element's name includes its index. Keys are passed as 0, unless a comes from
// [WithKeys], and are only stored if the result is not 0.
func Visit(a Attribute, visit func(name string, width int, v uint64) uint64) {
	c, a := start(visiting, a)
	c.visit = visit
	a.Layout(c)
	c.release()
}

// visited returns the value that a visit stores.
func (c *Codec) visited(name string, v uint64, width int, secret bool) uint64 {
	if !secret || c.reveal {
		return c.visit(name, width, v)
	}
	if set := c.visit(name, width, 0); set != 0 {
		return set
	}
	return v
}
