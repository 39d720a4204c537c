package chainrpc_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

func TestCommandsAreDocumented(t *testing.T) {
	if err := newRig(t, "regtest").table.Check(); err != nil {
		t.Error(err)
	}
}

const unknownHash = `"00000000000000000000000000000000000000000000000000000000000000aa"`

// quoted returns the hash of a block as an argument.
func quoted(b *chainview.Block) string { return strconv.Quote(b.Hash.String()) }

// spend returns a transaction that moves the first output of a block's
// coinbase to OP_TRUE and pays a fee.
func (r *rig) spend(b *chainview.Block, fee int64) *wire.MsgTx {
	r.t.Helper()
	raw, err := r.chain.Raw(&b.Hash)
	if err != nil {
		r.t.Fatal(err)
	}
	var block wire.MsgBlock
	if err := block.Deserialize(strings.NewReader(string(raw))); err != nil {
		r.t.Fatal(err)
	}
	coinbase := block.Transactions[0]
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(new(coinbase.TxHash()), 0), nil, nil))
	tx.AddTxOut(wire.NewTxOut(coinbase.TxOut[0].Value-fee, []byte{txscript.OP_TRUE}))
	return tx
}

// check makes calls with the given text of params and compares the replies.
func (r *rig) check(method string, calls [][2]string) {
	r.t.Helper()
	for _, c := range calls {
		if got := r.call(method, c[0]); got != c[1] {
			r.t.Errorf("%s %s\ngot  %s\nwant %s", method, c[0], got, c[1])
		}
	}
}

func TestWarmup(t *testing.T) {
	r := newRig(t, "regtest")
	r.deps.Chain = new(chainview.Current)
	r.build()
	for method, params := range map[string]string{
		"getblockcount": `[]`, "getblockheader": `[` + unknownHash + `]`, "getblock": `[` + unknownHash + `]`,
		"getblockchaininfo": `[]`, "getdeploymentinfo": `[]`, "getchaintips": `[]`,
		"getblockfilter": `[` + unknownHash + `]`, "getblockstats": `[0]`,
	} {
		if got, want := r.call(method, params), "-28 Loading block index…"; got != want {
			t.Errorf("%s: got %s, want %s", method, got, want)
		}
	}
}

func TestDifficulty(t *testing.T) {
	// Of the tip of regtest; mainnet's and the exponents between are in the
	// recordings.
	newRig(t, "regtest").check("getdifficulty", [][2]string{{`[]`, "4.656542373906925e-10"}})
	newRig(t, "main").check("getdifficulty", [][2]string{{`[]`, "1"}})
}

func TestBlockErrors(t *testing.T) {
	r := newRig(t, "regtest")
	pruned, broken, header := r.chain.Mine(chaintest.Template{}), r.chain.Mine(chaintest.Template{}),
		r.chain.AddHeader(r.chain.Active().Tip())
	undone := r.chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{r.spend(pruned, 1)}})
	r.chain.Fail(pruned, chainview.ErrPruned)
	r.chain.Fail(broken, chainview.ErrUnreadable)
	r.chain.FailUndo(undone, chainview.ErrUnreadable)
	r.check("getblock", [][2]string{
		{`["12"]`, `-8 blockhash must be of length 64 (not 2, for '12')`},
		{`[` + unknownHash + `]`, `-5 Block not found`},
		{`[` + unknownHash + `, "1"]`, `-3 JSON value of type string is not of expected type number`},
		{`[` + unknownHash + `, 1.0]`, `-1 JSON integer out of range`},
		{`[` + quoted(pruned) + `]`, `-1 Block not available (pruned data)`},
		{`[` + quoted(header) + `]`, `-1 Block not available (not fully downloaded)`},
		{`[` + quoted(broken) + `]`, `-1 Block not found on disk`},
		{`[` + quoted(undone) + `, 2]`, `-32603 Undo data expected but can't be read. ` +
			`This could be due to disk corruption or a conflict with a pruning event.`},
	})
	r.check("getblockstats", [][2]string{
		{`[-1]`, `-8 Target block height -1 is negative`},
		{`[4]`, `-8 Target block height 4 after current tip 3`},
		{`[true]`, `-3 JSON value of type bool is not of expected type string`},
		{`["zz"]`, `-8 hash_or_height must be of length 64 (not 2, for 'zz')`},
		{`[` + unknownHash + `]`, `-5 Block not found`},
		{`[1, [5]]`, `-3 JSON value of type number is not of expected type string`},
		{`[1]`, `-1 Block not available (pruned data)`},
		{`[3]`, `-1 Can't read undo data from disk`},
		{`[0, ["txs", "zz", "aa"]]`, `-8 Invalid selected statistic 'aa'`},
	})
	if got := r.call("getblockheader", `[`+quoted(header)+`]`); !strings.Contains(got, `"confirmations":-1,`) ||
		!strings.Contains(got, `"nTx":0,`) {
		t.Errorf("of a header alone: got %s", got)
	}
}

