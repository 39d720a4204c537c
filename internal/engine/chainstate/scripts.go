package chainstate

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/cores"
)

// shareInputs is how many inputs a core takes at a time.
const shareInputs = 16

// runScripts executes the scripts of the block's inputs on all cores.
func (c *connecting) runScripts() error {
	why := c.whyScripts()
	c.logScripts(why)
	if why == "" || len(c.spent) == 0 {
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
	return reject(fmt.Sprintf("block-script-verify-flag-failed (%v)", c.net.ScriptError(err)), fmt.Sprintf(
		"input %d of %v (wtxid %v), spending %v:%d", input, c.b.IDs[tx], c.b.WitnessIDs[tx], of.Hash, of.Index))
}

// noBlockYet is there instead of a reason to execute scripts before the first block.
const noBlockYet = "no block yet"

// logScripts writes a line where scripts begin or cease to be executed.
func (c *connecting) logScripts(why string) {
	last := c.scripts
	c.scripts = why
	info := func(format string, args ...any) { corelog.Printf(c.log, slog.LevelInfo, format, args...) }
	switch old := c.net.Answers.OldLog; {
	case old && last == "" && why != "":
		info("Enabling signature validations at block #%d (%v).", c.at.Height, c.b.Hash)
	case old && last != "" && why == "":
		info("Disabling signature validations at block #%d (%v).", c.at.Height, c.b.Hash)
	case old || last == why || c.hidden:
	case why == "":
		info("Disabling script verification at block #%d (%v).", c.at.Height, c.b.Hash)
	default:
		info("Enabling script verification at block #%d (%v): %s.", c.at.Height, c.b.Hash, why)
	}
}

// assumedLag is for how long the best chain must have gone on, at its present
// difficulty, after a block whose scripts are not executed.
const assumedLag = 14 * 24 * time.Hour

// whyScripts returns why the scripts of the block have to be executed; nothing where they need not be. Then the block
// is an ancestor of the block that is assumed to be valid, in the best chain of headers. The work on top must be so
// much that nobody made it for the purpose; a block without its witnesses does not need that work.
func (c *connecting) whyScripts() string {
	best := c.choice.Header()
	switch assumed := c.tree.Lookup(&c.net.AssumeValid); {
	case c.net.AssumeValid == (chainhash.Hash{}):
		return "assumevalid=0 (always verify)"
	case assumed == nil:
		return "assumevalid hash not in headers"
	case c.at.Height > assumed.Height:
		return "block height above assumevalid height"
	case assumed.Ancestor(c.at.Height) != c.at:
		return "block not in assumevalid chain"
	case best.Ancestor(c.at.Height) != c.at:
		return "block not in best header chain"
	case !hasWork(c.Engine, best):
		return "best header chainwork below minimumchainwork"
	}
	if c.at.Status()&chainview.Stripped != 0 && c.b.start+c.b.Stripped == len(c.b.raw) {
		return "" // there is nothing to execute them with
	}
	if equivalentTime(best, c.at, c.net.Params.TargetTimePerBlock) <= assumedLag {
		return "block too recent relative to best header"
	}
	return ""
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
