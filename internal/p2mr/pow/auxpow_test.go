package pow

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

const (
	chain   = 31430
	easy    = 0x207fffff
	version = 0x20000100 | chain<<13
)

// A proof is a payload in parts, to be spoiled one by one.
type proof struct {
	script                   []byte // of the coinbase's input
	inputs                   int
	coinbaseIndex            int32
	coinbaseBranch, branch   int // lengths
	chainIndex               int32
	wrongRoot, unsolved, cut bool
}

func (p *proof) payload(bits uint32) []byte {
	coinbase := wire.NewMsgTx(1)
	for range p.inputs {
		coinbase.AddTxIn(&wire.TxIn{
			PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}, SignatureScript: p.script,
		})
	}
	coinbase.AddTxOut(wire.NewTxOut(0, []byte{0x51}))
	sibling := func(n int) (hashes []chainhash.Hash) {
		for i := range n {
			hashes = append(hashes, chainhash.Hash{byte(i + 1)})
		}
		return hashes
	}
	root := fold(coinbase.TxHash(), sibling(p.coinbaseBranch), 0)
	if p.wrongRoot {
		root[0] ^= 1
	}
	parent := wire.BlockHeader{Version: 1, MerkleRoot: root, Timestamp: time.Unix(1, 0), Bits: bits}
	for hash := parent.BlockHash(); (hash[chainhash.HashSize-1] < 0x7f) == p.unsolved; hash = parent.BlockHash() {
		parent.Nonce++
	}
	var raw bytes.Buffer // takes everything
	_ = coinbase.SerializeNoWitness(&raw)
	number := func(n int32) { raw.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}) }
	branch := func(n int) {
		_ = wire.WriteVarInt(&raw, 0, uint64(n))
		for _, hash := range sibling(n) {
			raw.Write(hash[:])
		}
	}
	branch(p.coinbaseBranch)
	number(p.coinbaseIndex)
	branch(p.branch)
	number(p.chainIndex)
	_ = parent.Serialize(&raw)
	if p.cut {
		raw.Truncate(raw.Len() - 1)
	}
	return raw.Bytes()
}

// commits is a script that commits to a hash among those of 2^height chains.
func commits(hash chainhash.Hash, height int, display bool, before []byte) []byte {
	for i := range height {
		sibling := chainhash.Hash{byte(i + 1)}
		hash = pair(&hash, &sibling)
	}
	if display {
		slices.Reverse(hash[:])
	}
	return slices.Concat(before, hash[:], []byte{1 << height, 0, 0, 0, 0, 0, 0, 0})
}

