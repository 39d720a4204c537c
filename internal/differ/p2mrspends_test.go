package differ_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

const (
	leafVersion   = 0xc0
	coinsOfFund   = 40 // outputs that a round spends
	spendsOfCoin  = 10 // judged of each; the first is right
	valueOfCoin   = 1_000_000
	feeOfSpend    = 300_000
	matureOfChain = 1001
)

// TestP2MRSpends has the pools and the blocks of both judge signed spends of trees of scripts, right ones and changed
// ones.
func TestP2MRSpends(t *testing.T) {
	p := differ.Start(t, differ.Config{Qbit: true, Args: []string{"-acceptnonstdtxn=0"}})
	s := newSpender(t, p)
	for cases := differ.QbitCases(t, 800); s.judged < cases && p.Report.Differences() == 0; {
		s.round()
	}
	t.Logf("%d spends judged, %d of them accepted", s.judged, s.accepted)
	if s.accepted < s.judged/spendsOfCoin/2 {
		t.Error("hardly one was right")
	}
	p.Alive()
}

// spender makes coins of all kinds and spends them.
type spender struct {
	*rand.Rand

	t        *testing.T
	p        *differ.Pair
	keys     []*slhdsa.PrivateKey
	open     p2mrCoin        // that coinbases pay to
	address  string          // of open
	purses   []wire.OutPoint // coinbases, the oldest first
	value    int64           // of each
	height   uint32
	judged   int
	accepted int
}

// A p2mrCoin is an output and how it can be spent.
type p2mrCoin struct {
	at      wire.OutPoint
	out     *wire.TxOut
	script  []byte
	control p2mr.ControlBlock
	kind    spendKind
	n       uint32 // the lock time, where there is one
	secret  []byte
}

func newSpender(t *testing.T, p *differ.Pair) *spender {
	t.Helper()
	s := &spender{Rand: differ.QbitRandom(t), t: t, p: p}
	for range 3 {
		key, err := slhdsa.GenerateKey(s.bytes(128))
		if err != nil {
			t.Fatal(err)
		}
		s.keys = append(s.keys, key)
	}
	s.open = s.coinOf([]byte{txscript.OP_TRUE}, nil, openSpend)
	network, err := dialect.Named(dialect.NameQbit, "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	s.address, _ = descriptor.AddressOf(s.open.out.PkScript, network.Descriptors())
	for range matureOfChain {
		s.mine()
	}
	return s
}

func (s *spender) bytes(n int) []byte {
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(s.Uint32())
	}
	return raw
}

func (s *spender) compare(method string, params ...any) differ.Replies {
	s.t.Helper()
	return s.p.Send(differ.Call{Method: method, Params: params})[0]
}

// mine makes a block on both nodes at a time that both are told.
func (s *spender) mine() {
	s.t.Helper()
	s.height++
	s.compare("setmocktime", templateStart+100_000_000+600*int64(s.height))
	var hashes []string
	if err := json.Unmarshal(s.compare("generatetoaddress", 1, s.address).Core.Result, &hashes); err != nil {
		s.t.Fatal(err)
	}
	var raw string
	if err := json.Unmarshal(s.compare("getblock", hashes[0], 0).Core.Result, &raw); err != nil {
		s.t.Fatal(err)
	}
	coinbase := block(s.t, raw).Transactions[0]
	s.purses, s.value = append(s.purses, wire.OutPoint{Hash: coinbase.TxHash()}), coinbase.TxOut[0].Value
}

// coinOf returns a coin whose tree has a script at the end of a path.
func (s *spender) coinOf(script []byte, path []p2mr.Hash, kind spendKind) p2mrCoin {
	control := p2mr.ControlBlock{Version: leafVersion, Path: path}
	root, _ := control.Root(script)
	out := wire.NewTxOut(valueOfCoin, p2mr.OutputScript(root))
	return p2mrCoin{out: out, script: script, control: control, kind: kind}
}

// round makes coins, and spends each in several ways.
func (s *spender) round() {
	s.t.Helper()
	coins := make([]p2mrCoin, coinsOfFund)
	fund := wire.NewMsgTx(2)
	fund.AddTxIn(&wire.TxIn{PreviousOutPoint: s.purses[0], Sequence: wire.MaxTxInSequenceNum})
	fund.TxIn[0].Witness = wire.TxWitness{s.open.script, s.open.control.Bytes()}
	s.purses = s.purses[1:]
	for i := range coins {
		coins[i] = s.coin()
		fund.AddTxOut(coins[i].out)
	}
	for i := range coins {
		coins[i].at = wire.OutPoint{Hash: fund.TxHash(), Index: uint32(i)}
	}
	if got := s.compare("sendrawtransaction", text(fund), 0); !got.Core.OK() {
		s.t.Fatal(got.Core)
	}
	s.mine()
	var calls []differ.Call
	var right []string
	for i := range coins {
		whole := s.spend(&coins[i])
		right = append(right, text(whole))
		for n := range spendsOfCoin {
			tx := whole.Copy()
			for range min(n, 1+s.IntN(2)) {
				s.damage(tx, &coins[i])
			}
			raw := text(tx)
			calls = append(calls, differ.Call{Method: "testmempoolaccept", Params: []any{[]string{raw}}})
			if n%4 == 1 {
				made := []any{s.address, []string{raw}, false}
				calls = append(calls, differ.Call{Method: "generateblock", Params: made})
			}
		}
	}
	for i, got := range s.p.Send(calls...) {
		if calls[i].Method == "testmempoolaccept" {
			s.judged++
			if bytes.Contains(got.Core.Result, []byte(`"allowed":true`)) {
				s.accepted++
			}
		}
	}
	for _, raw := range right {
		s.compare("sendrawtransaction", raw, 0)
	}
	s.mine()
	s.compare("getrawmempool")
}

