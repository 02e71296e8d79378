#include "textflag.h"

// The assembler has FENCE with all four sets of accesses only.
// func StoreBarrier()
TEXT ·StoreBarrier(SB), NOSPLIT, $0-0
	FENCE
	RET

// func DeviceBarrier()
TEXT ·DeviceBarrier(SB), NOSPLIT, $0-0
	FENCE
	RET
