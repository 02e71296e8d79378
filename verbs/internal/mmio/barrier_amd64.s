#include "textflag.h"

// func DeviceBarrier()
TEXT ·DeviceBarrier(SB), NOSPLIT, $0-0
	SFENCE
	RET
