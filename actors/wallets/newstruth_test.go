package wallets_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// lists is what a wallet tells.
type lists struct {
	Confirmations map[string]int32
	Received      btcutil.Amount
	Balances      messages.Balances
	Unspent       []string
}

func (l *lists) text() string {
	var lines []string
	for id, n := range l.Confirmations {
		lines = append(lines, fmt.Sprint(id[:8], " ", n))
	}
	slices.Sort(lines)
	l.Balances.Last = messages.Tip{}
	slices.Sort(l.Unspent)
	return fmt.Sprintf("%v received %d balances %+v unspent %v", lines, l.Received, l.Balances, l.Unspent)
}

// askAgain asks a wallet, once more where its actor failed meanwhile.
func askAgain[Q messages.Request[R], R any](w *world, name string, q Q) R {
	w.tb.Helper()
	got, err := try(w.tb, w.r.wallet(w.tb, name), q)
	if errors.Is(err, ask.ErrRestarted) {
		return do(w.tb, w.r.wallet(w.tb, name), q)
	}
	if err != nil {
		w.tb.Fatalf("%T: %v", q, err)
	}
	return got
}

// answers asks a wallet for its lists.
func (w *world) answers(name string) (l lists) {
	l.Confirmations = map[string]int32{}
	for _, e := range askAgain(w, name, everything) {
		l.Confirmations[e.Tx.TxID.String()] = e.Tx.Confirmations
	}
	for _, in := range askAgain(w, name, messages.ListReceived{}) {
		l.Received += in.Amount
	}
	if got := askAgain(w, name, messages.GetReceived{Script: w.owns[name]}); got != l.Received {
		w.tb.Errorf("%s: received %d, listed %d", name, got, l.Received)
	}
	l.Balances = askAgain(w, name, messages.GetBalances{})
	for _, coin := range askAgain(w, name, messages.ListUnspent{MaxConf: 1 << 30, IncludeUnsafe: true}) {
		l.Unspent = append(l.Unspent, fmt.Sprint(coin.TxID.String()[:8], ":", coin.Index))
	}
	return l
}

// truth is the right answer of a wallet that knows some transactions, from the current
// chain and pool. The result settled is false if one of these transactions is in neither
// but may yet be confirmed: then the coins are not compared.
func (w *world) truth(name string, known map[string]int32) (l lists, settled bool) {
	l.Confirmations, settled = map[string]int32{}, true
	heights, spent := w.confirmed(w.chain.Active().Tip())
	tip := w.chain.Active().Height()
	pooled, by := map[chainhash.Hash]bool{}, maps.Clone(spent)
	for _, tx := range w.pool {
		pooled[tx.TxHash()] = true
		by[tx.TxIn[0].PreviousOutPoint] = tx.TxHash()
	}
	var of func(tx *wire.MsgTx) (confirmations int32, lost bool)
	of = func(tx *wire.MsgTx) (int32, bool) {
		at := tx.TxIn[0].PreviousOutPoint
		if height, ok := heights[tx.TxHash()]; ok {
			return tip - height + 1, false
		}
		if rival, ok := spent[at]; ok {
			return -(tip - heights[rival] + 1), true
		}
		n, lost := int32(0), by[at] != (chainhash.Hash{}) && by[at] != tx.TxHash()
		if parent := w.txs[at.Hash]; parent != nil {
			parents, parentLost := of(parent)
			_, parentKnown := known[at.Hash.String()]
			if got, isKnown := known[tx.TxHash().String()]; isKnown && got == 0 && parentLost && !parentKnown {
				return 0, lost // as in Core, a wallet need not know that a foreign parent is lost
			}
			n, lost = min(parents, 0), lost || parentLost
		}
		return n, lost
	}
	mine := w.owns[name]
	var trusted func(tx *wire.MsgTx) bool
	trusted = func(tx *wire.MsgTx) bool {
		if _, ok := heights[tx.TxHash()]; ok {
			return true
		}
		at := tx.TxIn[0].PreviousOutPoint
		parent := w.txs[at.Hash]
		return parent != nil && string(parent.TxOut[at.Index].PkScript) == string(mine) && trusted(parent)
	}
	for id, tx := range w.txs {
		_, isKnown := known[id.String()]
		_, isConfirmed := heights[id]
		at := tx.TxIn[0].PreviousOutPoint
		concerns := slices.ContainsFunc(tx.TxOut, func(o *wire.TxOut) bool {
			return string(o.PkScript) == string(mine)
		})
		if parent := w.txs[at.Hash]; parent != nil {
			concerns = concerns || string(parent.TxOut[at.Index].PkScript) == string(mine)
		}
		if !isKnown && (!concerns || !isConfirmed && !pooled[id]) {
			continue
		}
		n, lost := of(tx)
		l.Confirmations[id.String()] = n
		settled = settled && (isConfirmed || pooled[id] || lost)
		for i, out := range tx.TxOut {
			if string(out.PkScript) != string(mine) {
				continue
			}
			if n >= 0 {
				l.Received += btcutil.Amount(out.Value)
			}
			if by[wire.OutPoint{Hash: id, Index: uint32(i)}] != (chainhash.Hash{}) || !isConfirmed && !pooled[id] {
				continue
			}
			l.Unspent = append(l.Unspent, fmt.Sprint(id.String()[:8], ":", i))
			if trusted(tx) {
				l.Balances.Trusted += btcutil.Amount(out.Value)
			} else {
				l.Balances.Pending += btcutil.Amount(out.Value)
			}
		}
	}
	return l, settled
}

// check compares both wallets with the truth, once the pool is at the tip.
func (w *world) check() {
	w.tb.Helper()
	w.mu.Lock()
	w.follow()
	if w.alone { // it looks again, as it does when the chain has moved
		w.r.changes.Publish(messages.PoolChanged{
			Blocks: []messages.PoolStep{{Tip: tipOf(w.at), Connected: true, Leap: true}}, Alone: true,
		})
	}
	w.mu.Unlock()
	w.r.announce()
	for _, name := range w.names {
		got := w.answers(name)
		want, settled := w.truth(name, got.Confirmations)
		if !settled {
			got.Balances, want.Balances = messages.Balances{}, messages.Balances{}
			got.Unspent, want.Unspent = nil, nil
		}
		if a, b := got.text(), want.text(); a != b {
			w.tb.Errorf("%s at height %d:\n got %s\nwant %s", name, w.chain.Active().Height(), a, b)
		}
	}
}

// However blocks, the pool's news, and restarts come among each other, wallets tell in the
// end of what the chain and the pool have.
func TestAnyOrderOfNews(t *testing.T) {
	first, seeds := uint64(1), uint64(cases(16, 400))
	for seed := first; seed < first+seeds; seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			w, fail := newWorld(t, seed)
			for range 60 {
				w.step(fail)
				if w.IntN(12) == 0 {
					w.check()
				}
				if t.Failed() {
					return
				}
			}
			w.check()
		})
	}
}
