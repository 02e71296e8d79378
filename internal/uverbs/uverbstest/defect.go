package uverbstest

// A Defect is what an [Adapter] does wrong.
type Defect int

// The defects.
const (
	NoDefect          Defect = iota
	WrongPayload             // the last received data byte is wrong
	Overrun                  // a byte is written after received data
	WrongID                  // receive completions have another work request's ID
	WrongQPN                 // completions have another queue pair's number
	WrongOpcode              // send completions have a receive opcode
	WrongLength              // receive completions report a byte too many
	WrongImmediate           // immediate data has another byte order
	NoImmediate              // completions have no immediate data flag
	NoGRH                    // datagram completions have no header flag
	WrongSource              // datagram completions have another source
	AnyRKey                  // remote keys, rights and ranges are not checked
	AnyLKey                  // local keys and ranges are not checked
	AnyAccess                // queue pair rights are not checked
	AnyQKey                  // Q_Keys are not checked
	AnyLength                // messages longer than the receive are cut
	NoFlush                  // work requests after a failed request are not flushed
	NoErrorState             // queue pairs stay in RTS after a failed work request
	WrongState               // queries return RTS for the error state
	DroppedAtomic            // atomics return the value, but do not change it
	WrongAtomic              // atomics return the new value
	IgnoredInvalidate        // invalidated keys remain valid
	NoInvalidateKey          // completions have no invalidated key
	LostCompletion           // sends have no completion
	LostEvent                // armed queues and limits cause no event
	AnyEvent                 // a queue armed for solicited completions has events for all
	FailedDestroy            // destroying objects returns EBUSY
)
