package dialect

import "github.com/seed61375155/trawl/internal/txpool/feeestimate"

// Fees is how nodes of a network estimate fee rates.
type Fees struct {
	Form feeestimate.Form

	// DebugSaved has a line in the log about saved estimates for those who debug estimates alone, with the whole path
	// of the file. Else it is for all, and names the file.
	DebugSaved bool

	// NextBlock has estimates by the chunks that the pool has for the next block, where they are asked for.
	NextBlock bool
}
