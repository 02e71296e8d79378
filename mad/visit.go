package mad

// Visit calls visit for each number of a, in the order of the classic dump, and
// stores the result. The arguments are the name in the classic dump, the width in
// bits and the value. The name of an array element includes its index. Keys are passed
// as 0, unless a is that of [WithKeys], and are only stored if the result is not 0.
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
