#include "textflag.h"

// The assembler has FENCE with all four sets of accesses only.
// func storeBarrier()
TEXT ·storeBarrier(SB), NOSPLIT, $0-0
	FENCE
	RET

// func deviceBarrier()
TEXT ·deviceBarrier(SB), NOSPLIT, $0-0
	FENCE
	RET
