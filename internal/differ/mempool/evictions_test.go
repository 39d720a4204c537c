package mempool_test

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/differ"
)

// TestLaterEvictions fills pools up to their limit, beside a later Core. Both drop the same, and want the same least
// fee rate afterwards. All transactions have one size, so that both reach the limit by the same one, although they do
// not count memory alike.
func TestLaterEvictions(t *testing.T) {
	args := []string{"-maxmempool=5", "-limitclustersize=125", "-persistmempool=0"}
	p := differ.Start(t, differ.Config{Later: true, Args: args}, usage, later)
	f := &filling{world: newWorld(t, p)}
	f.split()
	for left := differ.QbitCases(t, 600) / 3; left > 0 && p.Report.Differences() < 20; {
		left -= f.step()
	}
	t.Logf("%d transactions were dropped", f.dropped)
	if f.dropped == 0 {
		t.Error("nothing was dropped")
	}
	p.Alive()
}

// filling sends large transactions.
type filling struct {
	*world

	dropped int
	last    []*wire.MsgTx // that were sent
}

// split makes many coins of a few.
func (f *filling) split() {
	f.t.Helper()
	for len(f.coins) < 800 {
		d := f.draft(1, false)
		d.Version = 2
		f.pay(d, 0, 0)
		const parts = 200
		for range parts {
			d.AddTxOut(wire.NewTxOut((d.value-1_000_000)/parts, open.script()))
		}
		list := f.note(d.MsgTx)
		if !f.send("sendrawtransaction", list[0]).OK() {
			continue // of a coin that is too young
		}
		f.mine([]chainhash.Hash{d.TxHash()})
		f.look()
	}
}

// step sends a transaction, or two of which one spends from the other, and compares what the pools have then.
func (f *filling) step() int {
	f.t.Helper()
	before := len(f.pool)
	sent := f.make()
	list := f.note(sent...)
	f.last = append(f.last, sent...)
	calls := []differ.Call{call("submitpackage", list)}
	if len(list) == 1 {
		calls = []differ.Call{call("testmempoolaccept", list), call("sendrawtransaction", list[0], 0)}
	}
	f.p.Send(calls...)
	f.look()
	f.dropped += max(0, before+len(list)-len(f.pool))
	f.p.Send(call("getmempoolfeeratediagram"))
	switch f.IntN(150) {
	case 0:
		f.mine(f.some())
		f.look()
	case 1:
		f.pass(int64(f.IntN(20_000)))
	}
	return len(calls) + 2
}

func (f *filling) make() []*wire.MsgTx {
	switch f.IntN(6) {
	case 0:
		parent := f.large(false, f.IntN(3000))
		child := &draft{MsgTx: wire.NewMsgTx(2)}
		child.add(wire.OutPoint{Hash: parent.TxHash()}, parent.TxOut[0].Value, open)
		f.fill(child, f.IntN(20_000))
		return []*wire.MsgTx{parent, child.MsgTx}
	case 1:
		return []*wire.MsgTx{f.large(true, f.IntN(20_000))}
	case 2:
		if len(f.last) > 0 {
			return []*wire.MsgTx{f.last[f.IntN(len(f.last))]} // which may have been dropped
		}
	}
	return []*wire.MsgTx{f.large(false, f.IntN(10_000))}
}

// large makes a transaction with a fee rate in satoshis for 1000 virtual bytes.
func (f *filling) large(fromPool bool, rate int) *wire.MsgTx {
	d := f.draft(1, fromPool)
	d.Version = 2
	f.fill(d, rate)
	return d.MsgTx
}

// fill pays what is left of the fee out, beside much data.
func (f *filling) fill(d *draft, rate int) {
	const size, data = 60_600, 60_000
	script := append([]byte{txscript.OP_RETURN, txscript.OP_PUSHDATA4, data & 0xff, data >> 8 & 0xff, 0, 0},
		bytes.Repeat([]byte{byte(f.IntN(250))}, data)...)
	d.AddTxOut(wire.NewTxOut(d.value-int64(rate)*size/1000, open.script()))
	d.AddTxOut(wire.NewTxOut(0, script))
}