// A block without its witnesses is given as it is stored, and not shown as a whole one, before it is read.
func TestStrippedBlock(t *testing.T) {
	r := newRig(t, "regtest")
	b := r.chain.Mine(chaintest.Template{})
	whole := r.call("getblock", `[`+quoted(b)+`, 0]`)
	r.chain.SetStatus(b, b.Status()|chainview.Stripped)
	const refused = `-1 Verbose block view unavailable: witness data for this historical block was pruned; ` +
		`use verbosity=0 to fetch stored block bytes.`
	r.check("getblock", [][2]string{
		{`[` + quoted(b) + `, 0]`, whole},
		{`[` + quoted(b) + `]`, refused},
		{`[` + quoted(b) + `, 2]`, refused},
		{`[` + quoted(b) + `, 3]`, refused},
	})
	if got := r.call("getblockheader", `[`+quoted(b)+`]`); !strings.Contains(got, `"nTx":1,`) {
		t.Errorf("its header: %s", got)
	}
	r.chain.Fail(b, chainview.ErrUnreadable)
	r.check("getblock", [][2]string{
		{`[` + quoted(b) + `, 0]`, `-1 Block not found on disk`},
		{`[` + quoted(b) + `, 1]`, refused},
	})
}

// Without undo data the transactions are shown, only not their fees.
func TestBlockWithoutUndo(t *testing.T) {
	r := newRig(t, "regtest")
	b := r.chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{r.spend(r.chain.MineN(1), 700)}})
	if got := r.call("getblock", `[`+quoted(b)+`, 3]`); !strings.Contains(got, `"fee":0.00000700`) ||
		!strings.Contains(got, `"prevout":{"generated":true,"height":1,`) {
		t.Errorf("got %s", got)
	}
	r.chain.FailUndo(b, chainview.ErrNotFound)
	if got := r.call("getblock", `[`+quoted(b)+`, 3]`); strings.Contains(got, "fee") ||
		!strings.Contains(got, `"vin"`) {
		t.Errorf("without undo data: got %s", got)
	}
	r.chain.FailUndo(b, chainview.ErrNotYet)
	if got := r.call("getblock", `[`+quoted(b)+`, 3]`); !strings.Contains(got, "Undo data expected but can't be read.") {
		t.Errorf("undo data that comes later: got %s", got)
	}
	r.chain.SetAssumed(&chainview.Assumed{Base: b, Validated: b.Parent})
	if got := r.call("getblock", `[`+quoted(b)+`, 3]`); strings.Contains(got, "fee") ||
		!strings.Contains(got, `"vin"`) {
		t.Errorf("before it is validated: got %s", got)
	}
}

// A block of many transactions shows each of them, in their order.
func TestBlockOfMany(t *testing.T) {
	r := newRig(t, "regtest")
	var txs []*wire.MsgTx
	for i := range 100 {
		tx := r.spend(r.chain.MineN(1), int64(i))
		for range i % 7 {
			tx.AddTxOut(wire.NewTxOut(1, make([]byte, i*3)))
		}
		txs = append(txs, tx)
	}
	b := r.chain.Mine(chaintest.Template{Txs: txs})
	shown := parse(t, r.call("getblock", `[`+quoted(b)+`, 2]`)).Get("tx")
	if shown.Len() != 101 {
		t.Fatalf("%d transactions", shown.Len())
	}
	for i, tx := range txs {
		one := shown.At(i + 1)
		if one.Get("txid").Text() != tx.TxHash().String() || one.Get("vout").Len() != len(tx.TxOut) {
			t.Errorf("transaction %d: got %v", i, one)
		}
	}
}

func TestBlockStats(t *testing.T) {
	r := newRig(t, "regtest")
	first, second := r.chain.MineN(1), r.chain.MineN(1)
	r.chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{r.spend(first, 1000), r.spend(second, 3001)}})
	const (
		stats = `["txs","ins","avgfee","medianfee","minfee","maxfee","totalfee","total_size","utxo_increase","txs"]`
		// Two transactions of 61 bytes each.
		want = `{"avgfee":2000,"ins":2,"maxfee":3001,"medianfee":2000,"minfee":1000,` +
			`"total_size":122,"totalfee":4001,"txs":3,"utxo_increase":1}`
	)
	r.check("getblockstats", [][2]string{
		{`[3,` + stats + `]`, want},
		{
			`[3,["feerate_percentiles","minfeerate","maxfeerate","subsidy"]]`,
			`{"feerate_percentiles":[16,16,16,49,49],"maxfeerate":49,"minfeerate":16,"subsidy":5000000000}`,
		},
		{`[0,["utxo_increase","utxo_increase_actual"]]`, `{"utxo_increase":1,"utxo_increase_actual":0}`},
	})
}

