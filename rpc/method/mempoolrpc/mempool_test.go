package mempoolrpc_test

import (
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/mempoolrpc"
)

// A transaction with one input and one output of 0.1, and a transaction that
// burns coins.
const (
	someTx = "02000000010000000000000000000000000000000000000000000000000000000000000001000000000000000000" +
		"0180969800000000000151" + "00000000"
	burnTx = "02000000010000000000000000000000000000000000000000000000000000000000000001000000000000000000" +
		"018096980000000000016a" + "00000000"
	noInputs = "0200000000010000000000000000015100000000" // as one without witnesses
	someID   = "0000000000000000000000000000000000000000000000000000000000000005"
)

// rig is the methods above a pool that the test answers for.
type rig struct {
	t     *testing.T
	table *command.Table

	submit error
	result messages.PackageResult
	txs    []messages.PoolTx
	sent   messages.SubmitTx
	fee    messages.FeeEstimate
	feeBy  messages.FeeEstimator
	raw    messages.RawFeeEstimates
	feeErr error

	spends map[wire.OutPoint]*wire.MsgTx
	asked  int // how often transactions were asked for
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigWith(t, nil)
}

func newRigWith(t *testing.T, spenders mempoolrpc.Spenders) *rig {
	t.Helper()
	return makeRig(t, dialect.Core30, spenders)
}

// newRigAs is newRig with the words of a version of Bitcoin Core, and those of -deprecatedrpc.
func newRigAs(t *testing.T, reference int, kept ...string) *rig {
	t.Helper()
	return makeRig(t, reference, nil, kept...)
}

func makeRig(t *testing.T, reference int, spenders mempoolrpc.Spenders, kept ...string) *rig {
	t.Helper()
	net, err := dialect.Named("", "regtest", dialect.Choices{Reference: reference})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t}
	pool := actortest.New(t).Spawn("mempool", func() actor.Actor { return actor.ReceiveFunc(r.pool) })
	table, err := command.NewTable(mempoolrpc.Commands(mempoolrpc.Deps{Network: net, Pool: pool, Spenders: spenders}))
	if err != nil {
		t.Fatal(err)
	}
	r.table = table.Speak(net.Reference, kept...)
	return r
}

func (r *rig) pool(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[messages.SubmitTx, messages.Done]:
		r.sent = m.Req
		m.Answer(messages.Done{}, r.submit)
	case *ask.Call[messages.TestTxs, messages.PackageResult]:
		m.Answer(r.result, nil)
	case *ask.Call[messages.SubmitPackage, messages.PackageResult]:
		m.Answer(r.result, nil)
	case *ask.Call[messages.GetPoolTxs, messages.PoolTxs]:
		m.Answer(messages.PoolTxs{Txs: r.txs, Sequence: 7}, nil)
	case *ask.Call[messages.GetPoolIDs, messages.PoolIDs]:
		ids := []chainhash.Hash{}
		for i := range r.txs {
			ids = append(ids, r.txs[i].ID)
		}
		m.Answer(messages.PoolIDs{IDs: ids, Sequence: 7}, nil)
	case *ask.Call[messages.GetPoolTx, messages.PoolTx]:
		r.asked++
		for _, tx := range r.spends {
			if r.asked > 1 && tx.TxHash() == m.Req.ID { // the first one asked for has just left
				m.Answer(messages.PoolTx{Tx: tx}, nil)
				return
			}
		}
		m.Answer(messages.PoolTx{}, messages.ErrNotInPool)
	case *ask.Call[messages.GetPoolInfo, messages.PoolInfo]:
		m.Answer(messages.PoolInfo{}, nil)
	case *ask.Call[messages.GetPoolRelatives, []messages.PoolTx]:
		m.Answer(nil, messages.ErrNotInPool)
	case *ask.Call[messages.GetPoolSpenders, []*chainhash.Hash]:
		list := make([]*chainhash.Hash, len(m.Req.Outs))
		for i, out := range m.Req.Outs {
			if tx := r.spends[out]; tx != nil {
				id := tx.TxHash()
				list[i] = &id
			}
		}
		m.Answer(list, nil)
	case *ask.Call[messages.PrioritiseTx, messages.Done]:
		m.Answer(messages.Done{}, messages.ErrTxDust)
	case *ask.Call[messages.SavePool, string]:
		m.Answer("", messages.ErrPoolLoading)
	case *ask.Call[messages.EstimateFee, messages.FeeEstimate]:
		r.feeBy = m.Req.By
		m.Answer(r.fee, r.feeErr)
	case *ask.Call[messages.EstimateRawFee, messages.RawFeeEstimates]:
		m.Answer(r.raw, r.feeErr)
	case *ask.Call[messages.LoadPool, messages.Done]:
		m.Answer(messages.Done{}, messages.ErrPoolFile)
	default:
		ask.Unhandled(c)
	}
}

