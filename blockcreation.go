package trawl

import (
	"cmp"
	"fmt"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/method/mining"
)

// blockMinTxFee is Core 30.2's default fee rate of transactions in blocks made here,
// for 1000 virtual bytes.
const blockMinTxFee = 1

// BlockCreationConfig says how the blocks are put together that the node makes, or
// gives templates of.
type BlockCreationConfig struct {
	MaxWeight      *int64 // of a block; default: what the rules allow
	ReservedWeight *int64 // for the header and the coinbase; default: the network's, 8000 on Bitcoin's
	MinTxFee       *int64 // of a transaction, for 1000 virtual bytes; default 1
	Version        *int32 // of the blocks of a regtest; default: one that votes for what can be voted for
}

// check refuses what no block can be.
func (c *BlockCreationConfig) check(n *dialect.Network) error {
	limit := n.Rules.MaxWeight
	if c.MaxWeight != nil && *c.MaxWeight > limit {
		return refused("Specified -blockmaxweight (%d) exceeds consensus maximum block weight (%d)", *c.MaxWeight, limit)
	}
	reserved := c.reserved(n)
	if reserved > limit {
		return refused("Specified -blockreservedweight (%d) exceeds consensus maximum block weight (%d)", reserved, limit)
	}
	if reserved < n.LeastReserved {
		return refused("Specified -blockreservedweight (%d) is lower than minimum safety value of (%d)", reserved, n.LeastReserved)
	}
	return nil
}

func refused(format string, args ...any) error { return StartError(fmt.Sprintf(format, args...)) }

func (c *BlockCreationConfig) reserved(n *dialect.Network) int64 {
	return *cmp.Or(c.ReservedWeight, &n.ReservedWeight)
}

// limits are what the methods about mining are told. A limit below what is reserved
// makes blocks without transactions, a negative one none.
func (c *BlockCreationConfig) limits(n *dialect.Network) mining.Blocks {
	b := mining.Blocks{
		MaxWeight: n.Rules.MaxWeight, Reserved: c.reserved(n),
		MinTxFee: jsontree.Amount(*cmp.Or(c.MinTxFee, new(int64(blockMinTxFee)))),
	}
	if c.MaxWeight != nil && *c.MaxWeight >= 0 {
		b.MaxWeight = max(*c.MaxWeight, b.Reserved)
	}
	return b
}
