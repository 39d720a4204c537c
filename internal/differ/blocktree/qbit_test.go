package blocktree

import (
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/p2mr"
)

// mergedVersion is the version of a block of qbit's regtest that is mined together with one of another chain.
const mergedVersion = 0x20000000 | 31430<<13 | 0x100

// A chain is what blocks are made for.
type chain struct {
	genesis  *wire.MsgBlock
	subsidy  func(height int32) btcutil.Amount
	maturity int // blocks from a coinbase to what spends it
	qbit     bool
	p2mr     bool // outputs have to pay to P2MR
}

func bitcoin() *chain {
	return &chain{
		genesis: chaincfg.RegressionNetParams.GenesisBlock, maturity: 100,
		subsidy: func(height int32) btcutil.Amount { return 50e8 >> (height / 150) },
	}
}

func qbit(t *testing.T, p2mrOnly bool) *chain {
	t.Helper()
	network, err := dialect.Named(dialect.NameQbit, "regtest", dialect.Choices{AnyOutput: !p2mrOnly})
	if err != nil {
		t.Fatal(err)
	}
	return &chain{network.Params.GenesisBlock, network.Subsidy, 1000, true, p2mrOnly}
}

// TestQbitBlocks sends a trawld and a qbitd the same blocks. Some of the blocks are merge-mined.
func TestQbitBlocks(t *testing.T) {
	random, words := differ.QbitRandom(t), map[string]int{}
	for left := differ.QbitCases(t, 600); left > 0 && !t.Failed(); left -= treeSize {
		t.Run("tree", func(t *testing.T) {
			c := differ.Config{Qbit: true}
			on := qbit(t, random.IntN(2) == 0)
			if !on.p2mr {
				c.Args = []string{"-p2mronly=0"}
			}
			compareTree(t, c, &maker{Rand: random, chain: on}, min(left, treeSize), words)
		})
	}
	logWords(t, words)
}

// pay returns the output script of a form. On a chain of P2MR outputs what other chains pay to is a script of a tree.
func (m *maker) pay(form int) []byte {
	script := payTo(form)
	if !m.chain.p2mr || form == returns || form == never && m.IntN(20) == 0 {
		return script
	}
	root, _ := leafOf(form).Root(leafScript(form))
	return p2mr.OutputScript(root)
}

// leafScript returns the script of an output's tree that can be spent as outputs of this form can.
func leafScript(form int) []byte {
	switch form {
	case witnessAnyone, hashAnyone, nestedAnyone, sigOps, unknownWitness:
		return truth
	}
	return payTo(form)
}

// leafOf is where the script stands in the tree; trees of some forms have two leaves.
func leafOf(form int) p2mr.ControlBlock {
	const version = 0xc0
	leaf := p2mr.ControlBlock{Version: version}
	if form == hashAnyone || form == waits {
		leaf.Path = []p2mr.Hash{p2mr.LeafHash(version, program)}
	}
	return leaf
}

// unlock fills in what an input shows for an output.
func (m *maker) unlock(in *wire.TxIn, form int) {
	if !m.chain.p2mr {
		unlock(in, form)
		return
	}
	control := leafOf(form).Bytes()
	if m.IntN(100) == 0 {
		control[m.IntN(len(control))] ^= 1 << m.IntN(8)
	}
	in.Witness = wire.TxWitness{leafScript(form), control}
}

// mergeMine has a block of qbit committed to by one of another chain, mostly rightly. It returns the payload.
func (m *maker) mergeMine(hash chainhash.Hash, unsolved bool) []byte {
	payload := enginetest.Proof{Hash: hash, Internal: m.IntN(60) == 0, Unsolved: unsolved}.Payload()
	if m.IntN(60) == 0 {
		payload[m.IntN(len(payload))] ^= 1 << m.IntN(8)
	}
	return payload
}