// call calls a method and returns its result, or its error as code and message.
func (r *rig) call(method, params string) string {
	r.t.Helper()
	given, err := jsontree.Parse([]byte(params))
	if err != nil {
		r.t.Fatal(err)
	}
	var result any
	call, err := r.table.Prepare(command.Caller{}, method, given)
	if err == nil {
		result, err = call.Run(r.t.Context())
	}
	if err != nil {
		told, known := r.table.Reveal(err)
		if !known {
			r.t.Errorf("%s: nobody wrote words for %v", method, err)
		}
		result = told
	}
	text, err := jsontree.Append(nil, result)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// The errors of each method.
func TestErrors(t *testing.T) {
	tests := []struct{ method, params, want string }{
		{"sendrawtransaction", `["00"]`, `{"code":-22,"message":"TX decode failed. Make sure the tx has at least one input."}`},
		{"sendrawtransaction", `["` + noInputs + `"]`, `{"code":-22,"message":"TX decode failed. Make sure the tx has at least one input."}`},
		{
			"testmempoolaccept", `[["` + noInputs + `"]]`,
			`{"code":-22,"message":"TX decode failed: ` + noInputs + ` Make sure the tx has at least one input."}`,
		},
		{
			"submitpackage", `[["` + noInputs + `","` + someTx + `"]]`,
			`{"code":-22,"message":"TX decode failed: ` + noInputs + ` Make sure the tx has at least one input."}`,
		},
		{"sendrawtransaction", `["` + someTx + `", 1]`, `{"code":-8,"message":"Fee rates larger than or equal to 1BTC/kvB are not accepted"}`},
		{"sendrawtransaction", `["` + burnTx + `"]`, `{"code":-25,"message":"Unspendable output exceeds maximum ` +
			`configured by user (maxburnamount)"}`},
		{"testmempoolaccept", `[[]]`, `{"code":-8,"message":"Array must contain between 1 and 25 transactions."}`},
		{"testmempoolaccept", `[["00"]]`, `{"code":-22,"message":"TX decode failed: 00 Make sure the tx has at least one input."}`},
		{"submitpackage", `[[]]`, `{"code":-8,"message":"Array must contain between 1 and 25 transactions."}`},
		{
			"submitpackage", `[["` + someTx + `", "` + someTx + `"]]`,
			`{"code":-25,"message":"package topology disallowed. not child-with-parents or parents depend on each other."}`,
		},
		{"getrawmempool", `[true, true]`, `{"code":-8,"message":"Verbose results cannot contain mempool sequence values."}`},
		{"getmempoolentry", `["` + someID + `"]`, `{"code":-5,"message":"Transaction not in mempool"}`},
		{"getmempoolancestors", `["` + someID + `"]`, `{"code":-5,"message":"Transaction not in mempool"}`},
		{"getmempooldescendants", `["x"]`, `{"code":-8,"message":"txid must be of length 64 (not 1, for 'x')"}`},
		{"gettxspendingprevout", `[[]]`, `{"code":-8,"message":"Invalid parameter, outputs are missing"}`},
		{"gettxspendingprevout", `[[{}]]`, `{"code":-3,"message":"Missing txid"}`},
		{
			"gettxspendingprevout", `[[{"txid": "` + someID + `", "vout": -1}]]`,
			`{"code":-8,"message":"Invalid parameter, vout cannot be negative"}`,
		},
		{"gettxspendingprevout", `[[{"txid": "` + someID + `", "vout": 3, "x": 1}]]`, `{"code":-3,"message":"Unexpected key x"}`},
		{"gettxspendingprevout", `[[{"txid": "` + someID + `", "vout": 3}]]`, `[{"txid":"` + someID + `","vout":3}]`},
		{
			"prioritisetransaction", `["` + someID + `", 1, 5]`,
			`{"code":-8,"message":"Priority is no longer supported, dummy argument to prioritisetransaction must be 0."}`,
		},
		{
			"prioritisetransaction", `["` + someID + `", 0, 5]`,
			`{"code":-8,"message":"Priority is not supported for transactions with dust outputs."}`,
		},
		{"savemempool", `[]`, `{"code":-1,"message":"The mempool was not loaded yet"}`},
		{"importmempool", `["x"]`, `{"code":-1,"message":"Unable to import mempool file, see debug.log for details."}`},
		{"getorphantxs", `[true]`, `{"code":-3,"message":"Verbosity was boolean but only integer allowed"}`},
		{"getorphantxs", `[3]`, `{"code":-8,"message":"Invalid verbosity value 3"}`},
		{"getorphantxs", `[]`, `[]`},
	}
	r := newRig(t)
	for _, test := range tests {
		if got := r.call(test.method, test.params); got != test.want {
			t.Errorf("%s %.80s\ngot  %s\nwant %s", test.method, test.params, got, test.want)
		}
	}
}

// A refusal by the pool has the code of its kind.
func TestSendRawTransaction(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{messages.ErrTxConfirmed, `{"code":-27,"message":"Transaction outputs already in utxo set"}`},
		{messages.ErrTxFee, `{"code":-25,"message":"Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)"}`},
		{
			&messages.TxReject{Kind: messages.TxMissingInputs, Reason: "bad-txns-inputs-missingorspent"},
			`{"code":-25,"message":"bad-txns-inputs-missingorspent"}`,
		},
		{
			&messages.TxReject{Kind: messages.TxPolicy, Reason: "min relay fee not met", Debug: "9 < 10"},
			`{"code":-26,"message":"min relay fee not met, 9 < 10"}`,
		},
	} {
		r := newRig(t)
		r.submit = test.err
		if got := r.call("sendrawtransaction", `["`+someTx+`"]`); got != test.want {
			t.Errorf("%v\ngot  %s\nwant %s", test.err, got, test.want)
		}
	}
	r := newRig(t)
	if got := r.call("sendrawtransaction", `["`+someTx+`", "0.00001"]`); len(got) != 66 {
		t.Errorf("got %s", got)
	}
	if want := int64(61); r.sent.MaxFee != want { // 1000 for 1000 virtual bytes, of which there are 61
		t.Errorf("fee up to %d, want %d", r.sent.MaxFee, want)
	}
}

