package consensus

import (
	"bytes"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
)

const maxMoney = 21_000_000 * 100_000_000

var rules = Rules{MaxMoney: maxMoney, MaxWeight: 4_000_000, WitnessScale: 4, Maturity: 100}

// paying returns a transaction of one input that pays values.
func paying(values ...int64) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{1}}, Sequence: math.MaxUint32})
	for _, v := range values {
		tx.AddTxOut(wire.NewTxOut(v, nil))
	}
	return tx
}

func with(tx *wire.MsgTx, change func(*wire.MsgTx)) *wire.MsgTx {
	change(tx)
	return tx
}

func word(v *Violation) string {
	if v == nil {
		return ""
	}
	return v.Reason
}

// Both sides of every edge of what a transaction may be.
func TestCheckTx(t *testing.T) {
	coinbase := func(script int) *wire.MsgTx {
		return with(paying(1), func(tx *wire.MsgTx) {
			tx.TxIn[0].PreviousOutPoint = wire.OutPoint{Index: math.MaxUint32}
			tx.TxIn[0].SignatureScript = make([]byte, script)
		})
	}
	inputs := func(n int, twice bool) *wire.MsgTx {
		return with(paying(1), func(tx *wire.MsgTx) {
			for i := range n - 1 {
				tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{1}, Index: uint32(i + 1)}})
			}
			if twice {
				tx.AddTxIn(&wire.TxIn{PreviousOutPoint: tx.TxIn[len(tx.TxIn)/2].PreviousOutPoint})
			}
		})
	}
	sized := func(size int) *wire.MsgTx {
		tx := paying(1)
		tx.TxIn[0].Witness = wire.TxWitness{make([]byte, 1000)} // does not count
		tx.TxOut[0].PkScript = make([]byte, size-tx.SerializeSizeStripped()-4)
		return tx
	}
	for _, test := range []struct {
		name string
		tx   *wire.MsgTx
		want string
	}{
		{"plain", paying(0), ""},
		{"no inputs", with(paying(1), func(tx *wire.MsgTx) { tx.TxIn = nil }), "bad-txns-vin-empty"},
		{"no outputs", paying(), "bad-txns-vout-empty"},
		{"negative", paying(-1), "bad-txns-vout-negative"},
		{"all money", paying(maxMoney), ""},
		{"more", paying(maxMoney + 1), "bad-txns-vout-toolarge"},
		{"all money in two", paying(maxMoney-1, 1), ""},
		{"more in two", paying(maxMoney, 1), "bad-txns-txouttotal-toolarge"},
		{"few inputs", inputs(16, false), ""},
		{"one of 16 twice", inputs(15, true), "bad-txns-inputs-duplicate"},
		{"one of 17 twice", inputs(16, true), "bad-txns-inputs-duplicate"},
		{"one twice", inputs(3, true), "bad-txns-inputs-duplicate"},
		{"many inputs", inputs(100, false), ""},
		{"one of many twice", inputs(100, true), "bad-txns-inputs-duplicate"},
		{"coinbase of 1", coinbase(1), "bad-cb-length"},
		{"coinbase of 2", coinbase(2), ""},
		{"coinbase of 100", coinbase(100), ""},
		{"coinbase of 101", coinbase(101), "bad-cb-length"},
		{"spends nothing", with(paying(1), func(tx *wire.MsgTx) {
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: math.MaxUint32}})
		}), "bad-txns-prevout-null"},
		{"a million bytes", sized(1_000_000), ""},
		{"a byte more", sized(1_000_001), "bad-txns-oversize"},
	} {
		if got := word(rules.CheckTx(test.tx)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// Both sides of every edge of what a transaction may spend.
func TestCheckSpend(t *testing.T) {
	const height = 200
	for _, test := range []struct {
		name  string
		pays  int64
		coins []Coin
		want  string
		debug string
		fee   int64
	}{
		{"fee", 7, []Coin{{Value: 10}}, "", "", 3},
		{"no fee", 10, []Coin{{Value: 10}}, "", "", 0},
		{"below", 11, []Coin{{Value: 10}}, "bad-txns-in-belowout", "value in (0.0000001) < value out (0.00000011)", 0},
		{"ripe", 1, []Coin{{Value: 1, Coinbase: true, Height: height - 100}}, "", "", 0},
		{
			"not ripe", 1,
			[]Coin{{Value: 1, Coinbase: true, Height: height - 99}},
			"bad-txns-premature-spend-of-coinbase",
			"tried to spend coinbase at depth 99", 0,
		},
		{"no coinbase", 1, []Coin{{Value: 1, Height: height}}, "", "", 0},
		{"all money", maxMoney, []Coin{{Value: maxMoney}}, "", "", 0},
		{"a coin of more", 1, []Coin{{Value: maxMoney + 1}}, "bad-txns-inputvalues-outofrange", "", 0},
		{"a negative coin", 1, []Coin{{Value: -1}}, "bad-txns-inputvalues-outofrange", "", 0},
		{"all money in two", 1, []Coin{{Value: maxMoney - 1}, {Value: 1}}, "", "", maxMoney - 1},
		{"more in two", 1, []Coin{{Value: maxMoney}, {Value: 1}}, "bad-txns-inputvalues-outofrange", "", 0},
	} {
		fee, v := rules.CheckSpend(paying(test.pays), test.coins, height)
		if word(v) != test.want || fee != test.fee || v != nil && v.Debug != test.debug {
			t.Errorf("%s: fee %d, %v; want %d, %q, %q", test.name, fee, v, test.fee, test.want, test.debug)
		}
	}
}

func TestFinal(t *testing.T) {
	const height, now = 100, 1_600_000_000
	for _, test := range []struct {
		lock     uint32
		sequence uint32
		want     bool
	}{
		{0, 0, true},
		{99, 0, true},
		{100, 0, false},
		{100, math.MaxUint32, true},
		{499_999_999, 0, false},
		{500_000_000, 0, true},
		{now - 1, 0, true},
		{now, 0, false},
		{now, math.MaxUint32 - 1, false},
		{now, math.MaxUint32, true},
	} {
		tx := paying(1)
		tx.LockTime, tx.TxIn[0].Sequence = test.lock, test.sequence
		if got := Final(tx, height, now); got != test.want {
			t.Errorf("lock time %d, sequence %x: %v", test.lock, test.sequence, got)
		}
	}
}

// spaced returns the tip of a chain whose blocks are 512 seconds apart, so that the
// median time of a block is that of the one five before it.
func spaced(tb testing.TB, height int32) *chainview.Block {
	tb.Helper()
	header := wire.BlockHeader{Timestamp: time.Unix(1_000_000, 0)}
	at := chainview.NewTree(&header, new(big.Int)).Active().Tip()
	for at.Height < height {
		next := wire.BlockHeader{Timestamp: at.Time().Add(512 * time.Second)}
		at = chainview.NewChild(at, &next)
	}
	return at
}

// Both sides of relative lock times.
func TestSequenceFinal(t *testing.T) {
	parent := spaced(t, 100) // the block is at 101
	const seconds = wire.SequenceLockTimeIsSeconds
	for _, test := range []struct {
		name     string
		version  int32
		coin     int32
		sequence uint32
		want     bool
	}{
		{"one block", 2, 100, 1, true},
		{"two blocks", 2, 100, 2, false},
		{"many", 2, 1, 100, true},
		{"one more", 2, 1, 101, false},
		{"none, in this block", 2, 101, 0, true},
		{"one, in this block", 2, 101, 1, false},
		{"old version", 1, 100, 50, true},
		{"negative version", -1, 100, 50, false},
		{"disabled", 2, 100, wire.SequenceLockTimeDisabled | 50, true},
		{"bits beside the mask", 2, 100, 1<<16 | 1<<21 | 1, true},
		// The block before the coin is at 89, with the median time of 84; that of the
		// parent is of 95.
		{"time has passed", 2, 90, seconds | 11, true},
		{"time has not", 2, 90, seconds | 12, false},
		{"of the genesis block", 2, 0, seconds, true},
	} {
		tx := paying(1)
		tx.Version, tx.TxIn[0].Sequence = test.version, test.sequence
		if got := SequenceFinal(tx, func(int) int32 { return test.coin }, parent); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	tx := paying(1)
	tx.TxIn[0].Sequence = 1
	tx.AddTxIn(&wire.TxIn{Sequence: 5})
	if SequenceFinal(tx, func(int) int32 { return 100 }, parent) {
		t.Error("the second input is not looked at")
	}
}

func TestOutputs(t *testing.T) {
	for _, test := range []struct {
		script              []byte
		unspendable, parses bool
	}{
		{nil, false, true},
		{[]byte{0x51}, false, true},
		{[]byte{0x6a}, true, true},
		{[]byte{0x51, 0x6a}, false, true},
		{make([]byte, 10_000), false, true},
		{make([]byte, 10_001), true, true},
		{[]byte{1}, false, false},
		{[]byte{1, 1}, false, true},
		{[]byte{0x4c}, false, false},
		{[]byte{0x4c, 1}, false, false},
		{[]byte{0x4c, 1, 9}, false, true},
		{[]byte{0x4d, 1}, false, false},
		{[]byte{0x4d, 1, 0, 9}, false, true},
		{[]byte{0x4e, 1, 0, 0}, false, false},
		{[]byte{0x4e, 2, 0, 0, 0, 9}, false, false},
		{[]byte{0x4e, 1, 0, 0, 0, 9}, false, true},
	} {
		if Unspendable(test.script) != test.unspendable || Parses(test.script) != test.parses {
			t.Errorf("%.20x: unspendable %v, parses %v", test.script, Unspendable(test.script), Parses(test.script))
		}
	}
}

func TestMerkleRoot(t *testing.T) {
	h := func(n byte) chainhash.Hash { return chainhash.Hash{n} }
	for _, test := range []struct {
		name   string
		list   []chainhash.Hash
		same   []chainhash.Hash // has the same root
		repeat bool
	}{
		{"none", nil, nil, false},
		{"one", []chainhash.Hash{h(1)}, []chainhash.Hash{h(1)}, false},
		{"three", []chainhash.Hash{h(1), h(2), h(3)}, []chainhash.Hash{h(1), h(2), h(3)}, false},
		{"the last again", []chainhash.Hash{h(1), h(2), h(3), h(3)}, []chainhash.Hash{h(1), h(2), h(3)}, true},
		{"the last two again", []chainhash.Hash{
			h(1), h(2), h(3), h(4), h(5), h(6), h(5), h(6),
		}, []chainhash.Hash{h(1), h(2), h(3), h(4), h(5), h(6)}, true},
		{"twice, not beside each other", []chainhash.Hash{
			h(1), h(2), h(2), h(3),
		}, []chainhash.Hash{h(1), h(2), h(2), h(3)}, false},
	} {
		root, repeated := MerkleRoot(test.list)
		same, _ := MerkleRoot(test.same)
		if root != same || repeated != test.repeat {
			t.Errorf("%s: %v, %v", test.name, root == same, repeated)
		}
	}
}

// FuzzReadTxs: what is read is what btcd reads, but for transactions that begin like
// those with witnesses and have neither inputs nor outputs.
func FuzzReadTxs(f *testing.F) {
	seed := func(txs ...*wire.MsgTx) {
		var b bytes.Buffer
		_ = wire.WriteVarInt(&b, 0, uint64(len(txs)))
		for _, tx := range txs {
			_ = tx.Serialize(&b)
		}
		f.Add(b.Bytes())
	}
	seed(paying(1, 2))
	seed(paying(1), with(paying(5), func(tx *wire.MsgTx) { tx.TxIn[0].Witness = wire.TxWitness{{1, 2}, {}} }))
	f.Add([]byte{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{1, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{0xfd, 1, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, end, err := ReadTxs(raw, 0)
		block := wire.MsgBlock{}
		r := bytes.NewReader(append(make([]byte, wire.MaxBlockHeaderPayload), raw...))
		want := block.Deserialize(r)
		if err != nil {
			if want == nil {
				t.Fatalf("not read: %v", err)
			}
			return
		}
		stripped := 0
		for i, tx := range got.List {
			if tx.TxHash() != got.IDs[i] && len(tx.TxIn) > 0 || tx.WitnessHash() != got.WitnessIDs[i] &&
				len(tx.TxIn) > 0 {
				t.Fatalf("transaction %d has another id", i)
			}
			stripped += tx.SerializeSizeStripped()
		}
		if stripped += wire.VarIntSerializeSize(uint64(len(got.List))); stripped != got.Stripped {
			t.Fatalf("%d bytes without witnesses, want %d", got.Stripped, stripped)
		}
		if want != nil {
			for _, tx := range got.List {
				if len(tx.TxIn) == 0 {
					return // btcd reads none of these
				}
			}
			if len(raw) < wire.MaxBlockPayload {
				t.Fatalf("btcd does not read it: %v", want)
			}
			return
		}
		if r.Len() != len(raw)-end {
			t.Fatalf("it ends at %d, want %d", end, len(raw)-r.Len())
		}
		var again, first bytes.Buffer
		_ = block.Serialize(&first)
		_ = (&wire.MsgBlock{Header: block.Header, Transactions: got.List}).Serialize(&again)
		if !bytes.Equal(again.Bytes(), first.Bytes()) {
			t.Fatal("other transactions")
		}
	})
}
