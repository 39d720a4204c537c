package txpool_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// paying makes a coin with a script.
func (r *rig) paying(script []byte) wire.OutPoint {
	return r.coin(func(c *messages.Coin) { c.Output.PkScript = script })
}

// sized fills a transaction up to a number of bytes without its witness.
func sized(tx *wire.MsgTx, size int) *wire.MsgTx {
	length := size - tx.SerializeSizeStripped() - 9
	if length > 252 {
		length -= 2
	}
	tx.AddTxOut(wire.NewTxOut(0, append([]byte{txscript.OP_RETURN}, make([]byte, length-1)...)))
	return tx
}

// free lets the pool take a transaction that pays nothing.
func (r *rig) free(tx *wire.MsgTx) *wire.MsgTx {
	id := tx.TxHash()
	r.pool.Prioritise(&id, 1000)
	return tx
}

// chain takes in n transactions, each of which spends the one before it, and returns
// an output of the last.
func (r *rig) chain(n int, from wire.OutPoint) wire.OutPoint {
	for range n {
		from = out(r.must(r.tx(1000, 1, from)), 0)
	}
	return from
}

// p2sh returns a coin that pays to the hash of a script, and the push of that script.
func (r *rig) p2sh(redeem []byte) (wire.OutPoint, []byte) {
	script := append([]byte{txscript.OP_HASH160, 20}, make([]byte, 21)...)
	script[22] = txscript.OP_EQUAL
	push, err := txscript.NewScriptBuilder().AddData(redeem).Script()
	if err != nil {
		panic(err)
	}
	return r.paying(script), push
}

var (
	taproot = append([]byte{txscript.OP_1, 32}, make([]byte, 32)...)
	p2pkh   = slices.Concat([]byte{txscript.OP_DUP, txscript.OP_HASH160, 20}, make([]byte, 20),
		[]byte{txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG})
)