// testmempoolaccept tells of all transactions up to the first that pays too much.
func TestTestMempoolAccept(t *testing.T) {
	r := newRig(t)
	good := messages.TxResult{
		Known: true, VSize: 100, Fee: 20_000_000, Rate: 200_000_000, RateOf: []chainhash.Hash{{5}},
	}
	r.result = messages.PackageResult{Results: []messages.TxResult{good}}
	got := r.call("testmempoolaccept", `[["`+someTx+`"]]`)
	if !strings.HasSuffix(got, `"allowed":false,"reject-reason":"max-fee-exceeded"}]`) {
		t.Error(got)
	}
	got = r.call("testmempoolaccept", `[["`+someTx+`"], 0]`)
	if !strings.HasSuffix(got, `"allowed":true,"vsize":100,"fees":{"base":0.20000000,"effective-feerate":2.00000000,`+
		`"effective-includes":["`+someID+`"]}}]`) {
		t.Error(got)
	}
	r.result = messages.PackageResult{Results: []messages.TxResult{{
		Known: true, Rejected: &messages.TxReject{Kind: messages.TxNotStandard, Reason: "dust", Debug: "why"},
	}}}
	got = r.call("testmempoolaccept", `[["`+someTx+`"]]`)
	if !strings.HasSuffix(got, `"allowed":false,"reject-reason":"dust","reject-details":"dust, why"}]`) {
		t.Error(got)
	}
	r.result = messages.PackageResult{
		Failed: &messages.TxReject{Reason: "package-not-sorted"}, Policy: true, Results: make([]messages.TxResult, 1),
	}
	if got = r.call("testmempoolaccept", `[["`+someTx+`"]]`); !strings.HasSuffix(got, `"package-error":"package-not-sorted"}]`) {
		t.Error(got)
	}
}

func TestGetRawMempool(t *testing.T) {
	r := newRig(t)
	if got := r.call("getrawmempool", `[true]`); got != `{}` {
		t.Error(got)
	}
	r.txs = []messages.PoolTx{
		{ID: chainhash.Hash{5}, VSize: 100, Fee: 1000, Ancestors: 1, Descendants: 1, Depends: []chainhash.Hash{{6}}},
	}
	if got := r.call("getrawmempool", `[false, true]`); got != `{"txids":["`+someID+`"],"mempool_sequence":7}` {
		t.Error(got)
	}
	want := `{"` + someID + `":{"vsize":100,"weight":0,"time":0,"height":0,"descendantcount":1,"descendantsize":0,` +
		`"ancestorcount":1,"ancestorsize":0,"wtxid":"` + strings.Repeat("0", 64) + `","fees":{"base":0.00001000,` +
		`"modified":0.00000000,"ancestor":0.00000000,"descendant":0.00000000},"depends":["` + someID[:63] + `6"],"spentby":[],` +
		`"bip125-replaceable":false,"unbroadcast":false}}`
	if got := r.call("getrawmempool", `[true]`); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// submitpackage leaves out what it did not look at, as Core does.
func TestSubmitPackage(t *testing.T) {
	r := newRig(t)
	r.result = messages.PackageResult{
		Failed:  &messages.TxReject{Reason: "transaction failed"},
		Results: []messages.TxResult{{Known: true, Rejected: &messages.TxReject{Reason: "dust"}}},
	}
	got := r.call("submitpackage", `[["`+someTx+`"]]`)
	if !strings.HasPrefix(got, `{"package_msg":"transaction failed","tx-results":{`) || !strings.HasSuffix(got,
		`"error":"dust"}},"replaced-transactions":[]}`) {
		t.Error(got)
	}
	r.result = messages.PackageResult{Failed: errPackage, Policy: true, Results: make([]messages.TxResult, 1)}
	if got = r.call("submitpackage", `[["`+someTx+`"]]`); got != `{"package_msg":"package-too-large","tx-results":{},`+
		`"replaced-transactions":[]}` {
		t.Error(got)
	}
}

var errPackage = &messages.TxReject{Reason: "package-too-large"}