// TestAuxPoW spoils one part of a proof after the other, on both sides of each limit.
func TestAuxPoW(t *testing.T) {
	t.Parallel()
	p := &Params{ChainID: chain, Limit: below(255)}
	header := wire.BlockHeader{Version: version, Timestamp: time.Unix(2, 0), Bits: easy}
	hash := header.BlockHash()
	marked := append([]byte{44}, mergedMagic...)
	right := func() *proof { return &proof{inputs: 1, script: commits(hash, 0, true, marked)} }
	for _, test := range []struct {
		name  string
		spoil func(*proof)
		want  string
	}{
		{"right", func(*proof) {}, ""},
		{"byte order", func(p *proof) { p.script = commits(hash, 0, false, marked) }, ""},
		{"no coinbase", func(p *proof) { p.inputs = 2 }, "bad-auxpow-coinbase"},
		{"coinbase not the first", func(p *proof) { p.coinbaseIndex = 1 }, "bad-auxpow-coinbase-index"},
		{"chain below none", func(p *proof) { p.chainIndex = -1 }, "bad-auxpow-chain-index"},
		{"chain beyond all", func(p *proof) { p.chainIndex = 1 }, "bad-auxpow-chain-index"},
		{"31 siblings of the chain", func(p *proof) { p.branch = 31 }, "bad-auxpow-chain-branch-size"},
		{"31 siblings of the coinbase", func(p *proof) { p.coinbaseBranch = 31 }, ""},
		{"32 siblings of the coinbase", func(p *proof) { p.coinbaseBranch = 32 }, "bad-auxpow-coinbase-branch-size"},
		{"another root", func(p *proof) { p.wrongRoot = true }, "bad-auxpow-coinbase-branch"},
		{"no work", func(p *proof) { p.unsolved = true }, "bad-auxpow-parent-hash"},
		{"no commitment", func(p *proof) {
			p.script = commits(chainhash.Hash{1}, 0, true, marked)
		}, "bad-auxpow-commitment"},
		{"20 bytes before, no mark", func(p *proof) { p.script = commits(hash, 0, true, make([]byte, 20)) }, ""},
		{"21 bytes before, no mark", func(p *proof) {
			p.script = commits(hash, 0, true, make([]byte, 21))
		}, "bad-auxpow-commitment"},
		{"two marks", func(p *proof) { p.script = append(p.script, mergedMagic...) }, "bad-auxpow-commitment"},
		{"a byte after the mark", func(p *proof) {
			p.script = commits(hash, 0, true, append(marked[:5:5], 0))
		}, "bad-auxpow-commitment"},
		{"footer cut short", func(p *proof) { p.script = p.script[:len(p.script)-1] }, "bad-auxpow-commitment"},
		{"other number of chains", func(p *proof) { p.script[len(p.script)-8] = 2 }, "bad-auxpow-merkle-size"},
		{"wrong slot", func(p *proof) {
			p.branch, p.script = 1, commits(hash, 1, true, marked)
			p.script[len(p.script)-4] = 1
		}, "bad-auxpow-chain-index"},
	} {
		proof := right()
		test.spoil(proof)
		var raw bytes.Buffer
		_ = header.Serialize(&raw) // to memory
		raw.Write(proof.payload(easy))
		h, size, err := ReadHeader(raw.Bytes())
		if err != nil || size != raw.Len() || !h.MergeMined() || h.Lane() != MergeMined {
			t.Fatalf("%s: %d bytes, %v", test.name, size, err)
		}
		if got := p.CheckWork(h); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if p.Proves(raw.Bytes()) != (test.want == "") || p.Proves(append(raw.Bytes(), 0)) {
			t.Errorf("%s: proved differently", test.name)
		}
	}
	other := &Params{ChainID: chain + 1, Limit: p.Limit}
	var raw bytes.Buffer
	_ = header.Serialize(&raw) // to memory
	raw.Write(right().payload(easy))
	if h, _, err := ReadHeader(raw.Bytes()); err != nil || other.CheckWork(h) != "bad-auxpow-chainid" {
		t.Errorf("another chain's id: %v", err)
	}
	if _, _, err := ReadHeader(raw.Bytes()[:raw.Len()-1]); err == nil {
		t.Error("a payload that is cut short is read")
	}
}

// A header without a payload is of the permissionless lane, and proves itself.
func TestOwnWork(t *testing.T) {
	t.Parallel()
	p := &Params{ChainID: chain, Limit: below(255)}
	for nonce := range uint32(20) {
		header := wire.BlockHeader{Version: 1, Timestamp: time.Unix(2, 0), Bits: easy, Nonce: nonce}
		var raw bytes.Buffer
		_ = header.Serialize(&raw) // to memory
		h, size, err := ReadHeader(raw.Bytes())
		if err != nil || size != wire.MaxBlockHeaderPayload || h.Lane() != Permissionless || h.Payload != nil {
			t.Fatalf("%d bytes, %v", size, err)
		}
		want := ""
		if h.Hash[chainhash.HashSize-1] > 0x7f {
			want = "high-hash"
		}
		if got := p.CheckWork(h); got != want {
			t.Errorf("nonce %d: %q, want %q", nonce, got, want)
		}
	}
}

// FuzzAuxPoW reads and checks payloads that begin as right ones.
func FuzzAuxPoW(f *testing.F) {
	hash := chainhash.Hash{1}
	right := &proof{inputs: 1, script: commits(hash, 0, true, append([]byte{44}, mergedMagic...))}
	f.Add(right.payload(easy))
	f.Add([]byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := parseAuxPoW(raw)
		if err != nil {
			return
		}
		enough := func(*chainhash.Hash) bool { return true }
		either := a.check(&hash, chain, EitherOrder, enough)
		for _, as := range []Order{DisplayOrder, ByteOrder} {
			if a.check(&hash, chain, as, enough) == "" && either != "" {
				t.Errorf("right in one order, and either is %q", either)
			}
		}
	})
}
