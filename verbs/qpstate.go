package verbs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// QPState is a queue pair state (the kernel's enum ib_qp_state).
type QPState uint8

// The queue pair states.
const (
	QPStateReset QPState = 0
	QPStateInit  QPState = 1
	QPStateRTR   QPState = 2 // ready to receive
	QPStateRTS   QPState = 3 // ready to send
	QPStateSQD   QPState = 4 // the send queue is drained
	QPStateSQE   QPState = 5 // a send failed; not RC
	QPStateError QPState = 6 // posted work requests are flushed
)

var qpStateNames = [...]string{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"}

// String returns the name as rdma resource prints it.
func (s QPState) String() string {
	if int(s) < len(qpStateNames) {
		return qpStateNames[s]
	}
	return "state " + strconv.Itoa(int(s))
}

// ErrState is returned for an operation that the queue pair state does not
// allow.
var ErrState = errors.New("not allowed in state")

// A TransitionError is a queue pair change that the specification does not
// allow (InfiniBand Architecture, volume 1, 11.2.5.2). It is detected without
// calling the kernel.
type TransitionError struct {
	Type     QPType
	From, To QPState
	Missing  []string // required attributes that are not set
	Extra    []string // attributes that this change does not allow
}

func (e *TransitionError) Error() string {
	change := fmt.Sprintf("%v QP from %v to %v", e.Type, e.From, e.To)
	switch {
	case e.Missing != nil:
		return change + " requires " + strings.Join(e.Missing, ", ")
	case e.Extra != nil:
		return change + " does not allow " + strings.Join(e.Extra, ", ")
	}
	return change + ": no such transition"
}

// Is reports ErrState for a transition that does not exist.
func (e *TransitionError) Is(target error) bool {
	return target == ErrState && e.Missing == nil && e.Extra == nil
}

// qpAttrMask is the kernel's enum ib_qp_attr_mask, enum ibv_qp_attr_mask in
// libibverbs.
type qpAttrMask uint32

const (
	maskState qpAttrMask = 1 << iota
	maskCurState
	maskEnableSQDNotify
	maskAccess
	maskPKeyIndex
	maskPort
	maskQKey
	maskPath
	maskPathMTU
	maskTimeout
	maskRetryCount
	maskRNRRetry
	maskRQPSN
	maskMaxRdAtomic
	maskAltPath
	maskMinRNRTimer
	maskSQPSN
	maskMaxDestRdAtomic
	maskPathMigState
	maskCap
	maskDestQPN
)

// qpAttrNames are the QPAttr fields.
var qpAttrNames = []bit[qpAttrMask]{
	{maskCurState, "CurState"}, {maskEnableSQDNotify, "EnableSQDNotify"}, {maskAccess, "Access"},
	{maskPKeyIndex, "PKeyIndex"}, {maskPort, "Port"}, {maskQKey, "QKey"}, {maskPath, "Path"},
	{maskPathMTU, "PathMTU"}, {maskTimeout, "Timeout"}, {maskRetryCount, "RetryCount"},
	{maskRNRRetry, "RNRRetry"}, {maskRQPSN, "RQPSN"}, {maskMaxRdAtomic, "MaxRdAtomic"},
	{maskAltPath, "AltPath"}, {maskMinRNRTimer, "MinRNRTimer"}, {maskSQPSN, "SQPSN"},
	{maskMaxDestRdAtomic, "MaxDestRdAtomic"}, {maskPathMigState, "PathMigState"},
	{maskDestQPN, "DestQPN"},
}

// A transition lists a state change's required and optional attributes,
// except the state.
type transition struct{ needs, takes qpAttrMask }

type stateChange struct{ from, to QPState }

// transitions are the state changes by type, as in qp_state_table in the
// kernel's drivers/infiniband/core/verbs.c. In addition, all states change to RESET,
// and all but RESET to ERR, without attributes.
var transitions = map[QPType]map[stateChange]transition{
	QPTypeRC: {
		{QPStateReset, QPStateInit}: {needs: maskPKeyIndex | maskPort | maskAccess},
		{QPStateInit, QPStateInit}:  {takes: maskPKeyIndex | maskPort | maskAccess},
		{QPStateInit, QPStateRTR}: {
			needs: maskPath | maskPathMTU | maskDestQPN | maskRQPSN | maskMaxDestRdAtomic | maskMinRNRTimer,
			takes: maskAltPath | maskAccess | maskPKeyIndex,
		},
		{QPStateRTR, QPStateRTS}: {
			needs: maskTimeout | maskRetryCount | maskRNRRetry | maskSQPSN | maskMaxRdAtomic,
			takes: maskCurState | maskAltPath | maskAccess | maskMinRNRTimer | maskPathMigState,
		},
		{QPStateRTS, QPStateRTS}: {takes: maskCurState | maskAccess | maskAltPath | maskPathMigState | maskMinRNRTimer},
		{QPStateRTS, QPStateSQD}: {takes: maskEnableSQDNotify},
		{QPStateSQD, QPStateRTS}: {takes: maskCurState | maskAltPath | maskAccess | maskMinRNRTimer | maskPathMigState},
		{QPStateSQD, QPStateSQD}: {
			takes: maskPort | maskPath | maskTimeout | maskRetryCount | maskRNRRetry | maskMaxRdAtomic |
				maskMaxDestRdAtomic | maskAltPath | maskAccess | maskPKeyIndex | maskMinRNRTimer | maskPathMigState,
		},
	},
	QPTypeUC: {
		{QPStateReset, QPStateInit}: {needs: maskPKeyIndex | maskPort | maskAccess},
		{QPStateInit, QPStateInit}:  {takes: maskPKeyIndex | maskPort | maskAccess},
		{QPStateInit, QPStateRTR}: {
			needs: maskPath | maskPathMTU | maskDestQPN | maskRQPSN,
			takes: maskAltPath | maskAccess | maskPKeyIndex,
		},
		{QPStateRTR, QPStateRTS}: {needs: maskSQPSN, takes: maskCurState | maskAltPath | maskAccess | maskPathMigState},
		{QPStateRTS, QPStateRTS}: {takes: maskCurState | maskAccess | maskAltPath | maskPathMigState},
		{QPStateRTS, QPStateSQD}: {takes: maskEnableSQDNotify},
		{QPStateSQD, QPStateRTS}: {takes: maskCurState | maskAltPath | maskAccess | maskPathMigState},
		{QPStateSQD, QPStateSQD}: {takes: maskPath | maskAltPath | maskAccess | maskPKeyIndex | maskPathMigState},
		{QPStateSQE, QPStateRTS}: {takes: maskCurState | maskAccess},
	},
	QPTypeXRCInit: {
		{QPStateReset, QPStateInit}: {needs: maskPKeyIndex | maskPort | maskAccess},
		{QPStateInit, QPStateInit}:  {takes: maskPKeyIndex | maskPort | maskAccess},
		{QPStateInit, QPStateRTR}: {
			needs: maskPath | maskPathMTU | maskDestQPN | maskRQPSN,
			takes: maskAltPath | maskAccess | maskPKeyIndex,
		},
		{QPStateRTR, QPStateRTS}: {
			needs: maskTimeout | maskRetryCount | maskRNRRetry | maskSQPSN | maskMaxRdAtomic,
			takes: maskCurState | maskAltPath | maskAccess | maskPathMigState,
		},
		{QPStateRTS, QPStateRTS}: {takes: maskCurState | maskAccess | maskAltPath | maskPathMigState},
		{QPStateRTS, QPStateSQD}: {takes: maskEnableSQDNotify},
		{QPStateSQD, QPStateRTS}: {takes: maskCurState | maskAltPath | maskAccess | maskPathMigState},
		{QPStateSQD, QPStateSQD}: {
			takes: maskPort | maskPath | maskTimeout | maskRetryCount | maskRNRRetry | maskMaxRdAtomic |
				maskAltPath | maskAccess | maskPKeyIndex | maskPathMigState,
		},
	},
	QPTypeXRCTarget: {
		{QPStateReset, QPStateInit}: {needs: maskPKeyIndex | maskPort | maskAccess},
		{QPStateInit, QPStateInit}:  {takes: maskPKeyIndex | maskPort | maskAccess},
		{QPStateInit, QPStateRTR}: {
			needs: maskPath | maskPathMTU | maskDestQPN | maskRQPSN | maskMaxDestRdAtomic | maskMinRNRTimer,
			takes: maskAltPath | maskAccess | maskPKeyIndex,
		},
		{QPStateRTR, QPStateRTS}: {
			needs: maskTimeout | maskSQPSN,
			takes: maskCurState | maskAltPath | maskAccess | maskMinRNRTimer | maskPathMigState,
		},
		{QPStateRTS, QPStateRTS}: {takes: maskCurState | maskAccess | maskAltPath | maskPathMigState | maskMinRNRTimer},
		{QPStateRTS, QPStateSQD}: {takes: maskEnableSQDNotify},
		{QPStateSQD, QPStateRTS}: {takes: maskCurState | maskAltPath | maskAccess | maskMinRNRTimer | maskPathMigState},
		{QPStateSQD, QPStateSQD}: {
			takes: maskPort | maskPath | maskTimeout | maskMaxDestRdAtomic | maskAltPath | maskAccess | maskPKeyIndex |
				maskMinRNRTimer | maskPathMigState,
		},
	},
	QPTypeUD: {
		{QPStateReset, QPStateInit}: {needs: maskPKeyIndex | maskPort | maskQKey},
		{QPStateInit, QPStateInit}:  {takes: maskPKeyIndex | maskPort | maskQKey},
		{QPStateInit, QPStateRTR}:   {takes: maskPKeyIndex | maskQKey},
		{QPStateRTR, QPStateRTS}:    {needs: maskSQPSN, takes: maskCurState | maskQKey},
		{QPStateRTS, QPStateRTS}:    {takes: maskCurState | maskQKey},
		{QPStateRTS, QPStateSQD}:    {takes: maskEnableSQDNotify},
		{QPStateSQD, QPStateRTS}:    {takes: maskCurState | maskQKey},
		{QPStateSQD, QPStateSQD}:    {takes: maskPKeyIndex | maskQKey},
		{QPStateSQE, QPStateRTS}:    {takes: maskCurState | maskQKey},
	},
	QPTypeSRD: { // srd_qp_state_table in the driver's efa_verbs.c
		{QPStateReset, QPStateInit}: {needs: maskPKeyIndex | maskPort | maskQKey},
		{QPStateInit, QPStateInit}:  {takes: maskPKeyIndex | maskPort | maskQKey},
		{QPStateInit, QPStateRTR}:   {takes: maskPKeyIndex | maskQKey},
		{QPStateRTR, QPStateRTS}:    {needs: maskSQPSN, takes: maskCurState | maskQKey | maskRNRRetry},
		{QPStateRTS, QPStateRTS}:    {takes: maskCurState | maskQKey},
		{QPStateRTS, QPStateSQD}:    {takes: maskEnableSQDNotify},
		{QPStateSQD, QPStateRTS}:    {takes: maskCurState | maskQKey},
		{QPStateSQD, QPStateSQD}:    {takes: maskPKeyIndex | maskQKey},
		{QPStateSQE, QPStateRTS}:    {takes: maskCurState | maskQKey},
	},
}

// iwarpTransitions are the state changes on iWARP. The connection manager of the
// kernel connects a queue pair and changes it to RTS; a change to RTS by the process only
// records that (drivers/infiniband/sw/siw/siw_qp.c, siw_qp_modify). SQD closes the
// connection in order.
var iwarpTransitions = map[stateChange]transition{
	{QPStateReset, QPStateInit}: {takes: maskPort | maskAccess},
	{QPStateInit, QPStateInit}:  {takes: maskPort | maskAccess},
	{QPStateInit, QPStateRTS}:   {},
	{QPStateRTS, QPStateRTS}:    {},
	{QPStateRTS, QPStateSQD}:    {},
	{QPStateSQD, QPStateSQD}:    {},
}

// checkTransition checks a state change with a mask's attributes.
func checkTransition(t QPType, iwarp bool, from, to QPState, mask qpAttrMask) error {
	table := iwarpTransitions
	if !iwarp {
		table = transitions[t]
	}
	known, ok := table[stateChange{from, to}]
	if !ok && to != QPStateReset && (to != QPStateError || from == QPStateReset) {
		return &TransitionError{Type: t, From: from, To: to}
	}
	missing, _ := names(known.needs&^mask, qpAttrNames)
	extra, _ := names(mask&^(known.needs|known.takes), qpAttrNames)
	if missing == nil && extra == nil {
		return nil
	}
	return &TransitionError{Type: t, From: from, To: to, Missing: missing, Extra: extra}
}
