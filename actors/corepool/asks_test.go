package corepool

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/poolcopy"
	"github.com/seed61375155/trawl/messages"
)

// script is a node that answers each method with a text, or an error. Of a batch each call has the same answer.
type script struct {
	text   map[string][]string // by method, one after the other; the last one stays
	errs   map[string]error
	called []string
	params []any            // of the last call
	with   map[string][]any // parameters by method
}

func (n *script) next(method string) (string, error) {
	n.called = append(n.called, method)
	if err := n.errs[method]; err != nil {
		return "", err
	}
	list := n.text[method]
	if len(list) == 0 {
		return "", fmt.Errorf("nobody asks for %s", method)
	}
	if len(list) > 1 {
		n.text[method] = list[1:]
	}
	return list[0], nil
}

func (n *script) Call(_ context.Context, to any, method string, params ...any) error {
	n.params = params
	if n.with == nil {
		n.with = make(map[string][]any)
	}
	n.with[method] = params
	text, err := n.next(method)
	if err != nil || to == nil {
		return err
	}
	return json.Unmarshal([]byte(text), to)
}

func (n *script) Batch(
	_ context.Context, method string, params [][]any,
) (list []json.RawMessage, errs []error, err error) {
	text, err := n.next(method)
	if err != nil {
		return nil, nil, err
	}
	for i := range params {
		n.params = params[i]
		list = append(list, json.RawMessage(text))
	}
	return list, nil, nil
}

func txOf(salt int64, from ...wire.OutPoint) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	for _, at := range from {
		tx.AddTxIn(wire.NewTxIn(&at, nil, nil))
	}
	if len(from) == 0 {
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: uint32(salt)}, nil, nil))
	}
	tx.AddTxOut(wire.NewTxOut(salt, []byte{0x51}))
	return tx
}

func rawOf(tx *wire.MsgTx) string {
	var raw bytes.Buffer
	_ = tx.Serialize(&raw)
	return hex.EncodeToString(raw.Bytes())
}

// The fee limit of a transaction is handed over as the rate of its virtual size. It is at least the lowest rate that
// is a limit, and below one coin, from which on Core takes it for a mistake.
func TestMaxRate(t *testing.T) {
	tx := txOf(1)
	size := int64(tx.SerializeSize()) // without a witness
	signed := txOf(1)
	signed.TxIn[0].Witness = wire.TxWitness{make([]byte, 100)}
	for _, c := range []struct {
		tx   *wire.MsgTx
		fee  int64
		want string
	}{
		{tx, 0, "0"},
		{tx, -1, "0"},
		{tx, size, "0.00001000"},
		{tx, 2*size + 1, fmt.Sprintf("0.%08d", (2*size+1)*1000/size)},
		{tx, 1, fmt.Sprintf("0.%08d", 1000/size)},
		{tx, 100_000 * size, "0.99999999"},
		{tx, 99_999 * size, "0.99999000"},
		{signed, size, fmt.Sprintf("0.%08d", size*4000/(4*size+2+102))},
	} {
		if got := maxRate(&messages.SubmitTx{Tx: c.tx, MaxFee: c.fee}); string(got) != c.want {
			t.Errorf("fee %d: rate %s, want %s", c.fee, got, c.want)
		}
	}
	large := txOf(1)
	large.TxOut[0].PkScript = make([]byte, 2000)
	if got := maxRate(&messages.SubmitTx{Tx: large, MaxFee: 1}); got != "0.00000001" {
		t.Errorf("the lowest rate is %s", got)
	}
}

