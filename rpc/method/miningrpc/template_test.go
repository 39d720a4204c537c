package miningrpc_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/miningrpc"
)

// A templateRig is getblocktemplate over actors of the test's own.
type templateRig struct {
	rig
	network *dialect.Network
	tree    *chainview.Tree
	now     time.Time
	peers   messages.PeerCount
	log     bytes.Buffer

	mu       sync.Mutex         // guards the rest while calls are under way
	txs      []messages.BlockTx // what the pool selects
	updates  uint32
	selected int                // times
	order    messages.SelectTxs // the last one
	made     int                // templates
	script   []byte             // that the last one pays to
	proposed error              // verdict of the chain
	waiting  []*ask.Call[messages.WaitTip, messages.Tip]

	aux       []messages.CreateAuxBlock // orders
	auxErrs   []error                   // answers to them, before auxBlock
	auxBlock  messages.AuxBlock
	submitted []messages.SubmitAuxBlock
}

func newTemplateRig(t *testing.T, network *dialect.Network, blocks miningrpc.Blocks) *templateRig {
	t.Helper()
	sys := actortest.New(t)
	r := &templateRig{network: network, now: network.Params.GenesisBlock.Header.Timestamp.Add(time.Hour), updates: 7}
	current := chainOf(t, network, 600, 1200, 900)
	r.tree = current.Open().(reader).tree
	r.t = t
	deps := miningrpc.Deps{
		Network: network, Chain: current, Blocks: blocks, Now: func() time.Time { return r.now },
		Log:     slog.New(slog.NewTextHandler(&r.log, nil)),
		Actor:   sys.Spawn("chain", func() actor.Actor { return actor.ReceiveFunc(r.chainActor) }),
		Pool:    sys.Spawn("pool", func() actor.Actor { return actor.ReceiveFunc(r.poolActor) }),
		Peers:   sys.Spawn("peers", func() actor.Actor { return actor.ReceiveFunc(r.peersActor) }),
		Initial: chainview.NewInitialDownload(current, "", 0, func() time.Time { return r.now }, func() {}),
	}
	var err error
	if r.table, err = command.NewTable(miningrpc.Commands(deps)); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *templateRig) chainActor(c actor.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch m := c.Message().(type) {
	case *ask.Call[messages.MakeTemplate, []byte]:
		raw, err := r.template(&m.Req)
		m.Answer(raw, err)
	case *ask.Call[messages.CreateAuxBlock, messages.AuxBlock]:
		r.aux = append(r.aux, m.Req)
		if len(r.auxErrs) > 0 {
			m.Answer(messages.AuxBlock{}, r.auxErrs[0])
			r.auxErrs = r.auxErrs[1:]
			return
		}
		m.Answer(r.auxBlock, nil)
	case *ask.Call[messages.SubmitAuxBlock, messages.Done]:
		r.submitted = append(r.submitted, m.Req)
		m.Answer(messages.Done{}, r.proposed)
	case *ask.Call[messages.ProposeBlock, messages.Done]:
		m.Answer(messages.Done{}, r.proposed)
	case *ask.Call[messages.WaitTip, messages.Tip]:
		tip := r.tree.Active().Tip()
		if now := (messages.Tip{Hash: tip.Hash, Height: tip.Height}); m.Req.Met(now) {
			m.Answer(now, nil)
			return
		}
		r.waiting = append(r.waiting, m)
	}
}

// template makes a block as the chain does, as far as the reply shows it.
func (r *templateRig) template(q *messages.MakeTemplate) ([]byte, error) {
	tip := r.tree.Active().Tip()
	if q.On != tip.Hash {
		return nil, messages.ErrTipMoved
	}
	r.made++
	r.script = q.Script
	coinbase := wire.NewMsgTx(2)
	coinbase.AddTxIn(&wire.TxIn{SignatureScript: []byte{0x53, 0}})
	coinbase.AddTxOut(wire.NewTxOut(50e8+q.Fees, q.Script))
	coinbase.AddTxOut(wire.NewTxOut(0, append([]byte{0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed}, make([]byte, 32)...)))
	block := wire.MsgBlock{
		Header: wire.BlockHeader{
			Version: 0x20000000, PrevBlock: tip.Hash, Timestamp: r.now, Bits: tip.Bits(),
		},
		Transactions: []*wire.MsgTx{coinbase},
	}
	for _, raw := range q.Txs {
		tx := new(wire.MsgTx)
		if err := tx.Deserialize(bytes.NewReader(raw)); err != nil {
			return nil, err
		}
		block.Transactions = append(block.Transactions, tx)
	}
	var out bytes.Buffer
	err := block.Serialize(&out)
	return out.Bytes(), err
}