// Each rule holds from one value on and not from the one before it.
func TestEdges(t *testing.T) {
	locked := func(tx *wire.MsgTx, lock int64) *wire.MsgTx {
		tx.LockTime, tx.TxIn[0].Sequence = uint32(lock), wire.MaxTxInSequenceNum-1
		return tx
	}
	witness := func(r *rig, script []byte, items ...[]byte) *wire.MsgTx {
		tx := r.tx(1000, 1, r.paying(script))
		tx.TxIn[0].Witness = items
		return tx
	}
	median := func(r *rig) int64 { return r.now.Tip.MedianTimePast() }
	for _, test := range []struct {
		rule string
		last int64 // that is taken
		tx   func(r *rig, n int64) *wire.MsgTx
		want string // of the one after it
	}{
		{"an output of all the money", 21e14, func(r *rig, n int64) *wire.MsgTx {
			tx := r.tx(0, 1, r.coin(func(c *messages.Coin) { c.Output.Value = 21e14 }))
			tx.TxOut[0].Value = n
			return r.free(tx)
		}, "bad-txns-vout-toolarge"},
		{"outputs of all the money", 21e14 - 5000, func(r *rig, n int64) *wire.MsgTx {
			tx := r.tx(0, 1, r.coin(func(c *messages.Coin) { c.Output.Value = 21e14 }))
			tx.TxOut = []*wire.TxOut{wire.NewTxOut(n, anyone), wire.NewTxOut(5000, anyone)}
			return r.free(tx)
		}, "bad-txns-txouttotal-toolarge"},
		{"inputs of all the money", 21e14 - 5000, func(r *rig, n int64) *wire.MsgTx {
			return r.tx(21e14-10_000, 1, r.coin(func(c *messages.Coin) { c.Output.Value = n }),
				r.coin(func(c *messages.Coin) { c.Output.Value = 5000 }))
		}, "bad-txns-inputvalues-outofrange"},
		{"outputs above inputs", coinValue, func(r *rig, n int64) *wire.MsgTx {
			tx := r.tx(0, 1, r.coin())
			tx.TxOut[0].Value = n
			return r.free(tx)
		}, "bad-txns-in-belowout"},
		{"height of a coinbase", 101, func(r *rig, n int64) *wire.MsgTx {
			return r.tx(1000, 1, r.coin(func(c *messages.Coin) { c.Coinbase, c.Height = true, int32(n) }))
		}, "bad-txns-premature-spend-of-coinbase"},
		{
			"lock time, height", 200, func(r *rig, n int64) *wire.MsgTx { return locked(r.tx(1000, 1, r.coin()), n) },
			"non-final",
		},
		{"lock time, time", -1, func(r *rig, n int64) *wire.MsgTx {
			return locked(r.tx(1000, 1, r.coin()), median(r)+n)
		}, "non-final"},
		{"relative lock time, blocks", 151, func(r *rig, n int64) *wire.MsgTx {
			tx := r.tx(1000, 1, r.coin())
			tx.TxIn[0].Sequence = uint32(n)
			return tx
		}, "non-BIP68-final"},
		// The coin of block 137 counts from the time of block 136, 64 blocks before the
		// tip, which is just 75 times 512 s.
		{"relative lock time, time", 75, func(r *rig, n int64) *wire.MsgTx {
			tx := r.tx(1000, 1, r.coin(func(c *messages.Coin) { c.Height = 137 }))
			tx.TxIn[0].Sequence = wire.SequenceLockTimeIsSeconds | uint32(n)
			return tx
		}, "non-BIP68-final"},
		{"version", 3, func(r *rig, n int64) *wire.MsgTx {
			tx := r.tx(1000, 1, r.coin())
			tx.Version = int32(n)
			return tx
		}, "version"},
		{"weight", 400_000, func(r *rig, n int64) *wire.MsgTx {
			tx := sized(r.tx(200_000, 1, r.paying(taproot)), 99_000)
			tx.TxIn[0].Witness = wire.TxWitness{make([]byte, 1000)}
			missing := int(n) - 3*tx.SerializeSizeStripped() - tx.SerializeSize()
			tx.TxIn[0].Witness[0] = make([]byte, 1000+missing)
			return tx
		}, "tx-size"},
		{"signature script", 1650, func(r *rig, n int64) *wire.MsgTx {
			tx := r.tx(1000, 1, r.paying(p2pkh))
			tx.TxIn[0].SignatureScript, tx.TxIn[0].Witness = make([]byte, n), nil
			return tx
		}, "scriptsig-size"},
		{"signature operations", 16_000, func(r *rig, n int64) *wire.MsgTx {
			tx := r.tx(400_000, 1, r.coin(), r.coin(), r.coin(), r.coin(), r.coin())
			for _, in := range tx.TxIn {
				ops := min(n, 3600)
				n -= ops
				in.Witness = wire.TxWitness{bytes.Repeat([]byte{txscript.OP_CHECKSIG}, int(ops))}
			}
			return tx
		}, "bad-txns-too-many-sigops"},
		{"legacy signature operations", 2500, func(r *rig, n int64) *wire.MsgTx {
			tx := wire.NewMsgTx(2)
			for n > 0 {
				ops := min(n, 15)
				n -= ops
				at, push := r.p2sh(bytes.Repeat([]byte{txscript.OP_CHECKSIG}, int(ops)))
				tx.AddTxIn(&wire.TxIn{PreviousOutPoint: at, Sequence: wire.MaxTxInSequenceNum, SignatureScript: push})
			}
			tx.AddTxOut(wire.NewTxOut(coinValue, anyone))
			return tx
		}, "bad-txns-nonstandard-inputs"},
		{"signature operations of a redeem script", 15, func(r *rig, n int64) *wire.MsgTx {
			at, push := r.p2sh(bytes.Repeat([]byte{txscript.OP_CHECKSIG}, int(n)))
			tx := r.tx(1000, 1, at)
			tx.TxIn[0].SignatureScript, tx.TxIn[0].Witness = push, nil
			return tx
		}, "bad-txns-nonstandard-inputs"},
		{"items before a redeem script", 999, func(r *rig, n int64) *wire.MsgTx {
			at, push := r.p2sh([]byte{txscript.OP_1})
			tx := r.tx(1000, 1, at)
			tx.TxIn[0].SignatureScript, tx.TxIn[0].Witness = append(make([]byte, n), push...), nil
			return tx
		}, "bad-txns-nonstandard-inputs"},
		{"P2WSH items", 100, func(r *rig, n int64) *wire.MsgTx {
			return witness(r, anyone, append(make([][]byte, n), []byte{txscript.OP_1})...)
		}, "bad-witness-nonstandard"},
		{"P2WSH item", 80, func(r *rig, n int64) *wire.MsgTx {
			return witness(r, anyone, make([]byte, n), []byte{txscript.OP_1})
		}, "bad-witness-nonstandard"},
		{
			"P2WSH script", 3600, func(r *rig, n int64) *wire.MsgTx { return witness(r, anyone, make([]byte, n)) },
			"bad-witness-nonstandard",
		},
		{"tapscript item", 80, func(r *rig, n int64) *wire.MsgTx {
			return witness(
				r, taproot, make([]byte, n), []byte{txscript.OP_1}, append([]byte{0xc0}, make([]byte, 32)...),
			)
		}, "bad-witness-nonstandard"},
		{"keys of a bare multisig", 3, func(r *rig, n int64) *wire.MsgTx {
			script := []byte{txscript.OP_1}
			for range n {
				script = slices.Concat(script, []byte{33, 2}, make([]byte, 32))
			}
			tx := r.tx(1000, 1, r.coin())
			tx.TxOut[0].PkScript = append(script, txscript.OP_1+byte(n)-1, txscript.OP_CHECKMULTISIG)
			return tx
		}, "scriptpubkey"},
		{
			"ancestors", 24, func(r *rig, n int64) *wire.MsgTx { return r.tx(1000, 1, r.chain(int(n), r.coin())) },
			"too-long-mempool-chain",
		},
		{"descendants", 24, func(r *rig, n int64) *wire.MsgTx {
			parent := r.must(r.tx(1000, 30, r.coin()))
			for i := range uint32(n) - 1 {
				r.must(r.tx(1000, 1, out(parent, i)))
			}
			// A transaction too large for the exception.
			return sized(r.tx(20_000, 1, out(parent, uint32(n))), 10_001)
		}, "too-long-mempool-chain"},
		{"descendants, with the exception for small ones", 25, func(r *rig, n int64) *wire.MsgTx {
			parent := r.must(r.tx(1000, 30, r.coin()))
			for i := range uint32(n) - 1 {
				r.must(r.tx(1000, 1, out(parent, i)))
			}
			return r.tx(1000, 1, out(parent, uint32(n)))
		}, "too-long-mempool-chain"},
		{"virtual size of the exception", 10_000, func(r *rig, n int64) *wire.MsgTx {
			parent := r.must(r.tx(1000, 30, r.coin()))
			for i := range uint32(24) {
				r.must(r.tx(1000, 1, out(parent, i)))
			}
			return sized(r.tx(20_000, 1, out(parent, 25)), int(n)-2) // and 2 of the witness
		}, "too-long-mempool-chain"},
		{"legacy signature operations of outputs", 2500, func(r *rig, n int64) *wire.MsgTx {
			tx := wire.NewMsgTx(2)
			for n > 0 {
				ops := min(n, 3)
				n -= ops
				script := []byte{txscript.OP_1}
				for range ops {
					script = slices.Concat(script, []byte{33, 2}, make([]byte, 32))
				}
				at := r.paying(append(script, txscript.OP_1+byte(ops)-1, txscript.OP_CHECKMULTISIG))
				tx.AddTxIn(&wire.TxIn{PreviousOutPoint: at, Sequence: wire.MaxTxInSequenceNum})
			}
			tx.AddTxOut(wire.NewTxOut(coinValue, anyone))
			return tx
		}, "bad-txns-nonstandard-inputs"},
		{"virtual size of ancestors", 101_000, func(r *rig, n int64) *wire.MsgTx {
			parent := r.must(sized(r.tx(100_000, 1, r.coin()), 90_000))
			return sized(r.tx(50_000, 1, out(parent, 0)), int(n)-r.entry(parent)-2) // and 2 of the witness
		}, "too-long-mempool-chain"},
		{"virtual size, restricted", 10_000, func(r *rig, n int64) *wire.MsgTx {
			tx := sized(r.tx(50_000, 1, r.coin()), int(n)-2)
			tx.Version = 3
			return tx
		}, "TRUC-violation"},
		{"virtual size of a restricted child", 1000, func(r *rig, n int64) *wire.MsgTx {
			parent := r.tx(1000, 1, r.coin())
			parent.Version = 3
			r.must(parent)
			tx := sized(r.tx(50_000, 1, out(parent, 0)), int(n)-2)
			tx.Version = 3
			return tx
		}, "TRUC-violation"},
		{"transactions that are replaced", 100, func(r *rig, n int64) *wire.MsgTx {
			var coins []wire.OutPoint
			for n > 0 { // of at most 25 each
				of := min(n, 25)
				n -= of
				coins = append(coins, r.coin())
				r.chain(int(of), coins[len(coins)-1])
			}
			return r.tx(500_000, 1, coins...)
		}, "too many potential replacements"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			for _, n := range []int64{test.last - 1, test.last, test.last + 1} {
				want := ""
				if n > test.last {
					want = test.want
				}
				r := newRig(t)
				tx := test.tx(r, n)
				if reject := r.accept(tx); reasonOf(reject) != want {
					t.Errorf("%d: got %v, want %q", n, reject, want)
				}
				if err := r.pool.Check(); err != nil {
					t.Errorf("%d: %v", n, err)
				}
			}
		})
	}
}

