package differ_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/differ"
)

// TestMergedMining has both nodes make templates and blocks for merged mining on the same chain, judges proofs of all
// kinds with both, and moves the tip meanwhile.
func TestMergedMining(t *testing.T) {
	for left := differ.QbitCases(t, 2000); left > 0 && !t.Failed(); left -= mergedGame {
		t.Run("chain", func(t *testing.T) { playMerged(t, min(left, mergedGame)) })
	}
}

// mergedGame is how many replies are compared on one chain.
const mergedGame = 20_000

// moves is the number behind the hash of a longpollid.
var moves = regexp.MustCompile(`("longpollid":"[0-9a-f]{64})[0-9]+"`)

func playMerged(t *testing.T, cases int) {
	t.Helper()
	r := differ.QbitRandom(t)
	args := []string{"-auxpowtemplatecachelimit=6", "-auxpowtemplateexpiry=20", "-persistmempool=0"}
	if r.IntN(2) == 0 {
		args = append(args, "-testactivationheight=auxpowcommitment@150")
	}
	p := differ.Start(t, differ.Config{Qbit: true, Args: args}, differ.Exception{
		Reason: "the number in longpollid counts moves of the tip; two that follow each other at once may be one here",
		Is: func(_ differ.Call, got differ.Replies) bool {
			return moves.ReplaceAllString(got.Trawl.String(), "$1") == moves.ReplaceAllString(got.Core.String(), "$1")
		},
	})
	m := &mergedPlay{miner: &miner{Rand: r, t: t, p: p, now: templateStart + 100_000_000}}
	m.pass(0)
	m.begin()
	for p.Report.Compared() < cases && p.Report.Differences() == 0 {
		m.step()
	}
	p.Alive()
}

// The outputs that blocks pay to, and addresses of them; the last two are none.
var (
	pqcKeys = []string{
		"3d69debe97aea0e7a8e04ba7e6eec390013f9d276b447b6681730e71e3934ddf",
		"1d69debe97aea0e7a8e04ba7e6eec390013f9d276b447b6681730e71e3934ddf",
	}
	noAddresses = []string{"", "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"}
)

// mergedPlay mines on chains of qbit.
type mergedPlay struct {
	*miner

	addresses []string
	work      []chainhash.Hash // that createauxblock has named, the last ones
	past      []string         // blocks that were on the chain
}

func (m *mergedPlay) begin() {
	for _, key := range pqcKeys {
		var info struct{ Descriptor string }
		m.p.Get(&info, "getdescriptorinfo", "mr(pk("+key+"))")
		var list []string
		m.p.Get(&list, "deriveaddresses", info.Descriptor)
		m.addresses = append(m.addresses, list...)
	}
}

// step does one thing, or some, on both nodes.
func (m *mergedPlay) step() {
	switch m.IntN(20) {
	case 0:
		m.pass([]int64{1, 60, 599, 600, 1200, 1201, 7200}[m.IntN(7)])
	case 1:
		m.mine()
	case 2:
		m.move()
	case 3, 4, 5:
		m.create()
	case 6:
		m.compare("getmininginfo")
		m.compare("getblockchaininfo")
		for _, lane := range []string{"all", "permissionless", "auxpow", "none"} {
			m.compare("getnetworkhashps", m.IntN(40)-2, m.IntN(60)-2, lane)
		}
	case 7:
		m.compare("getblocktemplate", map[string]any{"rules": []string{"segwit"}})
	case 8, 9, 10:
		m.proposeAny()
	default:
		m.submit()
	}
}

func (m *mergedPlay) mine() {
	reply := m.compare("generatetoaddress", 1+m.IntN(3), m.addresses[m.IntN(len(m.addresses))])
	var hashes []string
	if json.Unmarshal(reply.Core.Result, &hashes) == nil {
		m.past = append(m.past, hashes...)
	}
}

// move has the tip go back, or forth again.
func (m *mergedPlay) move() {
	if len(m.past) == 0 {
		return
	}
	hash := m.past[max(0, len(m.past)-1-m.IntN(4))]
	m.compare("invalidateblock", hash)
	if m.IntN(3) > 0 {
		m.create()
		m.submit()
	}
	if m.IntN(4) > 0 {
		m.compare("reconsiderblock", hash)
	}
	m.compare("getbestblockhash")
}

func (m *mergedPlay) create() {
	address := m.addresses[m.IntN(len(m.addresses))]
	if m.IntN(12) == 0 {
		address = noAddresses[m.IntN(len(noAddresses))]
	}
	reply := m.compare("createauxblock", address)
	var work struct{ Hash chainhash.Hash }
	if !reply.Core.OK() || json.Unmarshal(reply.Core.Result, &work) != nil {
		return
	}
	if m.work = append(m.work, work.Hash); len(m.work) > 10 {
		m.work = m.work[1:]
	}
}