func text(tx *wire.MsgTx) string {
	var raw bytes.Buffer
	_ = tx.Serialize(&raw) // buffers take everything
	return hex.EncodeToString(raw.Bytes())
}

// spend returns a right spend of a coin.
func (s *spender) spend(c *p2mrCoin) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: c.at, Sequence: wire.MaxTxInSequenceNum - 2})
	tx.AddTxOut(wire.NewTxOut(valueOfCoin-feeOfSpend, s.open.out.PkScript))
	if c.kind == waitSpend {
		tx.TxIn[0].Sequence = c.n
	}
	if c.kind == lockSpend {
		tx.LockTime = c.n
	}
	tx.TxIn[0].Witness = append(s.stack(tx, c), c.script, c.control.Bytes())
	return tx
}

// sign makes a signature of a random type.
func (s *spender) sign(tx *wire.MsgTx, c *p2mrCoin, key *slhdsa.PrivateKey, separator uint32) []byte {
	kinds := []txscript.SigHashType{
		txscript.SigHashDefault, txscript.SigHashAll, txscript.SigHashNone, txscript.SigHashSingle,
		txscript.SigHashAll | txscript.SigHashAnyOneCanPay, txscript.SigHashNone | txscript.SigHashAnyOneCanPay,
	}
	kind := kinds[s.IntN(len(kinds))]
	hasher, err := p2mr.NewSigHasher(tx, []*wire.TxOut{c.out})
	if err != nil {
		s.t.Fatal(err)
	}
	_, leaf := c.control.Root(c.script)
	hash, err := hasher.Hash(kind, &p2mr.Spend{Leaf: leaf, CodeSeparator: separator})
	if err != nil {
		s.t.Fatal(err)
	}
	sig := s.signed(key, hash)
	if kind != txscript.SigHashDefault {
		sig = append(sig, byte(kind))
	}
	return sig
}

func (s *spender) signed(key *slhdsa.PrivateKey, hash p2mr.Hash) []byte {
	store := func([]slhdsa.Use) error { return nil }
	right, err := slhdsa.Reserve([]slhdsa.Use{{Key: key.Public(), More: 1}}, store)
	if err != nil {
		s.t.Fatal(err)
	}
	sig, err := key.Sign(right, hash[:])
	if err != nil {
		s.t.Fatal(err)
	}
	return sig
}

// damage changes a spend.
func (s *spender) damage(tx *wire.MsgTx, c *p2mrCoin) {
	in := tx.TxIn[0]
	at := s.IntN(max(1, len(in.Witness)))
	switch s.IntN(16) {
	case 0:
		tx.LockTime ^= 1 << s.IntN(32)
	case 1:
		in.Sequence ^= 1 << s.IntN(32)
	case 2:
		tx.TxOut[0].Value--
	case 3:
		tx.Version = []int32{1, 3, 4, 0}[s.IntN(4)]
	case 4:
		in.SignatureScript = s.bytes(s.IntN(3))
	case 5:
		annex := append([]byte{0x50}, s.bytes(s.IntN(3))...)
		in.Witness = append(in.Witness, annex)
	case 6:
		in.Witness = in.Witness[:at]
	case 7:
		in.Witness = slices.Insert(in.Witness, at, s.bytes([]int{0, 1, 32, 520, 521, 16_385}[s.IntN(6)]))
	case 8:
		tx.AddTxOut(wire.NewTxOut(1000, []byte{txscript.OP_RETURN, 1, byte(s.Uint32())}))
	case 9: // another leaf version
		control := c.control
		control.Version = byte(s.Uint32()) &^ 1
		in.Witness = wire.TxWitness{c.script, control.Bytes()}
	default:
		if len(in.Witness) > 0 {
			in.Witness[at] = s.damaged(in.Witness[at])
		}
	}
}

