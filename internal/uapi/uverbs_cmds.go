package uapi

// Commands of <rdma/ib_user_verbs.h> (enum ib_uverbs_write_cmds), which the
// method INVOKE_WRITE carries.
const (
	CmdGetContext = iota // IB_USER_VERBS_CMD_GET_CONTEXT
	CmdQueryDevice
	CmdQueryPort
	CmdAllocPD
	CmdDeallocPD
	CmdCreateAH
	CmdModifyAH
	CmdQueryAH
	CmdDestroyAH
	CmdRegMR
	CmdRegSMR
	CmdReregMR
	CmdQueryMR
	CmdDeregMR
	CmdAllocMW
	CmdBindMW
	CmdDeallocMW
	CmdCreateCompChannel
	CmdCreateCQ
	CmdResizeCQ
	CmdDestroyCQ
	CmdPollCQ
	CmdPeekCQ
	CmdReqNotifyCQ
	CmdCreateQP
	CmdQueryQP
	CmdModifyQP
	CmdDestroyQP
	CmdPostSend
	CmdPostRecv
	CmdAttachMcast
	CmdDetachMcast
	CmdCreateSRQ
	CmdModifySRQ
	CmdQuerySRQ
	CmdDestroySRQ
	CmdPostSRQRecv
	CmdOpenXRCD
	CmdCloseXRCD
	CmdCreateXSRQ
	CmdOpenQP // IB_USER_VERBS_CMD_OPEN_QP
)

// Extended commands (IB_USER_VERBS_EX_CMD_QUERY_DEVICE and so on) have
// IB_USER_VERBS_CMD_FLAG_EXTENDED set in their number.
const (
	CmdExtended = 0x80000000

	CmdExQueryDevice = CmdExtended | CmdQueryDevice
	CmdExCreateCQ    = CmdExtended | CmdCreateCQ
	CmdExCreateQP    = CmdExtended | CmdCreateQP
	CmdExModifyQP    = CmdExtended | CmdModifyQP
)

// Extended commands that have no plain one, from IB_USER_VERBS_CMD_THRESHOLD on.
const (
	CmdExCreateFlow = CmdExtended | (50 + iota) // IB_USER_VERBS_EX_CMD_CREATE_FLOW
	CmdExDestroyFlow
	CmdExCreateWQ
	CmdExModifyWQ
	CmdExDestroyWQ
	CmdExCreateRWQIndTable
	CmdExDestroyRWQIndTable
	CmdExModifyCQ // IB_USER_VERBS_EX_CMD_MODIFY_CQ
)