func TestChainTips(t *testing.T) {
	r := newRig(t, "regtest")
	fork := r.chain.MineN(2)
	left := r.chain.MineN(1) // active once, then left for a longer branch
	r.chain.MineOn(r.chain.MineOn(fork, chaintest.Template{}), chaintest.Template{})
	active := r.chain.MineN(3)
	never := r.chain.MineOn(fork.Parent, chaintest.Template{})
	header := r.chain.AddHeader(r.chain.AddHeader(fork))
	invalid := r.chain.MineOn(active, chaintest.Template{})
	r.chain.SetActive(active)
	r.chain.SetStatus(invalid, chainview.HasData|chainview.Failed)

	want := []struct {
		tip       *chainview.Block
		branchLen string
		status    string
	}{
		{invalid, "1", "invalid"},
		{active, "0", "active"},
		{header, "2", "headers-only"},
		{left, "1", "valid-fork"},
		{never, "1", "valid-headers"},
	}
	tips := parse(t, r.call("getchaintips", `[]`))
	if tips.Len() != len(want) {
		t.Fatalf("got %v", tips)
	}
	for i, w := range want {
		got := tips.At(i)
		if got.Get("hash").Text() != w.tip.Hash.String() || got.Get("branchlen").Text() != w.branchLen ||
			got.Get("status").Text() != w.status {
			t.Errorf("got %v, want %v %+v", got, w.tip.Hash, w)
		}
	}
	if got := parse(t, r.call("getblockchaininfo", `[]`)); got.Get("headers").Text() != "7" ||
		got.Get("blocks").Text() != "7" {
		t.Errorf("an invalid block counts as best header: %v", got)
	}
}

func TestDeploymentInfo(t *testing.T) {
	r := newRig(t, "regtest")
	const rest = `{"bip34":{"type":"buried","active":true,"height":1},` +
		`"bip66":{"type":"buried","active":true,"height":1},` +
		`"bip65":{"type":"buried","active":true,"height":1},` +
		`"csv":{"type":"buried","active":true,"height":1},` +
		`"segwit":{"type":"buried","active":true,"height":0},"testdummy":`
	const taproot = `,"taproot":{"type":"bip9","height":0,"active":true,"bip9":{"start_time":-1,` +
		`"timeout":9223372036854775807,"min_activation_height":0,"status":"active","since":0,"status_next":"active"}}}`
	const times = `"start_time":0,"timeout":9223372036854775807,"min_activation_height":0,`
	testdummy := func(name, want string) {
		t.Helper()
		got := parse(t, r.call("getdeploymentinfo", `[]`)).Get("deployments").String()
		if got != rest+want+taproot {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, rest+want+taproot)
		}
	}
	testdummy("genesis", `{"type":"bip9","active":false,"bip9":{`+times+`"status":"defined","since":0,"status_next":"defined"}}`)
	r.chain.MineN(143)
	testdummy("end of the first period", `{"type":"bip9","active":false,"bip9":{`+times+`"status":"defined","since":0,`+
		`"status_next":"started"}}`)
	r.chain.Mine(chaintest.Template{Version: 0x30000000})
	r.chain.Mine(chaintest.Template{Version: 0x20000000})
	testdummy("started", `{"type":"bip9","active":false,"bip9":{"bit":28,`+times+`"status":"started","since":144,"status_next":"started",`+
		`"statistics":{"period":144,"elapsed":2,"count":1,"threshold":108,"possible":true},"signalling":"#-"}}`)
	for range 142 {
		r.chain.Mine(chaintest.Template{Version: 0x30000000})
	}
	r.chain.MineN(1)
	testdummy("locked in", `{"type":"bip9","active":false,"bip9":{"bit":28,`+times+`"status":"locked_in","since":288,`+
		`"status_next":"locked_in",`+
		`"statistics":{"period":144,"elapsed":1,"count":0},"signalling":"-"}}`)
	r.chain.MineN(143)
	testdummy("active from the next block on", `{"type":"bip9","height":432,"active":true,"bip9":{"bit":28,`+
		times+`"status":"locked_in","since":288,"status_next":"active",`+
		`"statistics":{"period":144,"elapsed":144,"count":0},"signalling":"`+strings.Repeat("-", 144)+`"}}`)
	r.chain.MineN(1)
	testdummy("active", `{"type":"bip9","height":432,"active":true,"bip9":{`+times+`"status":"active","since":432,"status_next":"active"}}`)
	r.check("getdeploymentinfo", [][2]string{
		{`["1"]`, `-8 blockhash must be of length 64 (not 1, for '1')`},
		{`[` + unknownHash + `]`, `-5 Block not found`},
	})
	if got := newRig(t, "main").call("getdeploymentinfo", `[]`); strings.Contains(got, "testdummy") {
		t.Errorf("shows a deployment that is never active: %s", got)
	}
}

