package rdmanl

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The constants are as a C compiler reads them from <rdma/rdma_netlink.h> in
// linux-libc-dev 6.12, printed by testdata/nldev.c.
func TestConstants(t *testing.T) {
	text, err := os.ReadFile("testdata/nldev.txt")
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]int{
		"RDMA_NL_NLDEV":                   nldev,
		"CMD_GET":                         cmdGet,
		"CMD_NEWLINK":                     cmdNewLink,
		"CMD_DELLINK":                     cmdDelLink,
		"CMD_PORT_GET":                    cmdPortGet,
		"CMD_RES_QP_GET":                  cmdResQPGet,
		"CMD_RES_CM_ID_GET":               cmdResCMIDGet,
		"CMD_RES_CQ_GET":                  cmdResCQGet,
		"CMD_RES_MR_GET":                  cmdResMRGet,
		"CMD_RES_PD_GET":                  cmdResPDGet,
		"CMD_GET_CHARDEV":                 cmdGetChardev,
		"CMD_STAT_SET":                    cmdStatSet,
		"CMD_STAT_GET":                    cmdStatGet,
		"CMD_RES_CTX_GET":                 cmdResCtxGet,
		"CMD_RES_SRQ_GET":                 cmdResSRQGet,
		"CMD_STAT_GET_STATUS":             cmdStatStatus,
		"ATTR_DEV_INDEX":                  attrDevIndex,
		"ATTR_DEV_NAME":                   attrDevName,
		"ATTR_PORT_INDEX":                 attrPortIndex,
		"ATTR_FW_VERSION":                 attrFWVersion,
		"ATTR_NODE_GUID":                  attrNodeGUID,
		"ATTR_SYS_IMAGE_GUID":             attrSysImageGUID,
		"ATTR_LID":                        attrLID,
		"ATTR_SM_LID":                     attrSMLID,
		"ATTR_LMC":                        attrLMC,
		"ATTR_PORT_STATE":                 attrPortState,
		"ATTR_PORT_PHYS_STATE":            attrPortPhysState,
		"ATTR_DEV_NODE_TYPE":              attrDevNodeType,
		"ATTR_RES_QP":                     attrResQP,
		"ATTR_RES_LQPN":                   attrResQPN,
		"ATTR_RES_RQPN":                   attrResRemoteQPN,
		"ATTR_RES_RQ_PSN":                 attrResRQPSN,
		"ATTR_RES_SQ_PSN":                 attrResSQPSN,
		"ATTR_RES_PATH_MIG_STATE":         attrResPathMig,
		"ATTR_RES_TYPE":                   attrResType,
		"ATTR_RES_STATE":                  attrResState,
		"ATTR_RES_PID":                    attrResPID,
		"ATTR_RES_KERN_NAME":              attrResKernelName,
		"ATTR_RES_CM_ID":                  attrResCMID,
		"ATTR_RES_PS":                     attrResPortSpace,
		"ATTR_RES_SRC_ADDR":               attrResSource,
		"ATTR_RES_DST_ADDR":               attrResDestination,
		"ATTR_RES_CQ":                     attrResCQ,
		"ATTR_RES_CQE":                    attrResCQE,
		"ATTR_RES_USECNT":                 attrResUsers,
		"ATTR_RES_POLL_CTX":               attrResPollContext,
		"ATTR_RES_MR":                     attrResMR,
		"ATTR_RES_RKEY":                   attrResRKey,
		"ATTR_RES_LKEY":                   attrResLKey,
		"ATTR_RES_MRLEN":                  attrResMRLength,
		"ATTR_RES_PD":                     attrResPD,
		"ATTR_RES_LOCAL_DMA_LKEY":         attrResLocalDMALKey,
		"ATTR_RES_UNSAFE_GLOBAL_RKEY":     attrResGlobalRKey,
		"ATTR_NDEV_INDEX":                 attrNetdevIndex,
		"ATTR_NDEV_NAME":                  attrNetdevName,
		"ATTR_RES_PDN":                    attrResPDN,
		"ATTR_RES_CQN":                    attrResCQN,
		"ATTR_RES_MRN":                    attrResMRN,
		"ATTR_RES_CM_IDN":                 attrResCMIDN,
		"ATTR_RES_CTXN":                   attrResContextN,
		"ATTR_LINK_TYPE":                  attrLinkType,
		"ATTR_DEV_PROTOCOL":               attrProtocol,
		"ATTR_CHARDEV_TYPE":               attrChardevType,
		"ATTR_CHARDEV_NAME":               attrChardevName,
		"ATTR_UVERBS_DRIVER_ID":           attrUVerbsDriverID,
		"ATTR_STAT_MODE":                  attrStatMode,
		"ATTR_STAT_RES":                   attrStatResource,
		"ATTR_STAT_COUNTER":               attrStatCounter,
		"ATTR_STAT_COUNTER_ID":            attrStatCounterID,
		"ATTR_STAT_HWCOUNTERS":            attrStatHWCounters,
		"ATTR_STAT_HWCOUNTER_ENTRY_NAME":  attrStatHWName,
		"ATTR_STAT_HWCOUNTER_ENTRY_VALUE": attrStatHWValue,
		"ATTR_DEV_DIM":                    attrDIM,
		"ATTR_RES_CTX":                    attrResContext,
		"ATTR_RES_SRQ":                    attrResSRQ,
		"ATTR_RES_SRQN":                   attrResSRQN,
		"ATTR_MIN_RANGE":                  attrMinRange,
		"ATTR_MAX_RANGE":                  attrMaxRange,
		"ATTR_STAT_HWCOUNTER_INDEX":       attrStatHWIndex,
		"ATTR_STAT_HWCOUNTER_DYNAMIC":     attrStatHWDynamic,
		"ATTR_DEV_TYPE":                   attrDevType,
		"ATTR_PARENT_NAME":                attrParentName,
	}
	for line := range strings.Lines(string(text)) {
		var name string
		var want int
		if _, err := fmt.Sscan(line, &name, &want); err != nil {
			t.Fatal(err)
		}
		got, ok := constants[name]
		if !ok || got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
		delete(constants, name)
	}
	for name := range constants {
		t.Errorf("%s: not printed by the C program", name)
	}
}
