package txs

import (
	"cmp"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// BlockRef is a block of the active chain without its transactions.
type BlockRef struct {
	Hash    chainhash.Hash
	Height  int32
	Time    int64
	MaxTime int64 // the highest time of the chain up to this block
}

// Block is a block of the active chain.
type Block struct {
	BlockRef

	Txs []*wire.MsgTx
}

// Chain knows the active chain.
type Chain interface {
	// Find returns a block. It is false if it is not in the active chain.
	Find(hash *chainhash.Hash) (BlockRef, bool)
}

// NoChain is a [Chain] of no blocks, for who looks at a wallet without any.
type NoChain struct{}

// Find implements [Chain].
func (NoChain) Find(*chainhash.Hash) (BlockRef, bool) { return BlockRef{}, false }

// Synced tells what a block, or a transaction, did to a wallet.
type Synced struct {
	// Changed is set when a transaction concerned the wallet.
	Changed bool

	// Same are the transactions that concern the wallet and were known as they are.
	Same []chainhash.Hash

	// Save is set when the best block should be saved with the changes.
	Save bool

	// Scripts are those that the wallet has from now on, because the key pool
	// was topped up. They may be in blocks that were looked at before.
	Scripts [][]byte
}

// saveEvery is the number of blocks after which the best block is saved even if
// nothing happened: about a day.
const saveEvery = 144

// ConnectBlock processes the block that follows the tip, and makes it the tip.
// A block that was processed before does no harm. Transactions that the block
// drives out of the mempool are to be reported with [Ledger.RemoveMempoolTx].
func (l *Ledger) ConnectBlock(b *Block, now int64) Synced {
	l.SetTip(messages.Tip{Hash: b.Hash, Height: b.Height})
	if b.MaxTime < min(l.birth, l.cfg.Owner.Birth())-2*timestampWindow {
		return Synced{}
	}
	synced := l.syncBlock(b, sync{now: now})
	for _, t := range b.Txs {
		l.leaveMempool(t)
	}
	synced.Save = synced.Changed || b.Height%saveEvery == 0
	return synced
}

// ScanBlock processes a block of the active chain up to the tip again, during a
// rescan.
func (l *Ledger) ScanBlock(b *Block, now int64) Synced {
	return l.syncBlock(b, sync{now: now, rescan: true})
}

// LookAgain processes the tip again, for scripts that have become the wallet's since.
func LookAgain(l *Ledger, b *Block, now int64) Synced {
	synced := l.syncBlock(b, sync{now: now})
	synced.Save = true
	return synced
}

func (l *Ledger) syncBlock(b *Block, s sync) Synced {
	known := len(l.cfg.Owner.Scripts())
	var synced Synced
	use(l, b.Txs)
	for i, t := range b.Txs {
		s.state = state{kind: confirmed, block: b.BlockRef, index: int32(i)}
		effect := l.sync(t, s)
		synced.Changed = synced.Changed || effect != foreignTx
		if effect == sameTx {
			synced.Same = append(synced.Same, t.TxHash())
		}
	}
	synced.Scripts = l.cfg.Owner.Scripts()[known:]
	return synced
}

// DisconnectBlock takes back a block, the tip; prev becomes the tip. Transactions
// that it confirmed are inactive from now on, those of its coinbase abandoned.
// The wallet takes in those that concern it and that it does not know, because
// their scripts became its own after the block was processed: they may be
// confirmed anew. Of a block without transactions it is only known what concerns
// it already.
func (l *Ledger) DisconnectBlock(b *Block, prev messages.Tip, now int64) Synced {
	touched := slices.SortedFunc(slices.Values(l.states.byBlock[b.Hash]), func(a, b *tx) int {
		return cmp.Compare(a.record.OrderPos, b.record.OrderPos)
	})
	for _, t := range touched {
		l.setState(t, state{})
		l.writeTx(t)
	}
	for _, t := range touched {
		if t.coinbase() {
			l.abandonAll(t)
		}
	}
	known, changed := len(l.cfg.Owner.Scripts()), len(touched) > 0
	use(l, b.Txs)
	for _, t := range b.Txs {
		changed = l.sync(t, sync{now: now}) != foreignTx || changed
	}
	l.SetTip(prev)
	return Synced{Changed: changed, Save: true, Scripts: l.cfg.Owner.Scripts()[known:]}
}

// abandonAll gives up a coinbase that has left the chain, and all its
// descendants.
func (l *Ledger) abandonAll(coinbase *tx) {
	done := make(map[*tx]bool)
	for todo := []*tx{coinbase}; len(todo) > 0; {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if done[t] {
			continue
		}
		done[t] = true
		l.setState(t, state{kind: abandoned})
		l.writeTx(t)
		l.spends.spenders(t, func(spender *tx) { todo = append(todo, spender) })
	}
}
