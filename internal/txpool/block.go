package txpool

import (
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/messages"
)

// Connect takes out the transactions that a block confirms, and its conflicts with
// their descendants.
func (p *Pool) Connect(txs []*wire.MsgTx, now int64) {
	for _, tx := range txs {
		id := tx.TxHash()
		if e := p.byID[id]; e != nil {
			p.remove(e, messages.PoolBlock)
		}
		for _, in := range tx.TxIn {
			if other := p.spends[in.PreviousOutPoint]; other != nil {
				delete(p.deltas, other.ID)
				p.removeAll(other, messages.PoolConflict)
			}
		}
		delete(p.deltas, id)
	}
	p.rollingMinFee.updated, p.rollingMinFee.block = now, true
}

// Return checks the transactions of blocks that left the chain, in the order in
// which they were confirmed, and then all others again. Of the outputs that
// [Pool.ReturnNeeds] names, chain has those that are unspent.
func (p *Pool) Return(txs []*wire.MsgTx, chain Coins, now Now) {
	returned := make(map[*Entry]struct{})
	for _, tx := range txs {
		if !consensus.IsCoinbase(tx) {
			if r := p.Accept(tx, chain, now, Options{Bypass: true}); r.Rejected == nil {
				returned[p.byID[tx.TxHash()]] = struct{}{}
				continue
			}
		}
		p.removeSpenders(tx)
	}
	p.relatives.returned(returned)
	for _, e := range p.Ordered() {
		if p.byID[e.ID] == e && !p.stillValid(e, chain, now) {
			p.removeAll(e, messages.PoolReorg)
		}
	}
	p.Limit(now.Time)
}

// Lose takes out what depends on transactions of blocks that left the chain, which do not come back.
func (p *Pool) Lose(txs []*wire.MsgTx) {
	for _, tx := range txs {
		p.removeSpenders(tx)
	}
}

func dependsOnAny(e *Entry, set map[*Entry]struct{}) bool {
	if len(set) == 0 {
		return false
	}
	for a := range e.ancestors() {
		if _, in := set[a]; in {
			return true
		}
	}
	return false
}

// removeSpenders takes out a transaction that does not come back, with what
// depends on it.
func (p *Pool) removeSpenders(tx *wire.MsgTx) {
	id := tx.TxHash()
	if e := p.byID[id]; e != nil {
		p.removeAll(e, messages.PoolReorg)
		return
	}
	for i := range tx.TxOut {
		if e := p.spends[wire.OutPoint{Hash: id, Index: uint32(i)}]; e != nil {
			p.removeAll(e, messages.PoolReorg)
		}
	}
}

// ReturnNeeds returns the outputs of the chain that [Pool.Return] checks by.
func (p *Pool) ReturnNeeds(txs []*wire.MsgTx) []wire.OutPoint {
	var outs []wire.OutPoint
	for _, tx := range txs {
		if !consensus.IsCoinbase(tx) {
			outs = append(outs, Needs(tx)...)
		}
	}
	for at := range p.spends {
		if p.byID[at.Hash] == nil {
			outs = append(outs, at)
		}
	}
	return outs
}

// stillValid reports whether an entry is valid on top of a tip that may be on
// another branch than the one on which it was checked.
func (p *Pool) stillValid(e *Entry, chain Coins, now Now) bool {
	v := p.newVerdict(single(now, Options{}), chain)
	coins := make([]messages.Coin, len(e.Tx.TxIn))
	for i, in := range e.Tx.TxIn {
		coin, ok := v.coin(in.PreviousOutPoint)
		if !ok {
			return false
		}
		if coin.Coinbase && now.Tip.Height+1-coin.Height < p.rules.Maturity {
			return false
		}
		coins[i] = coin
	}
	return Final(e.Tx, now.Tip) && sequenceFinal(e.Tx, coins, now.Tip) && v.stillVerified(e, coins)
}

// stillVerified executes the scripts of an entry again where other rules hold than did before.
func (v *verdict) stillVerified(e *Entry, coins []messages.Coin) bool {
	version := v.verifyVersion()
	if e.verified == version {
		return true
	}
	spent := make([]*wire.TxOut, len(coins))
	for i := range coins {
		spent[i] = coins[i].Output
	}
	if v.rules.Verify(e.Tx, spent, v.now.Tip.Height+1) != nil {
		return false
	}
	e.verified = version
	return true
}
