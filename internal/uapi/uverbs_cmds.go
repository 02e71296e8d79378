package uapi

// Commands of <rdma/ib_user_verbs.h> (enum ib_uverbs_write_cmds), which the
// method INVOKE_WRITE carries.
const (
	CmdGetContext        = 0  // IB_USER_VERBS_CMD_GET_CONTEXT
	CmdQueryDevice       = 1  // IB_USER_VERBS_CMD_QUERY_DEVICE
	CmdQueryPort         = 2  // IB_USER_VERBS_CMD_QUERY_PORT
	CmdAllocPD           = 3  // IB_USER_VERBS_CMD_ALLOC_PD
	CmdCreateAH          = 5  // IB_USER_VERBS_CMD_CREATE_AH
	CmdRegMR             = 9  // IB_USER_VERBS_CMD_REG_MR
	CmdAllocMW           = 14 // IB_USER_VERBS_CMD_ALLOC_MW
	CmdCreateCompChannel = 17 // IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL
	CmdResizeCQ          = 19 // IB_USER_VERBS_CMD_RESIZE_CQ
	CmdPollCQ            = 21 // IB_USER_VERBS_CMD_POLL_CQ
	CmdReqNotifyCQ       = 23 // IB_USER_VERBS_CMD_REQ_NOTIFY_CQ
	CmdQueryQP           = 25 // IB_USER_VERBS_CMD_QUERY_QP
	CmdModifyQP          = 26 // IB_USER_VERBS_CMD_MODIFY_QP
	CmdPostSend          = 28 // IB_USER_VERBS_CMD_POST_SEND
	CmdAttachMcast       = 30 // IB_USER_VERBS_CMD_ATTACH_MCAST
	CmdDetachMcast       = 31 // IB_USER_VERBS_CMD_DETACH_MCAST
	CmdModifySRQ         = 33 // IB_USER_VERBS_CMD_MODIFY_SRQ
	CmdQuerySRQ          = 34 // IB_USER_VERBS_CMD_QUERY_SRQ
	CmdOpenXRCD          = 37 // IB_USER_VERBS_CMD_OPEN_XRCD
	CmdOpenQP            = 40 // IB_USER_VERBS_CMD_OPEN_QP
)

// CmdExtended is IB_USER_VERBS_CMD_FLAG_EXTENDED: set in the numbers of extended commands.
const CmdExtended = 0x80000000

// Extended commands.
const (
	CmdExQueryDevice        = CmdExtended | 1  // IB_USER_VERBS_EX_CMD_QUERY_DEVICE
	CmdExCreateCQ           = CmdExtended | 18 // IB_USER_VERBS_EX_CMD_CREATE_CQ
	CmdExCreateQP           = CmdExtended | 24 // IB_USER_VERBS_EX_CMD_CREATE_QP
	CmdExModifyQP           = CmdExtended | 26 // IB_USER_VERBS_EX_CMD_MODIFY_QP
	CmdExCreateFlow         = CmdExtended | 50 // IB_USER_VERBS_EX_CMD_CREATE_FLOW
	CmdExDestroyFlow        = CmdExtended | 51 // IB_USER_VERBS_EX_CMD_DESTROY_FLOW
	CmdExCreateWQ           = CmdExtended | 52 // IB_USER_VERBS_EX_CMD_CREATE_WQ
	CmdExModifyWQ           = CmdExtended | 53 // IB_USER_VERBS_EX_CMD_MODIFY_WQ
	CmdExDestroyWQ          = CmdExtended | 54 // IB_USER_VERBS_EX_CMD_DESTROY_WQ
	CmdExCreateRWQIndTable  = CmdExtended | 55 // IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL
	CmdExDestroyRWQIndTable = CmdExtended | 56 // IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL
	CmdExModifyCQ           = CmdExtended | 57 // IB_USER_VERBS_EX_CMD_MODIFY_CQ
)
