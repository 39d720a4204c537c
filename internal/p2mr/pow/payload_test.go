package pow

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// coinbaseLen is the length of the coinbase that payloads of a proof begin with.
func coinbaseLen(tb testing.TB, payload []byte) int {
	tb.Helper()
	r := bytes.NewReader(payload)
	if err := new(wire.MsgTx).DeserializeNoWitness(r); err != nil {
		tb.Fatal(err)
	}
	return len(payload) - r.Len()
}

// hashed puts bytes behind the coinbase of a payload.
func hashed(tb testing.TB, payload []byte, gap []byte) []byte {
	tb.Helper()
	at := coinbaseLen(tb, payload)
	return slices.Concat(payload[:at], gap, payload[at:])
}

func TestReadPayload(t *testing.T) {
	t.Parallel()
	hash := chainhash.Hash{9}
	for _, p := range []*proof{
		{inputs: 1, script: commits(hash, 0, true, mergedMagic)},
		{inputs: 1, script: commits(hash, 3, true, mergedMagic), branch: 3, coinbaseBranch: 5},
		{inputs: 2, script: nil, wrongRoot: true, coinbaseIndex: 4, chainIndex: -1}, // what it says is judged elsewhere
	} {
		own := p.payload(easy)
		parent := chainhash.DoubleHashH(own[len(own)-wire.MaxBlockHeaderPayload:])
		for _, test := range []struct {
			name string
			raw  []byte
			good bool
		}{
			{"as blocks have it", own, true},
			{"zeros", hashed(t, own, make([]byte, 32)), true},
			{"the hash of the parent", hashed(t, own, parent[:]), true},
			{"another hash", hashed(t, own, bytes.Repeat([]byte{0x77}, 32)), false},
			{"31 zeros", hashed(t, own, make([]byte, 31)), false},
			{"33 zeros", hashed(t, own, make([]byte, 33)), false},
			{"a byte more", append(slices.Clone(own), 0), false},
			{"a byte more, with zeros", append(hashed(t, own, make([]byte, 32)), 0), false},
			{"a byte less", own[:len(own)-1], false},
			{"nothing", nil, false},
		} {
			got, err := ReadPayload(test.raw)
			if (err == nil) != test.good || test.good && !bytes.Equal(got, own) {
				t.Errorf("%s: %x, %v", test.name, got, err)
			}
		}
	}
}

// ambiguous is a payload in both layouts: the hash of its parent begins as a branch with one sibling does, and the
// number of siblings behind it ends that sibling.
func ambiguous(inParent bool) (own, raw []byte) {
	p := proof{inputs: 1, wrongRoot: !inParent}
	own = p.payload(easy)
	header := own[len(own)-wire.MaxBlockHeaderPayload:]
	hash := chainhash.DoubleHashH(header)
	for ; hash[0] != 1; hash = chainhash.DoubleHashH(header) {
		nonce := header[wire.MaxBlockHeaderPayload-4:]
		binary.LittleEndian.PutUint32(nonce, binary.LittleEndian.Uint32(nonce)+1)
	}
	at := len(own) - wire.MaxBlockHeaderPayload - 10
	return own, slices.Concat(own[:at], hash[:], own[at:])
}

// Bytes in both layouts are read in the layout whose coinbase is in the parent, else in the layout of blocks.
func TestReadAmbiguousPayload(t *testing.T) {
	t.Parallel()
	for _, inParent := range []bool{true, false} {
		own, raw := ambiguous(inParent)
		a, err := parseAuxPoW(raw)
		if err != nil || len(a.coinbaseBranch) != 1 {
			t.Fatalf("in the layout of blocks: %v", err)
		}
		if _, payload, err := parseHashed(raw); err != nil || !bytes.Equal(payload, own) {
			t.Fatalf("with the hash: %x, %v", payload, err)
		}
		want := raw
		if inParent {
			want = own
		}
		if got, err := ReadPayload(raw); err != nil || !bytes.Equal(got, want) {
			t.Errorf("in the parent: %v; got %x, %v", inParent, got, err)
		}
	}
}

// FuzzReadPayload reads payloads in both layouts. A payload that is taken has the layout of blocks, and is as
// long as the input or a hash shorter. If its length is the input's, it is read again as the same payload.
func FuzzReadPayload(f *testing.F) {
	p := proof{inputs: 1, script: commits(chainhash.Hash{1}, 1, true, mergedMagic), branch: 1, coinbaseBranch: 2}
	own := p.payload(easy)
	f.Add(own)
	f.Add(hashed(f, own, make([]byte, 32)))
	parent := chainhash.DoubleHashH(own[len(own)-wire.MaxBlockHeaderPayload:])
	f.Add(hashed(f, own, parent[:]))
	f.Add(own[:40])
	for _, inParent := range []bool{true, false} {
		_, raw := ambiguous(inParent)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		payload, err := ReadPayload(raw)
		ownErr := func() error { _, err := parseAuxPoW(raw); return err }()
		hashedAux, _, hashedErr := parseHashed(raw)
		if err != nil {
			if ownErr == nil || hashedErr == nil {
				t.Error("one layout is right, and it is refused")
			}
			return
		}
		a, err := parseAuxPoW(payload)
		if err != nil {
			t.Fatalf("what is taken is none: %v", err)
		}
		again, err := ReadPayload(payload)
		if less := len(raw) - len(payload); less != 0 && less != chainhash.HashSize {
			t.Errorf("%d bytes less", less)
		} else if less == 0 && (err != nil || !bytes.Equal(again, payload)) {
			t.Errorf("taken differently again: %v", err)
		} else if less != 0 && a.parent.BlockHash() != hashedAux.parent.BlockHash() {
			t.Error("another parent")
		}
	})
}
