package corepool_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// Transactions are reported with the block that the other node was at when it listed them. Where
// the chain has moved on they are listed once more: they may have been excluded by the block.
func TestReportedAfterTheirBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		tip := r.chain.Active().Tip()
		best := tip.Hash
		r.core.set(func(n *core) { n.best = func() chainhash.Hash { return best } })
		first := r.core.add(r.tx(nil)).TxHash()
		time.Sleep(time.Minute)
		r.same("at the tip")
		want := messages.PoolStep{Tip: messages.Tip{Hash: tip.Hash, Height: tip.Height}, Connected: true, Leap: true}
		if got := r.at[first]; got != want {
			t.Errorf("reported with %+v, want %+v", got, want)
		}
		pool, err := ask.Ask(t.Context(), r.ref, messages.GetPoolTxs{})
		if err != nil || pool.At != want.Tip || !pool.Alone || pool.Published == 0 {
			t.Errorf("the pool is at %+v after %d announcements (%v)", pool.At, pool.Published, err)
		}

		next := r.chain.MineN(1)
		r.tip.Publish(messages.TipChanged{Hash: next.Hash, Height: next.Height})
		gone, stays := r.core.add(r.tx(nil)).TxHash(), r.core.add(r.tx(nil)).TxHash()
		time.Sleep(time.Minute)
		r.mu.Lock()
		if r.notified[gone] || r.notified[stays] {
			t.Error("notified of transactions that were listed before the last block")
		}
		r.mu.Unlock()
		r.core.remove(gone)
		r.core.set(func(*core) { best = next.Hash })
		time.Sleep(time.Minute)
		r.same("at the next tip")
		if got := r.at[stays]; got.Hash != next.Hash || r.at[gone] != (messages.PoolStep{}) {
			t.Errorf("reported with %+v", got)
		}
	})
}

// A list that was made while the other chain moved is made once more.
func TestListedWhileItMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		tip, calls := r.chain.Active().Tip().Hash, 0
		r.core.set(func(n *core) {
			n.best = func() chainhash.Hash {
				if calls++; calls == 1 {
					return chainhash.Hash{1}
				}
				return tip
			}
		})
		tx := r.core.add(r.tx(nil)).TxHash()
		if err := r.follow(); err != nil {
			t.Fatal(err)
		}
		r.same("followed")
		if calls != 4 || r.at[tx].Hash != tip {
			t.Errorf("asked %d times for the tip; reported with %+v", calls, r.at[tx])
		}
	})
}