// Core's refusal of a transaction is told as a pool of this node would tell its own.
func TestRejected(t *testing.T) {
	const missing, maximum = "bad-txns-inputs-missingorspent", "Fee exceeds maximum configured by user"
	for _, c := range []struct {
		code          int
		text          string
		kind          messages.TxRejectKind
		reason, debug string
	}{
		{-26, "min relay fee not met, 0 < 11", messages.TxPolicy, "min relay fee not met", "0 < 11"},
		{-26, "txn-mempool-conflict", messages.TxPolicy, "txn-mempool-conflict", ""},
		{-25, missing, messages.TxMissingInputs, missing, ""},
		{-26, missing + ", x, y", messages.TxMissingInputs, missing, "x, y"},
		{-25, "other", messages.TxPolicy, "other", ""},
		{-22, "TX decode failed", messages.TxInvalid, "TX decode failed", ""},
		{-26, maximum, messages.TxPolicy, maximum, ""},
	} {
		err := rejected(&corenode.Error{Code: c.code, Message: c.text})
		got, ok := errors.AsType[*messages.TxReject](err)
		if !ok || got.Kind != c.kind || got.Reason != c.reason || got.Debug != c.debug {
			t.Errorf("%d %s: %+v", c.code, c.text, err)
		}
	}
	broken := errors.New("broken")
	for _, c := range []struct{ err, want error }{
		{&corenode.Error{Code: -27, Message: "Transaction outputs already in utxo set"}, messages.ErrTxConfirmed},
		{&corenode.Error{Code: -25, Message: maximum + " (e.g. -maxtxfee)"}, messages.ErrTxFee},
		{&corenode.Error{Code: -28, Message: "Loading block index"}, messages.ErrNodeAway},
		{fmt.Errorf("%w: refused", corenode.ErrAway), messages.ErrNodeAway},
		{broken, broken},
	} {
		got := rejected(c.err)
		_, isRefusal := errors.AsType[messages.Refusal](got)
		if !errors.Is(got, c.want) || !isRefusal && !errors.Is(got, messages.ErrNodeAway) {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}

// A transaction that was taken is told with what the pool says of it, and as it is where the pool cannot be asked.
func TestSend(t *testing.T) {
	tx := txOf(1)
	id := tx.TxHash()
	q := &messages.SubmitTx{Tx: tx}
	n := &script{text: map[string][]string{
		"sendrawtransaction": {`"x"`}, "getrawtransaction": {`"` + rawOf(tx) + `"`},
		"getmempoolentry": {`{"vsize":70,"time":5,"height":6,"fees":{"base":0.00000007,"modified":0.00000008}}`},
	}, errs: map[string]error{}}
	got, err := send(t.Context(), n, q, &id)
	want := poolcopy.Details{Fee: 7, ModifiedFee: 8, VSize: 70, Time: 5, Height: 6}
	if err != nil || len(got) != 1 || got[0].Details != want || got[0].msg.TxHash() != id {
		t.Errorf("%+v, %v", got, err)
	}
	n.errs["getrawtransaction"] = errors.New("broken")
	got, err = send(t.Context(), n, q, &id)
	if err != nil || len(got) != 1 || got[0].ID != id || got[0].Fee != 0 || got[0].VSize != int64(tx.SerializeSize()) {
		t.Errorf("not to be asked: %+v, %v", got, err)
	}
	n.errs["sendrawtransaction"] = &corenode.Error{Code: -27}
	n.called = nil
	if _, err := send(t.Context(), n, q, &id); !errors.Is(err, messages.ErrTxConfirmed) || len(n.called) != 1 {
		t.Errorf("refused: %v, called %v", err, n.called)
	}
}

// A list is asked for with the tips before and after it, and whether it is all of the pool only after Core was away.
func TestList(t *testing.T) {
	a, b := strings.Repeat("0a", 32), strings.Repeat("0b", 32)
	away := fmt.Errorf("%w: refused", corenode.ErrAway)
	for _, c := range []struct {
		name          string
		away          bool
		change        func(n *script)
		calls         int
		loaded, moved bool
		tip           string
		err           error
	}{
		{name: "as always", calls: 3, loaded: true, tip: a},
		{name: "after it was away", away: true, calls: 4, loaded: true, tip: a},
		{name: "it reads its pool", away: true, change: func(n *script) {
			n.text["getmempoolinfo"] = []string{`{"loaded":false}`}
		}, calls: 4, tip: a},
		{name: "it does not say", away: true, change: func(n *script) {
			n.text["getmempoolinfo"] = []string{`{}`}
		}, calls: 4, loaded: true, tip: a},
		{name: "it may not be asked", away: true, change: func(n *script) {
			n.errs["getmempoolinfo"] = corenode.ErrForbidden
		}, calls: 4, loaded: true, tip: a},
		{name: "it is away", away: true, change: func(n *script) {
			n.errs["getmempoolinfo"] = away
		}, calls: 1, err: away},
		{name: "no tip may be asked for", change: func(n *script) {
			n.errs["getbestblockhash"] = corenode.ErrForbidden
		}, calls: 3, loaded: true, tip: strings.Repeat("00", 32)},
		{name: "no tip", change: func(n *script) { n.errs["getbestblockhash"] = away }, calls: 1, err: away},
		{name: "no list", change: func(n *script) { n.errs["getrawmempool"] = away }, calls: 2, err: away},
		{name: "it moves", change: func(n *script) {
			n.text["getbestblockhash"] = []string{`"` + a + `"`, `"` + b + `"`}
		}, calls: 3, loaded: true, moved: true, tip: b},
	} {
		n := &script{text: map[string][]string{
			"getmempoolinfo": {`{"loaded":true}`}, "getbestblockhash": {`"` + a + `"`},
			"getrawmempool": {`{"txids":["` + b + `","` + a + `"],"mempool_sequence":3}`},
		}, errs: map[string]error{}}
		if c.change != nil {
			c.change(n)
		}
		got, err := list(t.Context(), n, c.away)
		if !errors.Is(err, c.err) || len(n.called) != c.calls {
			t.Errorf("%s: %v, called %v", c.name, err, n.called)
		}
		if c.err != nil || err != nil {
			continue
		}
		if got.loaded != c.loaded || got.moved != c.moved || got.tip.String() != c.tip || len(got.ids) != 2 ||
			got.ids[0].String() != b {
			t.Errorf("%s: %+v", c.name, got)
		}
		if with := n.with["getrawmempool"]; !slices.Equal(with, []any{false, true}) { // ids, with the sequence
			t.Errorf("%s: asked for the pool with %v", c.name, with)
		}
	}
}

// The replies with a transaction and with its details are checked; a login that may not ask for the details does
// without.
func TestFetch(t *testing.T) {
	tx := txOf(1)
	ids := []chainhash.Hash{tx.TxHash()}
	const entry = `{"vsize":70,"time":5,"height":6,"fees":{"base":0.00000007,"modified":0.00000008}}`
	broken := errors.New("broken")
	for _, c := range []struct {
		name      string
		raw, what string
		errs      map[string]error
		fee       int64
		err       error
	}{
		{"both", `"` + rawOf(tx) + `"`, entry, nil, 7, nil},
		{"not to be asked for details", `"` + rawOf(tx) + `"`, "", map[string]error{
			"getmempoolentry": corenode.ErrForbidden,
		}, 0, nil},
		{"no transaction", "", entry, map[string]error{"getrawtransaction": broken}, 0, broken},
		{"no details", `"` + rawOf(tx) + `"`, "", map[string]error{"getmempoolentry": broken}, 0, broken},
		{"no text", `7`, entry, nil, 0, corenode.ErrReply},
		{"no digits", `"xy"`, entry, nil, 0, corenode.ErrReply},
		{"another transaction", `"` + rawOf(txOf(2)) + `"`, entry, nil, 0, corenode.ErrReply},
		{"more than a transaction", `"` + rawOf(tx) + `00"`, entry, nil, 0, corenode.ErrReply},
		{"a size below zero", `"` + rawOf(tx) + `"`, `{"vsize":-1}`, nil, 0, corenode.ErrReply},
		{"details of another kind", `"` + rawOf(tx) + `"`, `[]`, nil, 0, corenode.ErrReply},
	} {
		n := &script{text: map[string][]string{"getrawtransaction": {c.raw}, "getmempoolentry": {c.what}}, errs: c.errs}
		got, err := fetch(t.Context(), n, ids)
		if !errors.Is(err, c.err) || err == nil && (len(got) != 1 || got[0].Fee != c.fee || got[0].ID != ids[0]) {
			t.Errorf("%s: %+v, %v; want fee %d, %v", c.name, got, err, c.fee, c.err)
		}
	}
}

// The least fee of the other pool is told where it is more than what is relayed at least; estimates that are none are
// left out.
func TestRulesAndEstimates(t *testing.T) {
	for text, want := range map[string]messages.PoolClusters{
		`{"mempoolminfee":0.00001,"minrelaytxfee":0.00001,"incrementalrelayfee":0.00000100}`: {
			MinRelayFee: 1000, IncrementalFee: 100,
		},
		`{"mempoolminfee":0.00001001,"minrelaytxfee":0.00001,"incrementalrelayfee":0}`: {
			MinFee: 1001, MinRelayFee: 1000,
		},
		`{"mempoolminfee":0,"minrelaytxfee":0,"incrementalrelayfee":0,"limitclustercount":64,"limitclustersize":101000}`: {
			MaxCluster: 64, MaxClusterVSize: 101_000,
		},
		`{"mempoolminfee":0,"minrelaytxfee":0,"incrementalrelayfee":0,"limitclustercount":-1,"limitclustersize":-1}`: {},
	} {
		got, err := rules(t.Context(), &script{text: map[string][]string{"getmempoolinfo": {text}}})
		if err != nil || got.MinFee != want.MinFee || got.MinRelayFee != want.MinRelayFee ||
			got.IncrementalFee != want.IncrementalFee || got.DustFee != 3000 || got.MaxAncestors != 25 ||
			got.MaxDescendants != 25 || got.MaxAncestorVSize != 101_000 || got.MaxDescVSize != 101_000 ||
			got.MaxCluster != want.MaxCluster || got.MaxClusterVSize != want.MaxClusterVSize {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	away := &script{errs: map[string]error{"getmempoolinfo": corenode.ErrAway}}
	if _, err := rules(t.Context(), away); !errors.Is(err, messages.ErrNodeAway) {
		t.Errorf("away: %v", err)
	}
	queries := []messages.FeeQuery{{Target: 6, Conservative: true}}
	for text, want := range map[string]messages.FeeEstimate{
		`{"feerate":0.00012345,"blocks":3}`: {Rate: 12_345, Blocks: 3, Reason: reasonCore},
		`{"feerate":0.00000001}`:            {Rate: 1, Reason: reasonCore},
		`{"feerate":0,"blocks":3}`:          {},
		`{"feerate":-1,"blocks":3}`:         {},
		`{"blocks":3}`:                      {},
		`7`:                                 {},
	} {
		n := &script{text: map[string][]string{"estimatesmartfee": {text}}}
		got := estimates(t.Context(), n, queries)
		if len(got) != 1 || !reflect.DeepEqual(got[0], want) || !slices.Equal(n.params, []any{6, "conservative"}) {
			t.Errorf("%s: %+v, asked %v", text, got, n.params)
		}
	}
	n := &script{}
	if got := estimates(t.Context(), n, nil); got != nil || len(n.called) != 0 {
		t.Errorf("of nothing: %v, called %v", got, n.called)
	}
}