// submit hands in a proof for one of the last blocks, mostly for the last. Most proofs are right or nearly right.
func (m *mergedPlay) submit() {
	if len(m.work) == 0 {
		return
	}
	hash := m.work[len(m.work)-1]
	if m.IntN(4) == 0 {
		hash = m.work[m.IntN(len(m.work))]
	}
	text := hex.EncodeToString(m.proof(hash))
	named := hash.String()
	switch m.IntN(40) {
	case 0:
		named = named[2:]
	case 1:
		named = chainhash.Hash{9}.String()
	case 2:
		text = text[1:]
	}
	if got := m.compare("submitauxblock", named, text); string(got.Core.Result) == "null" {
		m.past = append(m.past, hash.String())
		m.compare("getblock", hash.String(), m.IntN(3))
		m.compare("getblockheader", hash.String(), m.IntN(2) == 0)
	}
}

// proposeAny compares what is said of blocks of both lanes.
func (m *mergedPlay) proposeAny() {
	reply := m.compare("generateblock", m.addresses[0], []string{}, false)
	var made struct{ Hex string }
	if err := json.Unmarshal(reply.Core.Result, &made); err != nil {
		return
	}
	raw, err := hex.DecodeString(made.Hex)
	if err != nil {
		m.t.Fatal(err)
	}
	change := m.IntN(12)
	header := raw[:wire.MaxBlockHeaderPayload]
	switch change {
	case 0:
		header[4+m.IntN(32)]++ // the parent
	case 1:
		header[36+m.IntN(32)]++ // the root
	case 2:
		binary.LittleEndian.PutUint32(header[68:], uint32(m.now)+uint32(m.IntN(9000)))
	case 3:
		binary.LittleEndian.PutUint32(header[72:], []uint32{0x1d00ffff, 0, 0x207ffffe}[m.IntN(3)])
	case 4:
		binary.LittleEndian.PutUint32(header, m.Uint32())
	case 5:
		header[m.IntN(4)] ^= 1 << m.IntN(8)
	}
	if m.IntN(2) == 0 {
		const version, merged = 0x20000000, 0x100
		chain := uint32(31430)
		if m.IntN(6) == 0 {
			chain += 1 - 2*m.Uint32N(2)
		}
		if change != 4 {
			binary.LittleEndian.PutUint32(header, version|chain<<13|merged)
		}
		raw = slices.Concat(header, m.proof(chainhash.DoubleHashH(header)), raw[len(header):])
	}
	if m.IntN(20) == 0 {
		raw = raw[:len(raw)-1-m.IntN(90)]
	}
	text := hex.EncodeToString(raw)
	m.compare("getblocktemplate", map[string]any{"mode": "proposal", "data": text, "rules": []string{"segwit"}})
	if m.IntN(3) == 0 {
		m.compare("submitblock", text)
		m.compare("getbestblockhash")
	}
}

// A mergedProof is the payload of a merge-mined block before it is serialized.
type mergedProof struct {
	script       []byte // of the parent's coinbase
	branch       []chainhash.Hash
	index        int32
	chains       []chainhash.Hash
	place        int32
	gap          []byte
	parent       wire.BlockHeader
	otherRoot    bool
	withoutWork  bool
	witnessBytes bool
}

// proof returns a payload for a block: two of five are right, the others have a fault or two.
func (m *mergedPlay) proof(hash chainhash.Hash) []byte {
	named := slices.Clone(hash[:])
	if m.IntN(6) > 0 {
		slices.Reverse(named)
	}
	p := &mergedProof{
		script: slices.Concat([]byte{0xfa, 0xbe, 'm', 'm'}, named, []byte{1, 0, 0, 0, 7, 0, 0, 0}),
		parent: wire.BlockHeader{Version: 1, Timestamp: time.Unix(1, 0), Bits: 0x207fffff},
	}
	for range m.IntN(3) {
		p.branch = append(p.branch, chainhash.Hash{byte(m.IntN(256))})
	}
	if m.IntN(5) > 1 {
		for n := 1 + m.IntN(2); n > 0 && len(p.script) > 0; n-- {
			mergedFaults[m.IntN(len(mergedFaults))](m.Rand, p)
		}
	}
	raw := p.bytes()
	switch m.IntN(25) {
	case 0:
		raw = append(raw, byte(m.IntN(256)))
	case 1:
		raw = raw[:m.IntN(len(raw))]
	case 2:
		raw[m.IntN(len(raw))] ^= 1 << m.IntN(8)
	}
	return raw
}