// damaged changes the item of a witness.
func (s *spender) damaged(item []byte) []byte {
	item = slices.Clone(item)
	switch n := len(item); {
	case n == 0 || s.IntN(5) == 0:
		return append(item, []byte{0, 1, 2, 3, 0x81, 0x84}[s.IntN(6)])
	case s.IntN(4) == 0:
		return item[:s.IntN(n)]
	case s.IntN(8) == 0:
		return nil
	default:
		item[s.IntN(n)] ^= 1 << s.IntN(8)
		return item
	}
}

// A spendKind is a form of a script.
type spendKind int

const (
	openSpend spendKind = iota
	keySpend
	multiSpend
	waitSpend
	lockSpend
	hashSpend
	separatedSpend
	dataSpend
	branchSpend
	templateSpend
	oddSpend
	spendKinds
)

// coin returns a new coin, in a tree of up to four leaves.
func (s *spender) coin() p2mrCoin {
	var path []p2mr.Hash
	for range s.IntN(3) {
		path = append(path, p2mr.Hash(s.bytes(32)))
	}
	kind := spendKind(s.IntN(int(spendKinds)))
	n, secret := uint32(1), s.bytes(1+s.IntN(40))
	if kind == lockSpend {
		n = s.height - uint32(s.IntN(20))
	}
	c := s.coinOf(s.script(kind, n, secret), path, kind)
	c.n, c.secret = n, secret
	return c
}

func (s *spender) script(kind spendKind, n uint32, secret []byte) []byte {
	key := s.keys[0].Public()
	b := txscript.NewScriptBuilder()
	sum := sha256.Sum256(secret)
	switch kind {
	case keySpend, spendKinds: // a signature alone
	case openSpend:
		return []byte{txscript.OP_TRUE}
	case multiSpend:
		all := []slhdsa.PublicKey{s.keys[0].Public(), s.keys[1].Public(), s.keys[2].Public()}
		return p2mr.MultiScript(2, all)
	case waitSpend:
		b.AddInt64(int64(n)).AddOp(txscript.OP_CHECKSEQUENCEVERIFY).AddOp(txscript.OP_DROP)
	case lockSpend:
		b.AddInt64(int64(n)).AddOp(txscript.OP_CHECKLOCKTIMEVERIFY).AddOp(txscript.OP_DROP)
	case hashSpend:
		b.AddOp(txscript.OP_SHA256).AddData(sum[:]).AddOp(txscript.OP_EQUALVERIFY)
	case separatedSpend:
		b.AddOp(txscript.OP_TRUE).AddOp(txscript.OP_DROP).AddOp(txscript.OP_CODESEPARATOR)
	case dataSpend:
		b.AddData(sum[:]).AddData(key[:]).AddOp(p2mr.OpCheckDataSigPQC)
	case branchSpend:
		b.AddOp(txscript.OP_IF).AddOps(p2mr.KeyScript(key)).AddOp(txscript.OP_ELSE).AddOp(txscript.OP_TRUE)
		b.AddOp(txscript.OP_ENDIF)
	case templateSpend:
		hash := vm.NewTemplate(s.spend(&p2mrCoin{kind: openSpend})).Hash(0)
		b.AddData(hash[:]).AddOp(p2mr.OpCheckTemplate)
	case oddSpend:
		b.AddOp(txscript.OP_TRUE).AddOps(s.bytes(s.IntN(4)))
	}
	if kind != dataSpend && kind != branchSpend && kind != templateSpend && kind != oddSpend {
		b.AddOps(p2mr.KeyScript(key))
	}
	script, err := b.Script()
	if err != nil {
		s.t.Fatal(err)
	}
	return script
}

// stack returns what the script of a coin takes.
func (s *spender) stack(tx *wire.MsgTx, c *p2mrCoin) wire.TxWitness {
	switch c.kind {
	case openSpend, templateSpend, oddSpend:
		return nil
	case multiSpend:
		signers := s.Perm(3)[:2]
		var stack wire.TxWitness
		for i := 2; i >= 0; i-- {
			var sig []byte
			if slices.Contains(signers, i) {
				sig = s.sign(tx, c, s.keys[i], p2mr.NoCodeSeparator)
			}
			stack = append(stack, sig)
		}
		return stack
	case hashSpend:
		return wire.TxWitness{s.sign(tx, c, s.keys[0], p2mr.NoCodeSeparator), c.secret}
	case separatedSpend:
		return wire.TxWitness{s.sign(tx, c, s.keys[0], 2)}
	case dataSpend:
		return wire.TxWitness{s.signed(s.keys[0], p2mr.DataHash(sha256.Sum256(c.secret)))}
	case branchSpend:
		if s.IntN(2) == 0 {
			return wire.TxWitness{nil}
		}
		return wire.TxWitness{s.sign(tx, c, s.keys[0], p2mr.NoCodeSeparator), {1}}
	case keySpend, waitSpend, lockSpend, spendKinds:
	}
	return wire.TxWitness{s.sign(tx, c, s.keys[0], p2mr.NoCodeSeparator)}
}
