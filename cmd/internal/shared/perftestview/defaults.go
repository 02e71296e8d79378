package perftestview

import (
	"time"
)

// margin is perftest's.
const Margin = 2 * time.Second

// WriteIterations is the default number of iterations of ib_write_bw.
const WriteIterations = 5000
