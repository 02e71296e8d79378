package uverbstest

// A Defect is what an [Adapter] does wrong.
type Defect int

// The defects.
const (
	NoDefect          Defect = iota
	WrongPayload             // the last byte of received data is wrong
	Overrun                  // a byte is written after received data
	WrongID                  // completions of receives have the ID of another work request
	WrongQPN                 // completions have the number of another queue pair
	WrongOpcode              // completions of sends have the opcode of a receive
	WrongLength              // completions of receives have one byte too many
	WrongImmediate           // immediate data has another byte order
	NoImmediate              // completions have no flag of immediate data
	NoGRH                    // completions of datagrams have no flag of the header
	WrongSource              // completions of datagrams have another source
	AnyRKey                  // remote keys, rights and ranges are not checked
	AnyLKey                  // local keys and ranges are not checked
	AnyAccess                // rights of queue pairs are not checked
	AnyQKey                  // Q_Keys are not checked
	AnyLength                // messages longer than the receive are cut
	NoFlush                  // work requests after a failed one are not flushed
	NoErrorState             // queue pairs stay in RTS after a failed work request
	WrongState               // queries return RTS for the error state
	DroppedAtomic            // atomics return the value, but do not change it
	WrongAtomic              // atomics return the new value
	IgnoredInvalidate        // invalidated keys remain valid
	NoInvalidateKey          // completions have no invalidated key
	LostCompletion           // sends have no completion
	LostEvent                // armed queues and limits cause no event
	AnyEvent                 // a queue armed for solicited completions has events of all
	FailedDestroy            // the destruction of objects returns EBUSY
)
