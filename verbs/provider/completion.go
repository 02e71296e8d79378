package provider

import (
	"strconv"

	"github.com/ibkit/ibkit/ib"
)

// A Completion is a work request's result (struct ib_uverbs_wc). Unless Status
// is StatusOK, only ID, Status, QPN and VendorErr are valid.
type Completion struct {
	ID        uint64
	Status    Status
	Opcode    CompletionOpcode
	VendorErr uint32
	ByteLen   uint32 // bytes received or read, with a datagram's 40-byte GRH
	Imm       uint32 // with CompletionWithImm; host byte order
	InvKey    uint32 // with CompletionWithInv: the key that the sender invalidated
	QPN       uint32 // local queue pair
	SrcQPN    uint32 // datagram's sender
	Flags     CompletionFlags
	PKeyIndex uint16
	SLID      ib.LID
	SL        uint8
	PathBits  uint8
}

// Status is a work request's result code (the kernel's enum ib_wc_status).
type Status uint8

// The result codes.
const (
	StatusOK             Status = 0
	StatusLocalLength    Status = 1
	StatusLocalQPOp      Status = 2
	StatusLocalEECOp     Status = 3
	StatusLocalProt      Status = 4
	StatusFlushed        Status = 5
	StatusMWBind         Status = 6
	StatusBadResponse    Status = 7
	StatusLocalAccess    Status = 8
	StatusRemoteInvalid  Status = 9
	StatusRemoteAccess   Status = 10
	StatusRemoteOp       Status = 11
	StatusRetryExceeded  Status = 12
	StatusRNRExceeded    Status = 13
	StatusLocalRDD       Status = 14
	StatusRemoteInvalRDD Status = 15
	StatusRemoteAborted  Status = 16
	StatusInvalidEEC     Status = 17
	StatusInvalidEECCtx  Status = 18
	StatusFatal          Status = 19
	StatusRespTimeout    Status = 20
	StatusGeneral        Status = 21
)

var statusNames = [...]string{
	"success", "local length error", "local QP operation error", "local EE context operation error",
	"local protection error", "work request flushed", "memory window bind error", "bad response",
	"local access error", "remote invalid request", "remote access error", "remote operation error",
	"transport retries exceeded", "RNR retries exceeded", "local RDD violation", "remote invalid RD request",
	"remote abort", "invalid EE context number", "invalid EE context state", "fatal error", "response timeout",
	"general error",
}

// String returns the status as text.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "status " + decimal(uint(s))
}

// CompletionOpcode is a completed work request's operation (enum
// ib_uverbs_wc_opcode).
type CompletionOpcode uint8

// The completed work request operations.
const (
	CompletedSend            CompletionOpcode = 0
	CompletedWrite           CompletionOpcode = 1
	CompletedRead            CompletionOpcode = 2
	CompletedCompareSwap     CompletionOpcode = 3
	CompletedFetchAdd        CompletionOpcode = 4
	CompletedBindMW          CompletionOpcode = 5
	CompletedLocalInvalidate CompletionOpcode = 6
	CompletedRecv            CompletionOpcode = 128
	CompletedRecvWriteImm    CompletionOpcode = 129
)

// Received reports whether the work request came from a receive queue.
func (o CompletionOpcode) Received() bool { return o&CompletedRecv != 0 }

// CompletionFlags mark a Completion's valid optional fields (enum
// ibv_wc_flags in libibverbs).
type CompletionFlags uint8

// A Completion's flags.
const (
	CompletionGRH     CompletionFlags = 1 << 0 // a datagram buffer's first 40 bytes are a GRH
	CompletionWithImm CompletionFlags = 1 << 1
	CompletionWithInv CompletionFlags = 1 << 3
)

func decimal(v uint) string { return strconv.FormatUint(uint64(v), 10) }