func (r *templateRig) poolActor(c actor.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch m := c.Message().(type) {
	case *ask.Call[messages.SelectTxs, messages.BlockTxs]:
		tip := r.tree.Active().Tip()
		best := messages.BlockTxs{Tip: messages.Tip{Hash: tip.Hash, Height: tip.Height}, Txs: r.txs, Updates: r.updates}
		for _, tx := range r.txs {
			best.Fees += tx.Fee
		}
		r.selected++
		r.order = m.Req
		m.Answer(best, nil)
	case *ask.Call[messages.GetPoolInfo, messages.PoolInfo]:
		m.Answer(messages.PoolInfo{Updates: r.updates}, nil)
	}
}

func (r *templateRig) peersActor(c actor.Context) {
	if m, ok := c.Message().(*ask.Call[messages.CountPeers, messages.PeerCount]); ok {
		m.Answer(r.peers, nil)
	}
}

// grow adds a block to the chain.
func (r *templateRig) grow() {
	r.t.Helper()
	tip := r.tree.Active().Tip()
	header := tip.Header()
	header.PrevBlock, header.Timestamp = tip.Hash, header.Timestamp.Add(10*time.Minute)
	b, err := r.tree.Add(&header, tip.Work(), chainview.HasData|chainview.Valid)
	if err != nil {
		r.t.Fatal(err)
	}
	r.tree.SetActive(b)
}

// moveTip adds a block, and answers the calls that wait for a new tip.
func (r *templateRig) moveTip() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.grow()
	tip := r.tree.Active().Tip()
	for _, call := range r.waiting {
		call.Answer(messages.Tip{Hash: tip.Hash, Height: tip.Height}, nil)
	}
}

// changePool changes the pool.
func (r *templateRig) changePool() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.updates++
}

func hexOfTx(t *testing.T, tx *wire.MsgTx) string {
	t.Helper()
	return hexOf(t, func(b *bytes.Buffer) error { return tx.Serialize(b) })
}

// regtest returns a network as Core 30 has it, unless c says otherwise.
func regtest(t *testing.T, c dialect.Choices) *dialect.Network {
	t.Helper()
	c.Reference = cmp.Or(c.Reference, dialect.Core30)
	n, err := dialect.Named("", "regtest", c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const ask4 = `[{"rules":["segwit"]}]`

// The members are Core's, in its order.
func TestTemplate(t *testing.T) {
	r := newTemplateRig(t, regtest(t, dialect.Choices{}), miningrpc.Blocks{
		MaxWeight: 100_000, Reserved: 4000, MinTxFee: 9, Log: true,
	})
	parent := wire.NewMsgTx(2)
	parent.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{1}}})
	parent.AddTxOut(wire.NewTxOut(5, nil))
	child := wire.NewMsgTx(2)
	child.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: parent.TxHash()}, Witness: wire.TxWitness{{1}}})
	child.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{2}}})
	r.txs = []messages.BlockTx{
		{Tx: parent, Fee: 3, SigOps: 8, Weight: 240}, {Tx: child, Fee: 4, SigOps: 1, Weight: 300},
	}
	tip := r.tree.Active().Tip()
	want := `{"capabilities":["proposal"],"version":536870912,"rules":["csv","!segwit","taproot"],"vbavailable":{},"vbrequired":0,` +
		`"previousblockhash":"` + tip.Hash.String() + `","transactions":[{"data":"` + hexOfTx(t,
		parent) + `","txid":"` + parent.TxHash().String() +
		`","hash":"` + parent.WitnessHash().String() + `","depends":[],"fee":3,"sigops":8,"weight":240},{"data":"` + hexOfTx(t, child) +
		`","txid":"` + child.TxHash().String() + `","hash":"` + child.WitnessHash().String() + `","depends":[1],"fee":4,` +
		`"sigops":1,"weight":300}],` +
		`"coinbaseaux":{},"coinbasevalue":5000000007,"longpollid":"` + tip.Hash.String() + `7",` +
		`"target":"7fffff0000000000000000000000000000000000000000000000000000000000","mintime":1296689503,` +
		`"mutable":["time","transactions","prevblock"],"noncerange":"00000000ffffffff","sigoplimit":80000,"sizelimit":4000000,` +
		`"weightlimit":4000000,"curtime":1296692202,"bits":"207fffff","height":4,` +
		`"default_witness_commitment":"6a24aa21a9ed0000000000000000000000000000000000000000000000000000000000000000"}`
	if got := r.call("getblocktemplate", ask4); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r.order != (messages.SelectTxs{MaxWeight: 100_000, Reserved: 4000, MinRate: 9, Log: true}) {
		t.Errorf("selects %+v", r.order)
	}
}