func (r *rig) infoMember(key string) string {
	return parse(r.t, r.call("getblockchaininfo", `[]`)).Get(key).String()
}

func TestInitialBlockDownload(t *testing.T) {
	r := newRig(t, "regtest")
	tip := r.chain.MineN(3).Time()
	steps := []struct {
		name  string
		now   time.Time
		reads bool
		want  string
	}{
		{"old tip", tip.Add(24*time.Hour + time.Second), false, "true"},
		{"recent tip, reading a file", tip.Add(24 * time.Hour), true, "true"},
		{"recent tip", tip.Add(24 * time.Hour), false, "false"},
		{"old again", tip.Add(48 * time.Hour), false, "false"},
	}
	for _, step := range steps {
		r.now = step.now
		r.deps.Chain.SetImporting(step.reads)
		if got := r.infoMember("initialblockdownload"); got != step.want {
			t.Errorf("%s: got %s, want %s", step.name, got, step.want)
		}
	}
	main := newRig(t, "main")
	if got := main.infoMember("initialblockdownload"); got != "true" {
		t.Errorf("below the minimum work: got %s", got)
	}
}

func TestVerificationProgress(t *testing.T) {
	r := newRig(t, "regtest")
	fork := r.chain.MineN(10)
	r.chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{r.spend(fork, 0)}})
	tip := r.chain.Active().Tip().Time()
	r.now = tip.Add(48 * time.Hour)

	// 13 transactions, and one more in 1000 seconds since.
	if got, want := r.infoMember("verificationprogress"), strconv.FormatFloat(13/(13+172.8), 'g', 16, 64); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// Another branch, where the transaction is not.
	r.chain.MineOn(r.chain.MineOn(fork, chaintest.Template{}), chaintest.Template{})
	r.now = r.chain.Active().Tip().Time().Add(1000 * 1000 * time.Second)
	if got, want := r.infoMember("verificationprogress"), strconv.FormatFloat(13./(13+1000), 'g', 16, 64); got != want {
		t.Errorf("after a reorganisation: got %s, want %s", got, want)
	}
	r.now = r.chain.Active().Tip().Time().Add(time.Hour)
	if got := r.infoMember("verificationprogress"); got != "1" {
		t.Errorf("at a recent tip: got %s, want 1", got)
	}
	r.chain.Fail(r.chain.MineN(1), chainview.ErrUnreadable)
	if got := r.infoMember("verificationprogress"); got != "0" {
		t.Errorf("transactions that cannot be counted: got %s, want 0", got)
	}
}

func TestSignetChallenge(t *testing.T) {
	r := newRig(t, "signet")
	if got := r.infoMember("signet_challenge"); !strings.HasPrefix(got, `"5121`) {
		t.Errorf("got %s", got)
	}
}

func TestOrders(t *testing.T) {
	r := newRig(t, "regtest")
	hash, err := chainhash.NewHashFromStr(strings.Trim(unknownHash, `"`))
	if err != nil {
		t.Fatal(err)
	}
	answers := []struct {
		err  error
		want string
	}{
		{nil, "null"},
		{messages.ErrBlockNotFound, "-5 Block not found"},
		{&messages.RejectError{Reason: "bad-blk", Debug: "why"}, "-20 bad-blk, why"},
	}
	for _, answer := range answers {
		done := r.start("invalidateblock", `[`+unknownHash+`]`)
		invalidate := actortest.Expect[*ask.Call[messages.InvalidateBlock, messages.Done]](r.actor)
		invalidate.Answer(messages.Done{}, answer.err)
		if got := <-done; got != answer.want || invalidate.Req.Hash != *hash {
			t.Errorf("invalidateblock: got %s for %v, want %s", got, invalidate.Req.Hash, answer.want)
		}
		done = r.start("reconsiderblock", `[`+unknownHash+`]`)
		reconsider := actortest.Expect[*ask.Call[messages.ReconsiderBlock, messages.Done]](r.actor)
		reconsider.Answer(messages.Done{}, answer.err)
		if got := <-done; got != answer.want || reconsider.Req.Hash != *hash {
			t.Errorf("reconsiderblock: got %s for %v, want %s", got, reconsider.Req.Hash, answer.want)
		}
	}
	r.check("invalidateblock", [][2]string{{`["x"]`, `-8 blockhash must be of length 64 (not 1, for 'x')`}})
}
