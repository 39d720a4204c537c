package chainstate

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"time"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/cores"
)

// shareInputs is how many inputs a core takes at a time.
const shareInputs = 16

// runScripts executes the scripts of the block's inputs on all cores.
func (c *connecting) runScripts() error {
	checked := !c.assumedValid()
	if checked != c.scripts {
		c.scripts = checked
		word := "Disabling"
		if checked {
			word = "Enabling"
		}
		corelog.Printf(
			c.log, slog.LevelInfo, "%s signature validations at block #%d (%v).", word, c.at.Height, c.b.Hash,
		)
	}
	if !checked || len(c.spent) == 0 {
		return nil
	}
	spends, owners := c.spends()
	return cores.DoIn(context.Background(), nil, len(owners), shareInputs, func(from, to int) error {
		for i := from; i < to; i++ {
			o := owners[i]
			if err := spends[o.tx].VerifyInput(int(o.input), c.flags); err != nil {
				return c.scriptError(int(o.tx)+1, int(o.input), err)
			}
		}
		return nil
	})
}

// owner is the transaction of an input, counted without the coinbase, and its number
// there.
type owner struct{ tx, input int32 }

func (c *connecting) spends() (spends []Spend, owners []owner) {
	txs := c.b.List[1:]
	spends, owners = make([]Spend, len(txs)), make([]owner, 0, len(c.spent))
	from := 0
	for t, tx := range txs {
		to := from + len(tx.TxIn)
		spends[t] = c.kind.Scripts.Spend(tx, c.spent[from:to:to], c.at)
		for i := range tx.TxIn {
			owners = append(owners, owner{int32(t), int32(i)})
		}
		from = to
	}
	return spends, owners
}

func (c *connecting) scriptError(tx, input int, err error) error {
	of := c.b.List[tx].TxIn[input].PreviousOutPoint
	return reject(fmt.Sprintf("block-script-verify-flag-failed (%v)", err), fmt.Sprintf(
		"input %d of %v (wtxid %v), spending %v:%d", input, c.b.IDs[tx], c.b.WitnessIDs[tx], of.Hash, of.Index))
}

// assumedLag is for how long the best chain must have gone on, at its present
// difficulty, after a block whose scripts are not executed.
const assumedLag = 14 * 24 * time.Hour

// assumedValid reports whether the scripts of the block need not be executed. The
// block must be an ancestor of the block that is assumed to be valid, in the best
// chain of headers. The work on top must be so much that nobody made it for the
// purpose; a block without its witnesses does not need that work.
func (c *connecting) assumedValid() bool {
	if !isAssumedAncestor(c.Engine, c.at) {
		return false
	}
	if c.at.Status()&chainview.Stripped != 0 && c.b.start+c.b.Stripped == len(c.b.raw) {
		return true // there is nothing to execute them with
	}
	return equivalentTime(c.choice.Header(), c.at, c.net.Params.TargetTimePerBlock) > assumedLag
}

// equivalentTime is how long the work from one block to a later one takes at the
// difficulty of the later.
func equivalentTime(to, from *chainview.Block, spacing time.Duration) time.Duration {
	work := new(big.Int).Sub(to.Work(), from.Work())
	work.Mul(work, big.NewInt(int64(spacing/time.Second)))
	work.Div(work, consensus.TargetWork(to.Bits()))
	if !work.IsInt64() || work.Int64() > math.MaxInt64/int64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(work.Int64()) * time.Second
}