// Chains that pay to P2MR outputs say what their miners must know beside.
func TestTemplateOfP2MR(t *testing.T) {
	n, err := dialect.Named(
		dialect.NameQbit, "regtest", dialect.Choices{Activation: map[string]int32{"p2mrweightv2": 5}},
	)
	if err != nil {
		t.Fatal(err)
	}
	r := newTemplateRig(t, n, miningrpc.Blocks{})
	got := r.call("getblocktemplate", ask4)
	for _, part := range []string{
		`"vbrequired":0,"versionrollingmask":"1fffe000","previousblockhash"`,
		`"sizelimit":2000000,"weightlimit":2000000,"curtime"`,
		`"height":4,"p2mr_validation_weight":{"per_sigop":3730,"v2_active":false,"v2_activation_height":5},` +
			`"future_block_time":{"limit_seconds":600,"v2_active":true,"v2_activation_height":0},"default_witness_commitment"`,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("no %s in %s", part, got)
		}
	}
	if !n.Rules.MayPayTo(r.script, 4) {
		t.Errorf("the template pays to %x, which the chain does not allow", r.script)
	}
	r.grow()
	if got := r.call("getblocktemplate", ask4); !strings.Contains(got, `"per_sigop":3683,"v2_active":true`) {
		t.Errorf("at the height of the rule: %s", got)
	}
}

// Before segwit the limits are the old ones.
func TestTemplateBeforeSegwit(t *testing.T) {
	r := newTemplateRig(t, regtest(t, dialect.Choices{Activation: map[string]int32{"segwit": 5}}), miningrpc.Blocks{})
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{})
	r.txs = []messages.BlockTx{{Tx: tx, SigOps: 8}}
	got := r.call("getblocktemplate", ask4)
	for _, part := range []string{`"rules":["csv","taproot"]`, `"sigops":2`, `"sigoplimit":20000,"sizelimit":1000000,"curtime"`} {
		if !strings.Contains(got, part) {
			t.Errorf("no %s in %s", part, got)
		}
	}
	r.grow()
	if got := r.call("getblocktemplate", ask4); !strings.Contains(got, `"!segwit"`) || !strings.Contains(got, `"weightlimit":4000000`) {
		t.Errorf("at the height of segwit: %s", got)
	}
}

// A rule that can be voted for is shown, and voted for once it is locked in.
func TestTemplateVotes(t *testing.T) {
	n := regtest(
		t, dialect.Choices{VersionBits: map[string]dialect.VersionBits{"taproot": {Timeout: dialect.NoTimeout}}},
	)
	for i := range n.Deployments {
		n.Deployments[i].Period, n.Deployments[i].Threshold = 2, 0 // locked in with the second period after the start
	}
	r := newTemplateRig(t, n, miningrpc.Blocks{})
	for _, want := range []string{
		`"version":805306372,"rules":["csv","!segwit"],"vbavailable":{"taproot":2,"testdummy":28}`, // 4
		`"version":805306372,"rules":["csv","!segwit"],"vbavailable":{"taproot":2,"testdummy":28}`,
		`"version":536870912,"rules":["csv","!segwit","taproot","testdummy"],"vbavailable":{}`, // 6
	} {
		if got := r.call("getblocktemplate", ask4); !strings.Contains(got, want) {
			t.Errorf("at height %d no %s in %s", r.tree.Active().Height(), want, got)
		}
		r.grow()
	}
}

