package device

import "github.com/ibkit/ibkit/rdmacm"

// Reply returns the reply parameters for a request, for a queue pair. librdmacm does not
// announce flow control from end to end (cma.c, ucma_copy_conn_param_to_kern).
func Reply(request rdmacm.ConnParam, qpn uint32) rdmacm.ConnParam {
	p := rdmacm.DefaultParam
	p.FlowControl = false
	p.QPN = qpn
	p.ResponderResources = min(p.ResponderResources, request.ResponderResources)
	p.InitiatorDepth = min(p.InitiatorDepth, request.InitiatorDepth)
	return p
}
