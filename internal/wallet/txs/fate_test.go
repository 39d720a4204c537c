package txs

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// The fate of a payment that was replaced, excluded or given up.
func TestFate(t *testing.T) {
	coin := txOf(1, []wire.OutPoint{foreign(1)}, pay(50, 1))
	paid := txOf(2, []wire.OutPoint{outOf(coin, 0)}, pay(20, 7), pay(29, 1))
	bumped := txOf(3, []wire.OutPoint{outOf(coin, 0)}, pay(20, 7), pay(27, 1))
	again := txOf(4, []wire.OutPoint{outOf(coin, 0)}, pay(20, 7), pay(25, 1))
	rival := txOf(5, []wire.OutPoint{outOf(coin, 0)}, pay(48, 9))
	bump := func(r *rig) {
		r.spending.Replace(bumped, paid.TxHash(), nil, 1)
		r.RemoveMempoolTx(paid)
		r.AddMempoolTx(bumped, 1)
	}
	twice := func(r *rig) {
		bump(r)
		r.spending.Replace(again, bumped.TxHash(), nil, 1)
		r.RemoveMempoolTx(bumped)
		r.AddMempoolTx(again, 1)
	}
	mined := func(of ...*wire.MsgTx) func(*rig) {
		return func(r *rig) { r.ConnectBlock(blockOf(1, append([]*wire.MsgTx{coinbaseOf(9)}, of...)...), 1) }
	}
	abandon := func(of *wire.MsgTx) func(*rig) {
		return func(r *rig) {
			r.RemoveMempoolTx(of)
			if err := r.spending.Abandon(of.TxHash()); err != nil {
				t.Error(err)
			}
		}
	}
	excluded := func(r *rig) {
		r.RemoveMempoolTx(paid)
		r.AddMempoolTx(rival, 1)
	}
	for name, c := range map[string]struct {
		steps []func(*rig)
		now   *wire.MsgTx
		fate  Fate
	}{
		"sent":                       {nil, paid, Stands},
		"not in the pool":            {[]func(*rig){func(r *rig) { r.RemoveMempoolTx(paid) }}, paid, Stands},
		"confirmed":                  {[]func(*rig){mined(paid)}, paid, Stands},
		"abandoned":                  {[]func(*rig){abandon(paid)}, paid, Abandoned},
		"abandoned and confirmed":    {[]func(*rig){abandon(paid), mined(paid)}, paid, Stands},
		"double-spent":               {[]func(*rig){mined(rival)}, paid, DoubleSpent},
		"excluded by the pool":       {[]func(*rig){excluded}, paid, DoubleSpent},
		"replaced":                   {[]func(*rig){bump}, bumped, Stands},
		"replaced twice":             {[]func(*rig){twice}, again, Stands},
		"replaced and confirmed":     {[]func(*rig){bump, mined(bumped)}, bumped, Stands},
		"confirmed though replaced":  {[]func(*rig){twice, mined(paid)}, paid, Stands},
		"the first of them":          {[]func(*rig){twice, mined(bumped)}, bumped, Stands},
		"replaced and double-spent":  {[]func(*rig){twice, mined(rival)}, again, DoubleSpent},
		"the replacement abandoned":  {[]func(*rig){bump, abandon(bumped)}, paid, Stands},
		"all of them abandoned":      {[]func(*rig){bump, abandon(bumped), abandon(paid)}, bumped, Abandoned},
		"abandoned and double-spent": {[]func(*rig){abandon(paid), mined(rival)}, paid, DoubleSpent},
	} {
		r := newRig(0, scriptOf(1))
		r.ConnectBlock(blockOf(0, coinbaseOf(8), coin), 1)
		r.spending.Commit(paid, nil, 1)
		r.AddMempoolTx(paid, 1)
		for _, step := range c.steps {
			step(r)
		}
		if now, fate := r.spending.Fate(paid.TxHash()); now != c.now.TxHash() || fate != c.fate {
			got := r.txs[now].record.Tx.LockTime
			t.Errorf("%s: transaction %d, fate %d, want %d, %d", name, got, fate, c.now.LockTime, c.fate)
		}
	}
	r := newRig(0, scriptOf(1))
	if now, fate := r.spending.Fate(chainhash.Hash{1}); now != (chainhash.Hash{1}) || fate != DoubleSpent {
		t.Errorf("unknown: %v, %d", now, fate)
	}
}