// A template is kept for a while, unless there is another tip.
func TestTemplateIsKept(t *testing.T) {
	r := newTemplateRig(t, regtest(t, dialect.Choices{}), miningrpc.Blocks{})
	id := func() string {
		t.Helper()
		var got struct{ LongPollID string }
		if err := json.Unmarshal([]byte(r.call("getblocktemplate", ask4)), &got); err != nil {
			t.Fatal(err)
		}
		return got.LongPollID[64:]
	}
	steps := []struct {
		name   string
		change func()
		made   int
		id     string
	}{
		{"the first", func() {}, 1, "7"},
		{"the same", func() { r.now = r.now.Add(time.Minute) }, 1, "7"},
		{"another tip", r.grow, 2, "7"},
		{"another pool, at once", func() { r.updates = 8 }, 2, "7"},
		{"after five seconds", func() { r.now = r.now.Add(5 * time.Second) }, 2, "7"},
		{"after six", func() { r.now = r.now.Add(time.Second) }, 3, "8"},
	}
	for _, step := range steps {
		step.change()
		if got := id(); got != step.id || r.made != step.made {
			t.Errorf("%s: %d made, id %s", step.name, r.made, got)
		}
	}
}

func TestTemplateRefusals(t *testing.T) {
	main, err := dialect.Bitcoin("main")
	if err != nil {
		t.Fatal(err)
	}
	signet, err := dialect.Bitcoin("signet")
	if err != nil {
		t.Fatal(err)
	}
	const (
		segwit = `{"code":-8,"message":"getblocktemplate must be called with the segwit rule set (call with {\"rules\": [\"segwit\"]})"}`
		mode   = `{"code":-8,"message":"Invalid mode"}`
	)
	for _, test := range []struct {
		network      *dialect.Network
		params, want string
	}{
		{regtest(t, dialect.Choices{}), `[{}]`, segwit},
		{regtest(t, dialect.Choices{}), `[{"rules":["csv"]}]`, segwit},
		{regtest(t, dialect.Choices{}), `[{"rules":"segwit"}]`, segwit},
		{regtest(t, dialect.Choices{}), `[{"rules":[1]}]`, `{"code":-3,"message":"JSON value of type number is not of expected type string"}`},
		{regtest(t, dialect.Choices{}), `[{"mode":1}]`, mode},
		{regtest(t, dialect.Choices{}), `[{"mode":"x","rules":["segwit"]}]`, mode},
		{regtest(t, dialect.Choices{}), `[{"mode":"proposal"}]`, `{"code":-3,"message":"Missing data String key for proposal"}`},
		{regtest(t, dialect.Choices{}), `[{"mode":"proposal","data":"00"}]`, `{"code":-22,"message":"Block decode failed"}`},
		{
			regtest(t, dialect.Choices{}), `[{"longpollid":"abc","rules":["segwit"]}]`,
			`{"code":-8,"message":"longpollid must be of length 64 (not 3, for 'abc')"}`,
		},
		{
			regtest(t, dialect.Choices{}), `[{"longpollid":"` + strings.Repeat("x", 64) + `1"}]`,
			`{"code":-8,"message":"longpollid must be hexadecimal string (not '` + strings.Repeat("x", 64) + `')"}`,
		},
		{main, ask4, `{"code":-9,"message":"Bitcoin Core is not connected!"}`},
		{signet, ask4, `{"code":-8,"message":"getblocktemplate must be called with the signet rule set (call with ` +
			`{\"rules\": [\"segwit\", \"signet\"]})"}`},
	} {
		if got := newTemplateRig(t, test.network, miningrpc.Blocks{}).call(
			"getblocktemplate", test.params,
		); got != test.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", test.network.Name, test.params, got, test.want)
		}
	}
	connected := newTemplateRig(t, main, miningrpc.Blocks{})
	connected.peers.In, connected.now = 1, connected.now.Add(240*time.Hour)
	const initial = `{"code":-10,"message":"Bitcoin Core is in initial sync and waiting for blocks..."}`
	if got := connected.call("getblocktemplate", ask4); got != initial {
		t.Errorf("got %s", got)
	}
	signed := newTemplateRig(t, signet, miningrpc.Blocks{}).call("getblocktemplate", `[{"rules":["segwit","signet"]}]`)
	if !strings.Contains(signed, `"rules":["csv","!segwit","!signet","taproot"]`) || !strings.Contains(signed, `"signet_challenge":"5121`) {
		t.Errorf("got %s", signed)
	}
}

