package qbit

import (
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
)

// An edge is a chain with a block on top of it that keeps to a rule or just breaks it.
type edge struct {
	b     *builder
	first *chainview.Block // whose coinbase is spent, at height 1
	tip   *chainview.Block // at height 12
}

func newEdge(t *testing.T) *edge {
	t.Helper()
	e := fresh(t, dialect.Choices{})
	e.net.Rules.Maturity = 1
	e.SetMockTime(time.Unix(ahead, 0))
	b := &builder{tb: t, e: e}
	first := b.add(e.tree.Active().Tip())
	return &edge{b, first, b.chain(first, 11)}
}

// spending takes the first coinbase.
func (d *edge) spending(change func(*wire.MsgTx)) []*wire.MsgTx {
	out, value := d.b.coinbaseOf(d.first)
	tx := spend(out, value)
	change(tx)
	return []*wire.MsgTx{tx}
}

// at adds blocks until the median time of the tip is the one wanted.
func (d *edge) at(median int64) {
	for i := range int64(11) {
		raw := d.b.build(d.tip, nil, func(b *block) { b.Timestamp = time.Unix(median-5+i, 0) })
		if err := d.b.e.Accept(raw); err != nil {
			d.b.tb.Fatal(err)
		}
		read, err := readBlock(raw)
		if err != nil {
			d.b.tb.Fatal(err)
		}
		d.tip = d.b.e.tree.Lookup(&read.Hash)
	}
	if got := d.tip.MedianTimePast(); got != median {
		d.b.tb.Fatalf("median time %d, want %d", got, median)
	}
}

func (d *edge) offer(txs []*wire.MsgTx, change func(*block)) string {
	return reason(d.b.tb, d.b.e.Submit(d.b.build(d.tip, txs, change)))
}

// relative is a relative lock in units of blocks, or of 512 s.
func relative(units uint32, seconds bool) func(*wire.MsgTx) {
	return func(tx *wire.MsgTx) {
		if tx.TxIn[0].Sequence = units; seconds {
			tx.TxIn[0].Sequence |= wire.SequenceLockTimeIsSeconds
		}
	}
}

// absolute is a lock time that counts.
func absolute(lock uint32) func(*wire.MsgTx) {
	return func(tx *wire.MsgTx) { tx.LockTime, tx.TxIn[0].Sequence = lock, wire.MaxTxInSequenceNum-1 }
}

// TestEdges tries both sides of the rules on what a transaction spends, and when.
func TestEdges(t *testing.T) {
	t.Parallel()
	reward := func(more int64) func(*block) {
		return func(b *block) {
			b.txs[0].MsgTx().TxOut[0].Value += more
			b.txs[0] = btcutil.NewTx(b.txs[0].MsgTx())
		}
	}
	paying := func(value int64) func(*wire.MsgTx) {
		return func(tx *wire.MsgTx) { tx.TxOut = tx.TxOut[:1]; tx.TxOut[0].Value = value }
	}
	for name, test := range map[string]func(*edge) (good, bad string){
		// The next block is at height 13, the coin at height 1.
		"relative lock in blocks": func(d *edge) (string, string) {
			bad := d.offer(d.spending(relative(13, false)), nil)
			return d.offer(d.spending(relative(12, false)), nil), bad
		},
		"relative lock in time": func(d *edge) (string, string) {
			since := d.first.Parent.MedianTimePast()
			d.at(since + 3*512 - 1)
			bad := d.offer(d.spending(relative(3, true)), nil)
			d.tip = d.b.e.tree.Active().At(12)
			d.at(since + 3*512)
			// That branch has as much work as the other, and a block more.
			return d.offer(d.spending(relative(3, true)), nil), bad
		},
		"lock time in blocks": func(d *edge) (string, string) {
			bad := d.offer(d.spending(absolute(13)), nil)
			return d.offer(d.spending(absolute(12)), nil), bad
		},
		"lock time in seconds": func(d *edge) (string, string) {
			median := d.tip.MedianTimePast()
			bad := d.offer(d.spending(absolute(uint32(median))), nil)
			return d.offer(d.spending(absolute(uint32(median-1))), nil), bad
		},
		"fees": func(d *edge) (string, string) {
			txs := d.spending(paying(21e9 - 1000))
			bad := d.offer(txs, reward(1001))
			return d.offer(txs, reward(1000)), bad
		},
		"value of what is spent": func(d *edge) (string, string) {
			bad := d.offer(d.spending(paying(21e9+1)), nil)
			return d.offer(d.spending(paying(21e9)), nil), bad
		},
		"sum of what is spent": func(d *edge) (string, string) {
			second, value := d.b.coinbaseOf(d.first)
			tx := spend(second, value)
			other, _ := d.b.coinbaseOf(d.tip.Ancestor(2))
			tx.AddTxIn(&wire.TxIn{
				PreviousOutPoint: other, Sequence: wire.MaxTxInSequenceNum, Witness: tx.TxIn[0].Witness,
			})
			d.b.e.net.Rules.MaxMoney = 2*value - 1
			bad := d.offer([]*wire.MsgTx{tx}, nil)
			d.b.e.net.Rules.MaxMoney = 2 * value
			return d.offer([]*wire.MsgTx{tx}, nil), bad
		},
		"maturity": func(d *edge) (string, string) {
			d.b.e.net.Rules.Maturity = 13
			bad := d.offer(d.spending(func(*wire.MsgTx) {}), nil)
			d.b.e.net.Rules.Maturity = 12
			return d.offer(d.spending(func(*wire.MsgTx) {}), nil), bad
		},
	} {
		want := map[string]string{
			"relative lock in blocks": "bad-txns-nonfinal", "relative lock in time": "bad-txns-nonfinal",
			"lock time in blocks": "bad-txns-nonfinal", "lock time in seconds": "bad-txns-nonfinal",
			"fees": "bad-cb-amount", "value of what is spent": "bad-txns-in-belowout",
			"sum of what is spent": "bad-txns-inputvalues-outofrange",
			"maturity":             "bad-txns-premature-spend-of-coinbase",
		}[name]
		t.Run(name, func(t *testing.T) {
			good, bad := test(newEdge(t))
			if good != "" || bad != want {
				t.Errorf("at the edge %q, beyond it %q, want %q", good, bad, want)
			}
		})
	}
}

// The script of an input runs before the witness is looked at, in blocks and in the memory pool, and may not be there.
func TestScriptBesideWitness(t *testing.T) {
	const value = 1000
	net, at := regtest(t, dialect.Choices{}), &chainview.Block{Height: 5}
	r, spent := &rules{P2MR: net.P2MR, net: net}, []*wire.TxOut{wire.NewTxOut(value, anyoneScript())}
	for _, test := range []struct {
		script []byte
		want   string
	}{
		{nil, ""},
		{[]byte{txscript.OP_TRUE}, "Witness requires empty scriptSig"},
		{[]byte{txscript.OP_ADD}, "Operation not valid with the current stack size"},
		{[]byte{0xff}, "Opcode missing or not understood"},
		{[]byte{txscript.OP_RETURN}, "OP_RETURN was encountered"},
	} {
		tx := spend(wire.OutPoint{Hash: chainhash.Hash{1}}, value)
		tx.TxIn[0].SignatureScript = test.script
		for where, err := range map[string]error{
			"a block":  r.Spend(tx, spent, at).VerifyInput(0, r.Flags(at)),
			"the pool": net.Verify(tx, spent, at.Height),
		} {
			var got string
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, test.want) || test.want == "" && got != "" {
				t.Errorf("%x in %s: %q, want %q", test.script, where, got, test.want)
			}
		}
	}
}
