package verbs

import "github.com/ibkit/ibkit/internal/uapi"

// commandNames are the names of the write(2) commands by number: IB_USER_VERBS_CMD_*
// (<rdma/ib_user_verbs.h>) without the prefix.
var commandNames = [...]string{
	"GET_CONTEXT", "QUERY_DEVICE", "QUERY_PORT", "ALLOC_PD", "DEALLOC_PD",
	"CREATE_AH", "MODIFY_AH", "QUERY_AH", "DESTROY_AH", "REG_MR",
	"REG_SMR", "REREG_MR", "QUERY_MR", "DEREG_MR", "ALLOC_MW",
	"BIND_MW", "DEALLOC_MW", "CREATE_COMP_CHANNEL", "CREATE_CQ", "RESIZE_CQ",
	"DESTROY_CQ", "POLL_CQ", "PEEK_CQ", "REQ_NOTIFY_CQ", "CREATE_QP",
	"QUERY_QP", "MODIFY_QP", "DESTROY_QP", "POST_SEND", "POST_RECV",
	"ATTACH_MCAST", "DETACH_MCAST", "CREATE_SRQ", "MODIFY_SRQ", "QUERY_SRQ",
	"DESTROY_SRQ", "POST_SRQ_RECV", "OPEN_XRCD", "CLOSE_XRCD", "CREATE_XSRQ",
	"OPEN_QP",
}

// extendedNames are the extended commands' names: IB_USER_VERBS_EX_CMD_*
// without IB_USER_VERBS_CMD_.
var extendedNames = []struct {
	number uint32
	name   string
}{
	{uapi.CmdExQueryDevice, "EX_QUERY_DEVICE"},
	{uapi.CmdExCreateCQ, "EX_CREATE_CQ"},
	{uapi.CmdExCreateQP, "EX_CREATE_QP"},
	{uapi.CmdExModifyQP, "EX_MODIFY_QP"},
	{uapi.CmdExCreateFlow, "EX_CREATE_FLOW"},
	{uapi.CmdExDestroyFlow, "EX_DESTROY_FLOW"},
	{uapi.CmdExCreateWQ, "EX_CREATE_WQ"},
	{uapi.CmdExModifyWQ, "EX_MODIFY_WQ"},
	{uapi.CmdExDestroyWQ, "EX_DESTROY_WQ"},
	{uapi.CmdExCreateRWQIndTable, "EX_CREATE_RWQ_IND_TBL"},
	{uapi.CmdExDestroyRWQIndTable, "EX_DESTROY_RWQ_IND_TBL"},
	{uapi.CmdExModifyCQ, "EX_MODIFY_CQ"},
}

// writeCommands is the Method.Object for commands.
const writeCommands = "WRITE"

// knownMethods returns all methods and commands in the name tables.
func knownMethods() []Method {
	var all []Method
	for object, methods := range methodNames {
		for number, name := range methods {
			all = append(all, Method{
				Object: objectNames[object],
				Name:   name,
				object: uint16(object),
				number: uint32(number),
			})
		}
	}
	for number, name := range commandNames {
		all = append(all, Method{Object: writeCommands, Name: name, command: true, number: uint32(number)})
	}
	for _, c := range extendedNames {
		all = append(all, Method{Object: writeCommands, Name: c.name, command: true, number: c.number})
	}
	return all
}
