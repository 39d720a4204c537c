package mempoolrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func testMempoolAccept(d *Deps) command.Command {
	return command.Command{
		Name:     "testmempoolaccept",
		Category: command.RawTransactions,
		About:    command.State, Effect: command.Reads,
		Summary: "Tells whether transactions would be accepted into the pool, without putting them there.\n" +
			"Several are judged as a package: parents come first, and nothing in the pool may be replaced.",
		Params: []command.Param{
			{
				Name: "rawtxs", Type: command.Array, Help: "serialized transactions, at most 25",
				Inner: []command.Param{{Name: "rawtx", Type: command.Hex, Optional: true, Help: "a transaction"}},
			},
			maxFeeRateParam,
		},
		Results: []command.Result{{
			Type: command.Array, Help: "in the order of the transactions",
			Inner: []command.Result{
				{Type: command.Object, Inner: []command.Result{
					{Type: command.Hex, Key: "txid", Help: "its id"},
					{Type: command.Hex, Key: "wtxid", Help: "its id with witnesses"},
					{
						Type: command.String, Key: "package-error", Optional: true,
						Help: "what is wrong with the package",
					},
					{
						Type: command.Bool, Key: "allowed", Optional: true,
						Help: "whether it would be accepted; missing where it was not looked at to the end",
					},
					{Type: command.Number, Key: "vsize", Optional: true, Help: "its virtual size"},
					feesResult,
					{Type: command.String, Key: "reject-reason", Optional: true, Help: "why it would not"},
					{Type: command.String, Key: "reject-details", Optional: true, Help: "the same in more words"},
				}},
			},
		}},
		Examples: []string{`[["signedhex"]]`},
		Run:      func(ctx context.Context, a *command.Args) (any, error) { return d.test(ctx, a) },
	}
}

// tested is what testmempoolaccept tells of a transaction.
type tested struct {
	TxID         chainhash.Hash `json:"txid"`
	WTxID        chainhash.Hash `json:"wtxid"`
	PackageError string         `json:"package-error,omitempty"`
	Allowed      *bool          `json:"allowed,omitempty"`
	VSize        int64          `json:"vsize,omitempty"`
	Fees         *feesOf        `json:"fees,omitempty"`
	Reason       string         `json:"reject-reason,omitempty"`
	Details      string         `json:"reject-details,omitempty"`
}

func (d *Deps) test(ctx context.Context, a *command.Args) (any, error) {
	list, err := a.Array(0)
	if err != nil {
		return nil, err
	}
	if n := list.Len(); n < 1 || n > maxPackage {
		return nil, errPackageSize
	}
	rate, err := d.maxFeeRate(a, 1)
	if err != nil {
		return nil, err
	}
	txs, err := readTxs(list, func(*wire.MsgTx) error { return nil })
	if err != nil {
		return nil, err
	}
	result, err := ask.Ask(ctx, d.Pool, messages.TestTxs{Txs: txs})
	if err != nil {
		return nil, err
	}
	return describeTest(txs, &result, rate), nil
}

// describeTest returns the results of a test, up to the first transaction that
// pays too much.
func describeTest(txs []*wire.MsgTx, result *messages.PackageResult, rate jsontree.Amount) []tested {
	shown := make([]tested, len(txs))
	tooMuch := false
	for i, tx := range txs {
		t, r := &shown[i], &result.Results[i]
		t.TxID, t.WTxID = tx.TxHash(), tx.WitnessHash()
		if result.Failed != nil && result.Policy {
			t.PackageError = result.Failed.Error()
		}
		if tooMuch || !r.Known {
			continue
		}
		allowed := r.Rejected == nil
		switch {
		case r.Rejected != nil && r.Rejected.Kind == messages.TxMissingInputs:
			t.Reason = "missing-inputs"
		case r.Rejected != nil:
			t.Reason, t.Details = r.Rejected.Reason, r.Rejected.Error()
		case rate > 0 && r.Fee > feeFor(rate, r.VSize):
			t.Reason, allowed, tooMuch = "max-fee-exceeded", false, true
		default:
			t.VSize, t.Fees = r.VSize, newFees(r)
		}
		t.Allowed = &allowed
	}
	return shown
}
