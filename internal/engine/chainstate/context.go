package chainstate

import (
	"bytes"

	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
)

// checkPlace checks what of a block depends on the headers before it (Core's
// ContextualCheckBlock).
func (c *checks) checkPlace(b *block, parent *chainview.Block) error {
	height := parent.Height + 1
	cutoff := b.Timestamp.Unix()
	if c.net.Active("csv", height) {
		cutoff = parent.MedianTimePast()
	}
	for _, tx := range b.List {
		if !consensus.Final(tx, height, cutoff) {
			return reject("bad-txns-nonfinal", "non-final transaction")
		}
	}
	if c.net.Active("bip34", height) {
		push, err := txscript.NewScriptBuilder().AddInt64(int64(height)).Script()
		if err != nil || !bytes.HasPrefix(b.List[0].TxIn[0].SignatureScript, push) {
			return reject("bad-cb-height", "block height mismatch in coinbase")
		}
	}
	if v := b.CheckWitnesses(c.net.Active("segwit", height)); v != nil {
		return reject(v.Reason, v.Debug)
	}
	if b.weight(c.rules.WitnessScale) > c.rules.MaxWeight {
		return reject("bad-blk-weight", "ContextualCheckBlock : weight limit failed")
	}
	return nil
}
