package miningrpc

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// blockMinTxFee is Core 30.2's default fee rate of transactions in blocks made here,
// for 1000 virtual bytes.
const blockMinTxFee = 1

// Choices are an operator's settings for the blocks that the node makes or gives templates of; nil stands for the
// default.
type Choices struct {
	MaxWeight      *int64 // of a block; default: what the rules allow
	ReservedWeight *int64 // for the header and the coinbase; default: the network's, 8000 on Bitcoin's
	MinTxFee       *int64 // of a transaction, for 1000 virtual bytes; default 1

	// How long blocks are kept that createauxblock has made, in minutes, and how many of them; 0: without a limit.
	AuxExpiry *int64 // default 60
	AuxLimit  *int64 // default 1024

	// PrintPriority has the fee rate of each transaction of a block or template go to the log, what
	// prioritisetransaction added included.
	PrintPriority bool

	// Version is the version of the blocks of a regtest. Default: a version that votes for everything that can be
	// voted for. The engine uses it, this package does not.
	Version *int32
}

// Check refuses what no block can be, with a [messages.StartError].
func (c *Choices) Check(n *dialect.Network) error {
	if err := c.checkWeights(n); err != nil {
		return err
	}
	if n.MergedMining == nil {
		return nil
	}
	if kept := c.AuxBlocks(); kept.Expiry < 0 {
		return refused("-auxpowtemplateexpiry must be greater or equal than zero")
	} else if kept.Limit < 0 {
		return refused("-auxpowtemplatecachelimit must be greater or equal than zero")
	}
	return nil
}

// checkWeights refuses weights of blocks. Core 30.2 looks at the most of them first, Core 32 last.
func (c *Choices) checkWeights(n *dialect.Network) error {
	const tooMuch = " (%d) exceeds consensus maximum block weight (%d)"
	limit, reserved, most, begin := n.Rules.MaxWeight, c.reserved(n), n.Rules.MaxWeight, ""
	if c.MaxWeight != nil {
		most = *c.MaxWeight
	}
	if n.Answers.BlocksBelowReserve {
		if begin = "Specified "; most > limit {
			return refused(begin+"-blockmaxweight"+tooMuch, most, limit)
		}
	} else {
		reserved, most = max(reserved, 0), max(most, 0) // Core 32 reads what is negative as 0
	}
	switch {
	case reserved > limit:
		return refused(begin+"-blockreservedweight"+tooMuch, reserved, limit)
	case reserved < n.LeastReserved:
		return refused(
			begin+"-blockreservedweight (%d) is lower than minimum safety value of (%d)", reserved, n.LeastReserved,
		)
	case most > limit:
		return refused("-blockmaxweight"+tooMuch, most, limit)
	case reserved > most && !n.Answers.BlocksBelowReserve:
		return refused("-blockreservedweight (%d) exceeds -blockmaxweight (%d)", reserved, most)
	}
	return nil
}

// AuxBlocks are for how long, and how many, blocks for merged mining are kept.
func (c *Choices) AuxBlocks() nodemsg.AuxBlocks {
	const most = math.MaxInt64 / int64(time.Minute)
	minutes := *cmp.Or(c.AuxExpiry, new(int64(auxExpiry)))
	return nodemsg.AuxBlocks{
		Expiry: time.Duration(min(minutes, most)) * time.Minute, Limit: *cmp.Or(c.AuxLimit, new(int64(auxLimit))),
	}
}

const (
	auxExpiry = 60 // minutes
	auxLimit  = 1024
)

func refused(format string, args ...any) error {
	return messages.StartError(fmt.Sprintf(format, args...))
}

func (c *Choices) reserved(n *dialect.Network) int64 {
	return *cmp.Or(c.ReservedWeight, &n.ReservedWeight)
}

// Limits are what the methods about mining are told. A limit below what is reserved
// makes blocks without transactions, a negative one none.
func (c *Choices) Limits(n *dialect.Network) Blocks {
	b := Blocks{
		MaxWeight: n.Rules.MaxWeight, Reserved: c.reserved(n),
		MinTxFee: jsontree.Amount(*cmp.Or(c.MinTxFee, new(int64(blockMinTxFee)))),
		Log:      c.PrintPriority,
	}
	if c.MaxWeight != nil && *c.MaxWeight >= 0 {
		b.MaxWeight = max(*c.MaxWeight, b.Reserved)
	}
	return b
}