// mergedFaults change a proof, most of them so that it is refused.
var mergedFaults = []func(*rand.Rand, *mergedProof){
	func(_ *rand.Rand, p *mergedProof) { p.script = p.script[min(4, len(p.script)):] }, // no mark
	func(_ *rand.Rand, p *mergedProof) { p.script = slices.Concat(p.script, p.script) },
	func(_ *rand.Rand, p *mergedProof) { p.script = append([]byte{0xfa, 0xbe, 'm', 'm'}, p.script...) },
	func(r *rand.Rand, p *mergedProof) { p.script = append(make([]byte, r.IntN(30)), p.script...) },
	func(r *rand.Rand, p *mergedProof) { p.script = p.script[:len(p.script)-r.IntN(min(9, len(p.script)))] },
	func(r *rand.Rand, p *mergedProof) { p.script[r.IntN(len(p.script))] ^= 1 << r.IntN(8) },
	func(r *rand.Rand, p *mergedProof) { p.script[max(0, len(p.script)-8)] = byte(r.IntN(5)) }, // how many chains
	func(r *rand.Rand, p *mergedProof) { p.index = []int32{1, -1, 2, 1 << 30}[r.IntN(4)] },
	func(r *rand.Rand, p *mergedProof) { p.place = []int32{1, -1, 2, 1 << 30}[r.IntN(4)] },
	func(r *rand.Rand, p *mergedProof) { p.chains = make([]chainhash.Hash, 1+r.IntN(3)) },
	func(r *rand.Rand, p *mergedProof) { p.chains = make([]chainhash.Hash, 29+r.IntN(4)) },
	func(r *rand.Rand, p *mergedProof) { p.branch = make([]chainhash.Hash, 29+r.IntN(4)) },
	func(_ *rand.Rand, p *mergedProof) { p.otherRoot = true },
	func(_ *rand.Rand, p *mergedProof) { p.withoutWork = true },
	func(_ *rand.Rand, p *mergedProof) { p.witnessBytes = true },
	func(_ *rand.Rand, p *mergedProof) { p.gap = make([]byte, chainhash.HashSize) },
	func(_ *rand.Rand, p *mergedProof) { p.gap = nil; p.script = nil },
	func(r *rand.Rand, p *mergedProof) { p.gap = bytes.Repeat([]byte{byte(r.IntN(3))}, chainhash.HashSize) },
	func(r *rand.Rand, p *mergedProof) { p.parent.Version = int32(r.Uint32()) },
	func(r *rand.Rand, p *mergedProof) { // the version of a block of this chain
		p.parent.Version = 0x20000000 | 31430<<13 | int32(r.IntN(2))<<8
	},
	func(r *rand.Rand, p *mergedProof) { p.parent.Bits = r.Uint32() },
}

func (p *mergedProof) bytes() []byte {
	coinbase := wire.NewMsgTx(1)
	coinbase.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}, SignatureScript: p.script,
	})
	coinbase.AddTxOut(wire.NewTxOut(0, []byte{0x51}))
	root := coinbase.TxHash()
	for i, hash := range p.branch {
		left, right := root, hash
		if i < 31 && p.index>>i&1 == 1 {
			left, right = hash, root
		}
		root = chainhash.DoubleHashH(slices.Concat(left[:], right[:]))
	}
	p.parent.MerkleRoot = root
	if p.otherRoot {
		p.parent.MerkleRoot[3]++
	}
	solved := func() bool {
		hash := p.parent.BlockHash()
		return hash[chainhash.HashSize-1] < 0x7f
	}
	for solved() == p.withoutWork {
		p.parent.Nonce++
	}
	var raw bytes.Buffer // takes everything
	if p.witnessBytes {
		coinbase.TxIn[0].Witness = wire.TxWitness{make([]byte, chainhash.HashSize)}
		_ = coinbase.Serialize(&raw)
	} else {
		_ = coinbase.SerializeNoWitness(&raw)
	}
	raw.Write(p.gap)
	writeBranch(&raw, p.branch, p.index)
	writeBranch(&raw, p.chains, p.place)
	_ = p.parent.Serialize(&raw)
	return raw.Bytes()
}

// writeBranch writes the hashes beside the way to a Merkle root, and the number that tells their sides.
func writeBranch(to *bytes.Buffer, branch []chainhash.Hash, index int32) {
	_ = wire.WriteVarInt(to, 0, uint64(len(branch)))
	for _, hash := range branch {
		to.Write(hash[:])
	}
	to.Write(binary.LittleEndian.AppendUint32(nil, uint32(index)))
}
