package perftestview

// WriteIterations is the default number of iterations of ib_write_bw.
const WriteIterations = 5000