func TestProposal(t *testing.T) {
	r := newTemplateRig(t, regtest(t, dialect.Choices{}), miningrpc.Blocks{})
	raw, err := r.template(&messages.MakeTemplate{On: r.tree.Active().Tip().Hash})
	if err != nil {
		t.Fatal(err)
	}
	params := `[{"mode":"proposal","data":"` + hex.EncodeToString(raw) + `"}]`
	for _, test := range []struct {
		verdict error
		want    string
	}{
		{nil, "null"},
		{&messages.RejectError{Reason: "bad-cb-amount", Debug: "why"}, `"bad-cb-amount"`},
		{&messages.RejectError{}, `"rejected"`},
	} {
		r.proposed = test.verdict
		if got := r.call("getblocktemplate", params); got != test.want {
			t.Errorf("%v: got %s", test.verdict, got)
		}
	}
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	b, err := r.tree.Add(&block.Header, r.tree.Active().Tip().Work(), chainview.HasData)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		status chainview.Status
		want   string
	}{
		{chainview.HasData, `"duplicate-inconclusive"`},
		{chainview.HasData | chainview.Valid, `"duplicate"`},
		{chainview.HasData | chainview.Valid | chainview.Failed, `"duplicate-invalid"`},
		{chainview.FailedAncestor, `"duplicate-invalid"`},
	} {
		r.tree.SetStatus(b, test.status)
		if got := r.call("getblocktemplate", params); got != test.want {
			t.Errorf("%b: got %s, want %s", test.status, got, test.want)
		}
	}
}

// A client that waits for another template gets it with the next tip, and for a
// change of the pool after a minute, then every ten seconds.
func TestLongPoll(t *testing.T) {
	for _, test := range []struct {
		name   string
		id     string // after the tip; empty: no text at all
		change func(*templateRig)
		after  time.Duration // of the call
		want   time.Duration // that it takes
	}{
		{"tip", "7", (*templateRig).moveTip, 5 * time.Second, 5 * time.Second},
		{"pool within a minute", "7", (*templateRig).changePool, 5 * time.Second, time.Minute},
		{"pool after it", "7", (*templateRig).changePool, 61 * time.Second, 70 * time.Second},
		{"tip after it", "7", (*templateRig).moveTip, 65 * time.Second, 65 * time.Second},
		{"pool that has changed already", "6", func(*templateRig) {}, 0, time.Minute},
		{"no text", "", (*templateRig).moveTip, time.Second, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newTemplateRig(t, regtest(t, dialect.Choices{}), miningrpc.Blocks{})
				r.call("getblocktemplate", ask4)
				id := `"` + r.tree.Active().Tip().Hash.String() + test.id + `"`
				if test.id == "" {
					id = "true"
				}
				began := time.Now()
				go func() {
					time.Sleep(test.after)
					test.change(r)
				}()
				got := r.call("getblocktemplate", `[{"rules":["segwit"],"longpollid":`+id+`}]`)
				if !strings.Contains(got, `"longpollid"`) {
					t.Errorf("got %s", got)
				}
				if took := time.Since(began); took != test.want {
					t.Errorf("took %v, want %v", took, test.want)
				}
			})
		})
	}
}

// A client that no longer waits leaves no waiting call behind.
func TestLongPollEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTemplateRig(t, regtest(t, dialect.Choices{}), miningrpc.Blocks{})
		given, err := jsontree.Parse([]byte(`[{"rules":["segwit"],"longpollid":true}]`))
		if err != nil {
			t.Fatal(err)
		}
		call, err := r.table.Prepare(command.Caller{}, "getblocktemplate", given)
		if err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithTimeout(t.Context(), 30*time.Second)
		defer leave()
		began := time.Now()
		if _, err := call.Run(ctx); err == nil || time.Since(began) != 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