// Least values: what is one below them is refused.
func TestLowerEdges(t *testing.T) {
	for _, test := range []struct {
		rule  string
		first int64 // that is taken
		tx    func(r *rig, n int64) *wire.MsgTx
		want  string
	}{
		{"version", 1, func(r *rig, n int64) *wire.MsgTx {
			tx := r.tx(1000, 1, r.coin())
			tx.Version = int32(n)
			return tx
		}, "version"},
		{"size", 65, func(r *rig, n int64) *wire.MsgTx {
			tx := r.tx(1000, 0, r.coin())
			tx.AddTxOut(wire.NewTxOut(0, append([]byte{txscript.OP_RETURN}, make([]byte, n-61)...)))
			return tx
		}, "tx-size-small"},
		{"dust, P2WSH", 330, dusty(anyone), "dust"},
		{"dust, P2PKH", 546, dusty(p2pkh), "dust"},
		{"dust, witness of another version", 330, dusty(taproot), "dust"},
		{"dust of a data carrier", 0, func(r *rig, n int64) *wire.MsgTx {
			tx := r.tx(1000, 1, r.coin())
			tx.AddTxOut(wire.NewTxOut(n, []byte{txscript.OP_RETURN}))
			return tx
		}, "bad-txns-vout-negative"},
		// of 95 virtual bytes
		{"least fee", 10, func(r *rig, n int64) *wire.MsgTx { return r.tx(n, 1, r.coin()) }, "min relay fee not met"},
		{"fee of a larger replacement", 3010, func(r *rig, n int64) *wire.MsgTx {
			coin := r.coin()
			r.chain(3, coin)
			return r.tx(n, 1, coin)
		}, "insufficient fee"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			for _, n := range []int64{test.first - 1, test.first, test.first + 1} {
				want := ""
				if n < test.first {
					want = test.want
				}
				r := newRig(t)
				if reject := r.accept(test.tx(r, n)); reasonOf(reject) != want {
					t.Errorf("%d: got %v, want %q", n, reject, want)
				}
			}
		})
	}
}

// dusty makes a transaction with two outputs of a value.
func dusty(script []byte) func(*rig, int64) *wire.MsgTx {
	return func(r *rig, n int64) *wire.MsgTx {
		tx := r.tx(1000, 0, r.coin())
		tx.AddTxOut(wire.NewTxOut(n, script))
		tx.AddTxOut(wire.NewTxOut(n, script))
		return tx
	}
}

// virtual is the virtual size of a transaction.
func (*rig) virtual(tx *wire.MsgTx) int64 {
	return int64(3*tx.SerializeSizeStripped()+tx.SerializeSize()+3) / 4
}

// entry is the virtual size of a transaction of the pool.
func (r *rig) entry(tx *wire.MsgTx) int {
	id := tx.TxHash()
	return int(r.pool.Lookup(&id).VSize)
}
