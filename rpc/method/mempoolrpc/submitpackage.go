package mempoolrpc

import (
	"bytes"
	"context"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func submitPackage(d *Deps) command.Command {
	return command.Command{
		Name:     "submitpackage",
		Category: command.RawTransactions,
		About:    command.State, Effect: command.MovesPool,
		Summary: "Puts a transaction with some of its unconfirmed parents into the pool: each by itself if it can,\n" +
			"else together, so that the child pays for its parents.",
		Params: []command.Param{
			{
				Name: "package", Type: command.Array,
				Help:  "serialized transactions, the child last; no parent may depend on another",
				Inner: []command.Param{{Name: "rawtx", Type: command.Hex, Optional: true, Help: "a transaction"}},
			},
			maxFeeRateParam, burnParam,
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "package_msg", Help: `"success", or what is wrong with the package`},
			{Type: command.UserKeys, Key: "tx-results", Help: "by the ids with witnesses", Inner: []command.Result{
				{Type: command.Object, Key: "wtxid", Inner: []command.Result{
					{Type: command.Hex, Key: "txid", Help: "its id"},
					{
						Type: command.Hex, Key: "other-wtxid", Optional: true,
						Help: "it is in the pool with other witnesses",
					},
					{Type: command.Number, Key: "vsize", Optional: true, Help: "its virtual size"},
					{Type: command.Number, Key: "vsize_bip141", Optional: true, Since: 32, Help: sizeHelp},
					{Type: command.Number, Key: "vsize_adjusted", Optional: true, Since: 32, Help: adjustedHelp},
					feesResult,
					{Type: command.String, Key: "error", Optional: true, Help: "why it was refused"},
				}},
			}},
			{
				Type: command.Array, Key: "replaced-transactions", Optional: true, Help: "what left the pool for it",
				Inner: []command.Result{
					{Type: command.Hex, Help: "id"},
				},
			},
		}}},
		Examples: []string{`[["rawparent1", "rawparent2", "rawchild"]]`},
		Run:      func(ctx context.Context, a *command.Args) (any, error) { return d.submit(ctx, a) },
	}
}

// packaged is what submitpackage tells of a transaction.
type packaged struct {
	TxID         chainhash.Hash  `json:"txid"`
	OtherWitness *chainhash.Hash `json:"other-wtxid,omitempty"`
	VSize        int64           `json:"vsize,omitempty"`
	Size         int64           `json:"vsize_bip141,omitempty"`
	Adjusted     int64           `json:"vsize_adjusted,omitempty"`
	Fees         *feesOf         `json:"fees,omitempty"`
	Error        string          `json:"error,omitempty"`
}

type submitted struct {
	Message  string           `json:"package_msg"`
	Results  jsontree.Members `json:"tx-results"`
	Replaced []chainhash.Hash `json:"replaced-transactions"`
}

func (d *Deps) submit(ctx context.Context, a *command.Args) (any, error) {
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
	burn, err := d.maxBurn(a, 2)
	if err != nil {
		return nil, err
	}
	txs, err := readTxs(list, func(tx *wire.MsgTx) error { return checkBurn(tx, burn) })
	if err != nil {
		return nil, err
	}
	if len(txs) > 1 && !isTree(txs) {
		return nil, command.Error{
			Code:    command.VerifyError,
			Message: "package topology disallowed. not child-with-parents or parents depend on each other.",
		}
	}
	result, err := ask.Ask(ctx, d.Pool, messages.SubmitPackage{Txs: txs, MaxRate: int64(rate)})
	if err != nil {
		return nil, err
	}
	d.seen(ctx)
	return d.describePackage(txs, &result), nil
}

// isTree reports whether the last transaction spends from all others, and no
// other does.
func isTree(txs []*wire.MsgTx) bool {
	parents, child := txs[:len(txs)-1], txs[len(txs)-1]
	spends := func(tx *wire.MsgTx, id chainhash.Hash) bool {
		return slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool { return in.PreviousOutPoint.Hash == id })
	}
	for _, parent := range parents {
		id := parent.TxHash()
		if !spends(child, id) || slices.ContainsFunc(parents, func(tx *wire.MsgTx) bool { return spends(tx, id) }) {
			return false
		}
	}
	return true
}

func (d *Deps) describePackage(txs []*wire.MsgTx, result *messages.PackageResult) submitted {
	shown := submitted{Message: "success"}
	if result.Failed != nil {
		shown.Message = result.Failed.Error()
	}
	for i, tx := range txs {
		r := &result.Results[i]
		if !r.Known && d.Network.NotValidated == "" {
			continue // as in Core 30
		}
		one := packaged{TxID: tx.TxHash()}
		switch {
		case !r.Known:
			one.Error = d.Network.NotValidated
		case r.OtherWitness != nil:
			one.OtherWitness = r.OtherWitness
		case r.Rejected != nil:
			one.Error = r.Rejected.Error()
		default:
			one.VSize, one.Fees = r.VSize, newFees(r)
			one.Size, one.Adjusted = virtualSize(tx, d.Network), r.VSize
			shown.Replaced = append(shown.Replaced, r.Replaced...)
		}
		shown.Results = append(shown.Results, jsontree.Member{Key: tx.WitnessHash().String(), Value: one})
	}
	slices.SortFunc(shown.Replaced, func(a, b chainhash.Hash) int { return bytes.Compare(a[:], b[:]) })
	shown.Replaced = slices.Compact(shown.Replaced)
	return shown
}
