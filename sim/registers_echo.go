package sim

import (
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
)

// An echo is a register that mstlink reads, and no part of ibkit: the request's index, and
// zeros after it.
type echo struct {
	size int
	data []uint8
}

// Spec implements [mad.Attribute].
func (e *echo) Spec() mad.Spec {
	return mad.Spec{Class: mad.ClassMlnx, ID: mad.AttrMlnxRegister, Size: e.size}
}

// Layout implements [mad.Attribute].
func (e *echo) Layout(c *mad.Codec) { mad.Array(c, e.data, 0, 8, "Data", mad.Bytes) }

// echoAgent answers with a size in bytes, and values by offset.
func echoAgent(size int, values map[int]uint8) registerAgent {
	return func(_ *Fabric, _ *Node, request []byte) (mad.Attribute, register.AccessStatus) {
		const index = 4
		e := &echo{size: size, data: make([]uint8, size)}
		copy(e.data[:index], request)
		for at, v := range values {
			e.data[at] |= v
		}
		return e, 0
	}
}
