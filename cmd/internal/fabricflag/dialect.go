package fabricflag

// A Dialect is the kind of name that a command goes by. The classic name picks
// the classic view and the classic exit codes, nothing else.
type Dialect int

const (
	Native Dialect = iota
	Classic
)
