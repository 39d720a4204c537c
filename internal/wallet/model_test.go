package wallet_test

import (
	"iter"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// modelSource is a descriptor in the model.
type modelSource struct {
	scripts   [][][]byte
	ranged    bool
	next, end int
}

// model brings the model up to date with the chain. Payments in the chain, or in
// transactions that the wallet knows, make the ranges longer. The wallet then knows more,
// and this goes on until nothing changes.
func (o *oracle) model() {
	for grown := true; grown; {
		grown = false
		for _, b := range o.chain {
			grown = o.useAll(slices.Values(b.Txs)) || grown
		}
		grown = o.useAll(maps.Values(o.known)) || grown
		o.learn()
		for _, b := range o.chain {
			for _, t := range b.Txs {
				if o.concerns(t) {
					o.known[t.TxHash()] = t
				}
			}
		}
	}
}

// useAll notes what transactions pay to.
func (o *oracle) useAll(transactions iter.Seq[*wire.MsgTx]) (grown bool) {
	for t := range transactions {
		for _, out := range t.TxOut {
			grown = o.use(out.PkScript) || grown
		}
	}
	return grown
}

// use notes that a script was paid to, and reports whether that made a range
// longer.
func (o *oracle) use(pkScript []byte) (grown bool) {
	for _, s := range o.sources {
		for index := range s.end {
			if !contains(s.scripts[index], pkScript) {
				continue
			}
			s.next = max(s.next, index+1)
			if s.ranged && s.next+oraclePool > s.end {
				s.end, grown = s.next+oraclePool, true
			}
		}
	}
	return grown
}

func contains(scripts [][]byte, pkScript []byte) bool {
	return slices.ContainsFunc(scripts, func(s []byte) bool { return string(s) == string(pkScript) })
}

func (o *oracle) mine(pkScript []byte) bool { return o.own[string(pkScript)] }

// learn works out what is the wallet's, and where everything is in the chain.
func (o *oracle) learn() {
	o.own = make(map[string]bool)
	for _, s := range o.sources {
		for _, scripts := range s.scripts[:s.end] {
			for _, pkScript := range scripts {
				o.own[string(pkScript)] = true
			}
		}
	}
	o.depths = make(map[chainhash.Hash]int32)
	o.places = make(map[chainhash.Hash]int32)
	o.spends = make(map[wire.OutPoint]*txs.Block)
	for _, b := range o.chain {
		for _, t := range b.Txs {
			o.places[t.TxHash()] = b.Height
			if !coinbase(t) {
				o.spends[t.TxIn[0].PreviousOutPoint] = b
			}
		}
	}
}

func (o *oracle) concerns(t *wire.MsgTx) bool {
	if slices.ContainsFunc(t.TxOut, func(out *wire.TxOut) bool { return o.mine(out.PkScript) }) {
		return true
	}
	at := t.TxIn[0].PreviousOutPoint
	parent := o.known[at.Hash]
	return parent != nil && o.mine(parent.TxOut[at.Index].PkScript)
}

// depthOf returns the number of confirmations; negative for a transaction whose
// input, or an ancestor's input, is spent in the chain by another transaction.
func (o *oracle) depthOf(t *wire.MsgTx) int32 {
	id := t.TxHash()
	if known, ok := o.depths[id]; ok {
		return known
	}
	depth := o.workOutDepth(id, t.TxIn[0].PreviousOutPoint)
	o.depths[id] = depth
	return depth
}

func (o *oracle) workOutDepth(id chainhash.Hash, at wire.OutPoint) int32 {
	tip := int32(len(o.chain))
	if height, ok := o.places[id]; ok {
		return tip - height
	}
	deepest := int32(0)
	if other := o.spends[at]; other != nil {
		deepest = other.Height - tip
	}
	if parent := o.known[at.Hash]; parent != nil {
		deepest = min(deepest, o.depthOf(parent))
	}
	return deepest
}

// check compares the wallet with the model.
func (o *oracle) check() {
	if err := o.wallet.Verify(); err != nil {
		o.t.Error(err)
	}
	o.checkRanges()
	o.checkHistory()
	o.checkCoins()
	o.checkReceived()
}

func (o *oracle) checkRanges() {
	want := 0
	for _, s := range o.sources {
		for _, scripts := range s.scripts[:s.end] {
			want += len(scripts)
		}
	}
	if got := len(o.wallet.Keys().Scripts()); got != want {
		o.t.Errorf("%d scripts, want %d", got, want)
	}
}

func (o *oracle) checkHistory() {
	if got := o.wallet.Info().TxCount; got != len(o.known) {
		o.t.Errorf("%d transactions, want %d", got, len(o.known))
	}
	for id, t := range o.known {
		details, err := o.wallet.Reports().Transaction(&id)
		if err != nil {
			o.t.Errorf("%v: %v", id, err)
			continue
		}
		if want := o.depthOf(t); details.Tx.Confirmations != want {
			o.t.Errorf("%v: %d confirmations, want %d", id, details.Tx.Confirmations, want)
		}
	}
}

// coins visits the own outputs that nothing spends, or that only transactions
// spend that are in conflict with the chain.
func (o *oracle) coins(visit func(t *wire.MsgTx, out *wire.TxOut)) {
	spent := make(map[wire.OutPoint]bool)
	for _, t := range o.known {
		if o.depthOf(t) >= 0 && !o.abandoned(t) {
			spent[t.TxIn[0].PreviousOutPoint] = true
		}
	}
	for id, t := range o.known {
		for i, out := range t.TxOut {
			if o.mine(out.PkScript) && !spent[wire.OutPoint{Hash: id, Index: uint32(i)}] {
				visit(t, out)
			}
		}
	}
}

func coinbase(t *wire.MsgTx) bool { return t.TxIn[0].PreviousOutPoint.Index == wire.MaxPrevOutIndex }

// abandoned reports whether a transaction is a coinbase that left the chain.
// Nothing spends coinbases here.
func (o *oracle) abandoned(t *wire.MsgTx) bool { return coinbase(t) && o.depthOf(t) == 0 }

func (o *oracle) checkCoins() {
	for _, minConf := range []int32{0, 1, 2, 4, 100} {
		var want messages.Balances
		o.coins(func(t *wire.MsgTx, out *wire.TxOut) {
			switch depth := o.depthOf(t); {
			case depth > 0 && coinbase(t) && depth <= oracleMaturity:
				want.Immature += btcutil.Amount(out.Value)
			case depth > 0 && depth >= minConf:
				want.Trusted += btcutil.Amount(out.Value)
			}
		})
		want.Last = o.wallet.Txs().Tip()
		if got := o.wallet.Reports().Balances(messages.GetBalances{MinConf: minConf}); got != want {
			o.t.Errorf("balances at %d: got %+v, want %+v", minConf, got, want)
		}
	}
}

func (o *oracle) checkReceived() {
	for _, minConf := range []int32{-3, 0, 1, 3} {
		want := make(map[string]btcutil.Amount)
		for _, t := range o.known {
			if depth := o.depthOf(t); depth < minConf || coinbase(t) && depth <= oracleMaturity {
				continue
			}
			for _, out := range t.TxOut {
				want[string(out.PkScript)] += btcutil.Amount(out.Value)
			}
		}
		for pkScript := range o.own {
			r := messages.GetReceived{Script: []byte(pkScript), MinConf: minConf}
			if got, err := o.wallet.Reports().Received(r); err != nil || got != want[pkScript] {
				o.t.Errorf("received by %x at %d: got %v, %v, want %v", pkScript, minConf, got, err, want[pkScript])
			}
		}
	}
}
