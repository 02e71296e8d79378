#include "textflag.h"

// func deviceBarrier()
TEXT ·deviceBarrier(SB), NOSPLIT, $0-0
	SFENCE
	RET
