package differ_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/differ"
)

// The coins of these tests can be spent by anybody: they pay to the witness script
// OP_TRUE.
var (
	openWitness = []byte{0x51}
	openHash    = sha256.Sum256(openWitness)
	openScript  = append([]byte{0x00, 0x20}, openHash[:]...)
	openOutput  = "raw(" + hex.EncodeToString(openScript) + ")"
)

const templateStart = 1_700_000_000

// TestTemplates fills the memory pools of both with the same random transactions,
// has them prioritised, and compares templates and the blocks made from the
// templates.
func TestTemplates(t *testing.T) {
	p := differ.Start(t, differ.Config{Args: []string{
		"-blockmaxweight=30000", "-blockreservedweight=2500", "-blockmintxfee=0.00000500", "-persistmempool=0",
	}})
	m := newMiner(t, p)
	m.generate(130)
	for cases := differ.Cases(t, 1200); p.Report.Compared() < cases; {
		m.spend(1 + m.IntN(12))
		m.pass(6) // templates are kept for five seconds
		m.compare("getblocktemplate", map[string]any{"rules": []string{"segwit"}})
		m.compare("getmininginfo")
		if m.IntN(4) == 0 {
			m.propose()
		}
		if m.IntN(3) == 0 {
			m.generate(1)
		}
	}
	p.Alive()
}

// TestTemplateRules compares templates, deployments and blocks over the heights at
// which rules begin to hold.
func TestTemplateRules(t *testing.T) {
	p := differ.Start(t, differ.Config{Args: []string{
		"-testactivationheight=segwit@20", "-testactivationheight=csv@30", "-testactivationheight=bip34@40",
		"-testactivationheight=dersig@50", "-testactivationheight=cltv@60", "-vbparams=testdummy:1700000000:1800000000:500",
		"-vbparams=taproot:1700000000:1700050000",
	}})
	m := newMiner(t, p)
	for height := 0; height < 600; height += 12 {
		m.compare("getblocktemplate", map[string]any{"rules": []string{"segwit"}})
		m.compare("getdeploymentinfo")
		m.compare("getmininginfo")
		m.generate(12)
	}
	p.Alive()
}

// TestTemplateErrors compares what wrong requests are told.
func TestTemplateErrors(t *testing.T) {
	p := differ.Start(t, differ.Config{Args: []string{"-blockversion=536870917"}})
	m := newMiner(t, p)
	m.generate(3)
	for _, params := range []string{
		`[null]`, `[1]`, `[{}]`, `[{"rules":[]}]`, `[{"rules":["segwit"]}]`, `[{"rules":["segwit",1]}]`, `[{"rules":"segwit"}]`,
		`[{"rules":null}]`, `[{"mode":null,"rules":["segwit","x"]}]`, `[{"mode":1}]`, `[{"mode":""}]`, `[{"mode":"Template"}]`,
		`[{"mode":"template","rules":["!segwit"]}]`, `[{"mode":"proposal"}]`, `[{"mode":"proposal","data":1}]`,
		`[{"mode":"proposal","data":""}]`, `[{"mode":"proposal","data":"zz"}]`, `[{"mode":"proposal","data":"00"}]`,
		`[{"longpollid":""}]`, `[{"longpollid":"abc","rules":["segwit"]}]`, `[{"mode":"x","longpollid":"abc"}]`,
		`[{"longpollid":"0000000000000000000000000000000000000000000000000000000000000000"}]`,
		`[{"longpollid":"0000000000000000000000000000000000000000000000000000000000000000x","rules":["segwit"]}]`,
		`[{"capabilities":5,"rules":["segwit"]}]`, `[{"data":5,"rules":["segwit"],"x":1}]`,
	} {
		p.Send(differ.Call{Method: "getblocktemplate", Params: json.RawMessage(params)})
	}
	m.propose()
}

// miner makes the same blocks and transactions on both nodes.
type miner struct {
	*rand.Rand

	t     *testing.T
	p     *differ.Pair
	now   int64
	coins []coin // that can be spent
	young []coin // coinbases, the oldest first
}

// coin is an output that anybody can spend.
type coin struct {
	at    wire.OutPoint
	value int64
}

func newMiner(t *testing.T, p *differ.Pair) *miner {
	t.Helper()
	m := &miner{Rand: differ.Random(t), t: t, p: p, now: templateStart}
	m.pass(0)
	return m
}

// pass lets time pass on both nodes.
func (m *miner) pass(seconds int64) {
	m.t.Helper()
	m.now += seconds
	m.compare("setmocktime", m.now)
}

// compare sends a call to both nodes, and returns the replies.
func (m *miner) compare(method string, params ...any) differ.Replies {
	m.t.Helper()
	if params == nil {
		params = []any{}
	}
	return m.p.Send(differ.Call{Method: method, Params: params})[0]
}

