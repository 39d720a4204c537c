package e2e_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/e2e"
)

// mergedRounds is how many blocks of the parent chain the miner finds.
const mergedRounds = 12

// A pool mines a chain of Bitcoin and, with the same hashes, a chain of qbit. From a template it makes a block of the
// parent chain whose coinbase commits to a block of the other chain. It solves this block and hands it to both nodes.
func TestMergedMiner(t *testing.T) {
	t.Parallel()
	parent := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-fallbackfee=0.0001"}})
	child, follower := startP2MR(t), startP2MR(t)
	follower.connect(t, child.peer)

	m := &mergedMiner{parent: parent, child: child}
	parent.Get(nil, "createwallet", "pool")
	parent.Get(&m.paid, "getnewaddress")
	parent.Get(nil, "generatetoaddress", 101, m.paid)
	child.Get(nil, "createwallet", "pool")
	child.Get(&m.childPaid, "getnewaddress")

	for round := range mergedRounds {
		for range round % 4 { // no transaction, and up to three
			parent.Get(nil, "sendtoaddress", m.paid, 0.01)
		}
		work := m.childWork()
		block := m.solve(work)
		if round%5 == 3 { // somebody else was faster
			follower.mine(t, 1)
			agree(t, "a block of another miner", follower, child)
			if got := m.submitChild(work, block); got != "stale-prevblk" {
				t.Errorf("round %d: work for an old tip: %q", round, got)
			}
			work = m.childWork()
			block = m.solve(work)
		}
		// A proof of other work is refused, and the block can be handed in again.
		other := m.solve(childWork{Hash: chainhash.Hash{1}.String()})
		if got := m.submitChild(work, other); got != "bad-auxpow-commitment" {
			t.Errorf("round %d: a proof of another block: %q", round, got)
		}
		if got := m.submitChild(work, block); got != "" {
			t.Fatalf("round %d: the child chain refuses: %s", round, got)
		}
		if got := m.submitParent(block); got != "" {
			t.Fatalf("round %d: the parent chain refuses: %s", round, got)
		}
		if best := child.best(t); best != work.Hash {
			t.Fatalf("round %d: the tip is %s, want %s", round, best, work.Hash)
		}
	}

	var height int
	parent.Get(&height, "getblockcount")
	if height != 101+mergedRounds {
		t.Errorf("the parent chain is at %d", height)
	}
	agree(t, "the merge-mined chain", child, follower)
	if got, want := follower.coins(), child.coins(); got != want || got.Hash == "" {
		t.Errorf("unspent outputs %s and %s", got.Hash, want.Hash)
	}
	best := child.best(t)
	child.Kill()
	child.Restart()
	if got := child.best(t); got != best {
		t.Errorf("at %s after a kill, before at %s", got, best)
	}
}

// childWork is what createauxblock answers.
type childWork struct {
	Hash            string
	CommitmentOrder string
}

// A mergedMiner mines two chains for the addresses.
type mergedMiner struct {
	parent          *e2e.Daemon
	child           p2mrNode
	paid, childPaid string
}

func (m *mergedMiner) childWork() (work childWork) {
	m.child.Get(&work, "createauxblock", m.childPaid)
	return work
}

// parentTemplate is what the miner needs of a template.
type parentTemplate struct {
	Version           int32
	PreviousBlockHash string
	CoinbaseValue     int64
	CurTime           int64
	Bits              string
	Height            int64
	Commitment        string `json:"default_witness_commitment"`
	Transactions      []struct{ Data string }
}

