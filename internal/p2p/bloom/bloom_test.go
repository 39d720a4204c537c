package bloom_test

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	bip37 "github.com/btcsuite/btcd/btcutil/bloom"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/bloom"
)

// pay returns a transaction that spends an output and pays to scripts.
func pay(from wire.OutPoint, sig []byte, scripts ...[]byte) (*wire.MsgTx, *chainhash.Hash) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: from, SignatureScript: sig})
	for _, s := range scripts {
		tx.AddTxOut(&wire.TxOut{Value: 1, PkScript: s})
	}
	id := tx.TxHash()
	return tx, &id
}

// load returns a filter with one element.
func load(flags wire.BloomUpdateType, element []byte) (*bloom.Filter, *bip37.Filter) {
	other := bip37.NewFilter(10, 7, 0.000001, flags)
	other.Add(element)
	f := new(bloom.Filter)
	f.Load(other.MsgFilterLoad())
	return f, other
}

var (
	hash20 = []byte("twenty bytes of hash")
	p2sh   = append(append([]byte{0xa9, 0x14}, hash20...), 0x87)
	pubkey = append(append([]byte{0x21, 0x02}, make([]byte, 31)...), 0x01, 0xac)
	other  = []byte{0x51}
)

// A filter lets transactions through by its elements and by the way it grows.
func TestRelevant(t *testing.T) {
	elsewhere := wire.OutPoint{Index: 3}
	paying, id := pay(elsewhere, nil, other, p2sh)
	spending, _ := pay(wire.OutPoint{Hash: *id, Index: 1}, nil, other)
	for name, test := range map[string]struct {
		flags   wire.BloomUpdateType
		element []byte
		tx      *wire.MsgTx
		want    bool
		then    bool // what spends the output, afterwards
	}{
		"output":           {wire.BloomUpdateAll, hash20, paying, true, true},
		"output, fixed":    {wire.BloomUpdateNone, hash20, paying, true, false},
		"output, keys":     {wire.BloomUpdateP2PubkeyOnly, hash20, paying, true, false},
		"id":               {wire.BloomUpdateAll, id[:], paying, true, false},
		"nothing":          {wire.BloomUpdateAll, []byte("something else"), paying, false, false},
		"spent output":     {wire.BloomUpdateNone, outPoint(*id, 1), spending, true, true},
		"another's output": {wire.BloomUpdateNone, outPoint(*id, 0), spending, false, false},
	} {
		f, _ := load(test.flags, test.element)
		hash := test.tx.TxHash()
		got := f.Relevant(test.tx, &hash)
		after := spending.TxHash()
		if then := f.Relevant(spending, &after); got != test.want || then != test.then {
			t.Errorf("%s: %v, then %v", name, got, then)
		}
	}
	key, keyID := pay(elsewhere, nil, pubkey)
	f, _ := load(wire.BloomUpdateP2PubkeyOnly, pubkey[1:34])
	next, nextID := pay(wire.OutPoint{Hash: *keyID}, nil, other)
	if !f.Relevant(key, keyID) || !f.Relevant(next, nextID) {
		t.Error("an output of a public key is not followed")
	}
	signed, signedID := pay(elsewhere, append([]byte{20}, hash20...), other)
	if f, _ := load(wire.BloomUpdateNone, hash20); !f.Relevant(signed, signedID) {
		t.Error("a push of an input does not count")
	}
	half, halfID := pay(elsewhere, append(append([]byte{20}, hash20...), 0x4d, 9), other)
	if f, _ := load(wire.BloomUpdateNone, hash20); !f.Relevant(half, halfID) {
		t.Error("a push before the end of a broken script does not count")
	}
}

func outPoint(id chainhash.Hash, index byte) []byte { return append(id[:], index, 0, 0, 0) }

// Without a filter everything is wanted, as with one without bits, to which elements can
// be added. To none nothing can be added.
func TestUnset(t *testing.T) {
	tx, id := pay(wire.OutPoint{}, nil, other)
	var f bloom.Filter
	if f.IsSet() || !f.Relevant(tx, id) || f.Add(hash20) == nil {
		t.Error("unset")
	}
	f.Load(&wire.MsgFilterLoad{HashFuncs: 1})
	if !f.IsSet() || !f.Relevant(tx, id) || f.Add(hash20) != nil {
		t.Error("empty")
	}
	f.Load(&wire.MsgFilterLoad{Filter: make([]byte, 100), HashFuncs: 5})
	if f.Relevant(tx, id) || f.Add(id[:]) != nil || !f.Relevant(tx, id) {
		t.Error("element that was added")
	}
	if f.Clear(); f.IsSet() || !f.Relevant(tx, id) {
		t.Error("cleared")
	}
}

// The example of BIP37's reference: an element and its filter.
func TestKnownFilter(t *testing.T) {
	var f bloom.Filter
	f.Load(&wire.MsgFilterLoad{Filter: make([]byte, 3), HashFuncs: 5, Flags: wire.BloomUpdateAll})
	element, _ := hex.DecodeString("99108ad8ed9bb6274d3980bab5a85c048f0950c8")
	if err := f.Add(element); err != nil {
		t.Fatal(err)
	}
	want := bip37.LoadFilter(&wire.MsgFilterLoad{Filter: make([]byte, 3), HashFuncs: 5, Flags: wire.BloomUpdateAll})
	want.Add(element)
	tx, id := pay(wire.OutPoint{}, append([]byte{20}, element...), other)
	if !f.Relevant(tx, id) || !want.MatchTxAndUpdate(btcutil.NewTx(tx)) {
		t.Error("not found")
	}
}

// For any filter, element and script of a peer, the filter finds every transaction that
// btcutil's finds, and does not panic.
func FuzzFilter(f *testing.F) {
	f.Add([]byte{0xff, 0}, uint32(3), uint32(5), byte(1), hash20, p2sh)
	f.Add([]byte{}, uint32(50), uint32(0), byte(2), []byte{}, []byte{0x4e, 1})
	f.Fuzz(func(t *testing.T, bits []byte, hashes, tweak uint32, flags byte, element, script []byte) {
		if len(bits) > wire.MaxFilterLoadFilterSize || hashes > wire.MaxFilterLoadHashFuncs {
			return
		}
		update := wire.BloomUpdateType(flags)
		m := wire.MsgFilterLoad{Filter: slices.Clone(bits), HashFuncs: hashes, Tweak: tweak, Flags: update}
		var b bloom.Filter
		b.Load(&m)
		_ = b.Add(element)
		tx, id := pay(wire.OutPoint{}, nil, script)
		got := b.Relevant(tx, id)
		if len(bits) == 0 || hashes == 0 {
			if !got {
				t.Error("a filter without bits or hashes keeps something out")
			}
			return
		}
		other := bip37.LoadFilter(&m)
		other.Add(element)
		if other.MatchTxAndUpdate(btcutil.NewTx(tx)) && !got {
			t.Error("what btcutil finds is not found")
		}
	})
}