// generate makes blocks on both nodes.
func (m *miner) generate(n int) {
	m.t.Helper()
	for range n {
		m.pass(600)
		var hashes []chainhash.Hash
		reply := m.compare("generatetodescriptor", 1, openOutput)
		if err := json.Unmarshal(reply.Core.Result, &hashes); err != nil || len(hashes) != 1 {
			m.t.Fatalf("bitcoind: %v", reply.Core)
		}
		raw := m.compare("getblock", hashes[0].String(), 0)
		var text string
		if err := json.Unmarshal(raw.Core.Result, &text); err != nil {
			m.t.Fatal(err)
		}
		m.take(block(m.t, text))
	}
}

// take notes the coins of a block, whose coinbase may be spent a hundred blocks later.
func (m *miner) take(b *wire.MsgBlock) {
	coinbase := b.Transactions[0]
	m.young = append(m.young, coin{wire.OutPoint{Hash: coinbase.TxHash()}, coinbase.TxOut[0].Value})
	if len(m.young) > 100 {
		m.coins = append(m.coins, m.young[0])
		m.young = m.young[1:]
	}
}

func block(t *testing.T, text string) *wire.MsgBlock {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	b := new(wire.MsgBlock)
	if err := b.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	return b
}

// spend sends transactions by chance, of which some spend from others.
func (m *miner) spend(n int) {
	m.t.Helper()
	for range n {
		if len(m.coins) == 0 {
			return
		}
		tx := wire.NewMsgTx(2)
		value := int64(0)
		for range 1 + m.IntN(min(3, len(m.coins))) {
			i := len(m.coins) - 1 - m.IntN(min(20, len(m.coins)))
			one := m.coins[i]
			m.coins = append(m.coins[:i], m.coins[i+1:]...)
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: one.at, Sequence: 0xfffffffd, Witness: wire.TxWitness{openWitness}})
			value += one.value
		}
		outs := int64(1 + m.IntN(8))
		value -= []int64{150, 500, 1000, 5000, 20_000}[m.IntN(5)] * (1 + outs/2)
		for range outs {
			tx.AddTxOut(wire.NewTxOut(value/outs, openScript))
		}
		var raw bytes.Buffer
		if err := tx.Serialize(&raw); err != nil {
			m.t.Fatal(err)
		}
		if !m.compare("sendrawtransaction", hex.EncodeToString(raw.Bytes()), 0).Core.OK() {
			continue
		}
		for i := range tx.TxOut {
			m.coins = append(m.coins, coin{wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}, tx.TxOut[i].Value})
		}
		if m.IntN(5) == 0 {
			m.compare("prioritisetransaction", tx.TxHash().String(), nil, m.IntN(100_000)-30_000)
		}
	}
}

// propose compares what is said of blocks that are right and wrong.
func (m *miner) propose() {
	m.t.Helper()
	tip := m.compare("getbestblockhash")
	var hash chainhash.Hash
	if err := json.Unmarshal(tip.Core.Result, &hash); err != nil {
		m.t.Fatal(err)
	}
	reply := m.compare("generateblock", openOutput, []string{}, false)
	var made struct{ Hex string }
	if err := json.Unmarshal(reply.Core.Result, &made); err != nil {
		m.t.Fatal(err)
	}
	for _, change := range []func(*wire.MsgBlock){
		func(*wire.MsgBlock) {},
		func(b *wire.MsgBlock) { b.Header.Nonce++ },
		func(b *wire.MsgBlock) { b.Header.PrevBlock[3]++ },
		func(b *wire.MsgBlock) { b.Header.MerkleRoot[3]++ },
		func(b *wire.MsgBlock) { b.Header.Bits = 0x1d00ffff },
		func(b *wire.MsgBlock) { b.Header.Timestamp = b.Header.Timestamp.AddDate(1, 0, 0) },
		func(b *wire.MsgBlock) { b.Header.Timestamp = b.Header.Timestamp.AddDate(-1, 0, 0) },
		func(b *wire.MsgBlock) { b.Header.Version = 1 },
		func(b *wire.MsgBlock) { b.Transactions[0].TxOut[0].Value++; rooted(b) },
		func(b *wire.MsgBlock) { b.Transactions[0].TxIn[0].SignatureScript[0]++; rooted(b) },
		func(b *wire.MsgBlock) { b.Transactions[0].TxIn[0].Sequence = 0xffffffff; rooted(b) },
		func(b *wire.MsgBlock) { b.Transactions[0].TxIn[0].Witness = nil },
		func(b *wire.MsgBlock) { b.Transactions[0].TxOut[1].PkScript[8]++; rooted(b) },
		func(b *wire.MsgBlock) { b.Transactions[0].TxOut = nil; rooted(b) },
	} {
		b := block(m.t, made.Hex)
		change(b)
		var raw bytes.Buffer
		if err := b.Serialize(&raw); err != nil {
			m.t.Fatal(err)
		}
		m.compare("getblocktemplate", map[string]any{
			"mode": "proposal", "data": hex.EncodeToString(raw.Bytes()), "rules": []string{"segwit"},
		})
	}
}

// rooted gives a block with nothing but a coinbase its root.
func rooted(b *wire.MsgBlock) { b.Header.MerkleRoot = b.Transactions[0].TxHash() }