// solve makes a block of the parent chain that commits to the work, and meets the easier of both targets: on these
// chains they are the same.
func (m *mergedMiner) solve(work childWork) *wire.MsgBlock {
	var template parentTemplate
	m.parent.Get(&template, "getblocktemplate", map[string]any{"rules": []string{"segwit"}})
	block := wire.NewMsgBlock(template.header())
	must(block.AddTransaction(template.coinbase(m.mark(work))))
	for _, tx := range template.Transactions {
		next := new(wire.MsgTx)
		must(next.Deserialize(bytes.NewReader(unhex(tx.Data))))
		must(block.AddTransaction(next))
	}
	block.Header.MerkleRoot, _ = firstBranch(block)
	for hash := block.BlockHash(); hash[chainhash.HashSize-1] >= 0x7f; hash = block.BlockHash() {
		block.Header.Nonce++
	}
	return block
}

// mark is what the parent's coinbase says of the child's block: one chain, found at place 0.
func (m *mergedMiner) mark(work childWork) []byte {
	hash := unhex(work.Hash) // as it is displayed
	if work.CommitmentOrder == "internal" {
		slices.Reverse(hash)
	}
	return slices.Concat([]byte{0xfa, 0xbe, 'm', 'm'}, hash, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

func (p *parentTemplate) header() *wire.BlockHeader {
	previous, err := chainhash.NewHashFromStr(p.PreviousBlockHash)
	must(err)
	header := wire.NewBlockHeader(p.Version, previous, new(chainhash.Hash), binary.BigEndian.Uint32(unhex(p.Bits)), 0)
	header.Timestamp = time.Unix(p.CurTime, 0)
	return header
}

func (p *parentTemplate) coinbase(mark []byte) *wire.MsgTx {
	script, err := txscript.NewScriptBuilder().AddInt64(p.Height).AddData(mark).Script()
	must(err)
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}, SignatureScript: script,
		Sequence: wire.MaxTxInSequenceNum, Witness: wire.TxWitness{make([]byte, chainhash.HashSize)},
	})
	tx.AddTxOut(wire.NewTxOut(p.CoinbaseValue, []byte{txscript.OP_TRUE}))
	tx.AddTxOut(wire.NewTxOut(0, unhex(p.Commitment)))
	return tx
}

// submitChild hands in the proof that the block of the parent chain commits to the work. The proof is the coinbase,
// its place in the block, the place of the work among merge-mined chains, and the header.
func (m *mergedMiner) submitChild(work childWork, block *wire.MsgBlock) (refused string) {
	var proof bytes.Buffer // takes everything
	_ = block.Transactions[0].SerializeNoWitness(&proof)
	_, branch := firstBranch(block)
	_ = wire.WriteVarInt(&proof, 0, uint64(len(branch)))
	for _, hash := range branch {
		proof.Write(hash[:])
	}
	proof.Write(make([]byte, 4+1+4)) // the first transaction; no branch, place 0
	_ = block.Header.Serialize(&proof)
	m.child.Get(&refused, "submitauxblock", work.Hash, hex.EncodeToString(proof.Bytes()))
	return refused
}

func (m *mergedMiner) submitParent(block *wire.MsgBlock) (refused string) {
	var raw bytes.Buffer
	_ = block.Serialize(&raw)
	m.parent.Get(&refused, "submitblock", hex.EncodeToString(raw.Bytes()))
	return refused
}

// firstBranch returns the Merkle root of a block's transactions, and the hashes that lead there from the first.
func firstBranch(block *wire.MsgBlock) (root chainhash.Hash, branch []chainhash.Hash) {
	var row []chainhash.Hash
	for _, tx := range block.Transactions {
		row = append(row, tx.TxHash())
	}
	for len(row) > 1 {
		if len(row)%2 == 1 {
			row = append(row, row[len(row)-1])
		}
		branch = append(branch, row[1])
		var above []chainhash.Hash
		for i := 0; i < len(row); i += 2 {
			above = append(above, chainhash.DoubleHashH(slices.Concat(row[i][:], row[i+1][:])))
		}
		row = above
	}
	return row[0], branch
}

func unhex(text string) []byte {
	raw, err := hex.DecodeString(text)
	must(err)
	return raw
}

// must is for what a node of ours has written.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
