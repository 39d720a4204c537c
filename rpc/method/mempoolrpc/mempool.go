// Package mempoolrpc holds the JSON-RPC methods that put transactions into the pool
// of unconfirmed ones, and that tell what is in it.
//
// The actor that owns the pool decides and answers. Results and errors are those
// of Bitcoin Core 30.2 (src/rpc/mempool.cpp, mining.cpp).
package mempoolrpc

import (
	"context"
	"encoding/hex"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// Deps is what the methods work on.
type Deps struct {
	Network *dialect.Network
	Pool    *ask.Ref // owns the pool
	Relay   *ask.Ref // passes transactions on; absent: nothing does
	Peers   *ask.Ref // owns the connections
	Private bool     // has transactions handed over privately

	Spenders Spenders // of outputs in the chain; nil: there is no index of them

	// Wallets waits until the loaded wallets have on disk what concerns them of the
	// transactions that the pool has taken. Nil: there are no wallets.
	Wallets func(ctx context.Context)
}

// Spenders is the index of the spenders of outputs in the chain.
type Spenders interface {
	// Find returns the transaction of the chain that spends an output, nil when none does.
	// synced is false while the index has yet to reach the tip.
	Find(ctx context.Context, out *wire.OutPoint) (by *chainview.Spender, synced bool, err error)
}

// seen is called before a submission is answered: a client with the answer finds
// the transaction in the wallets, whatever happens to the process.
func (d *Deps) seen(ctx context.Context) {
	if d.Wallets != nil {
		d.Wallets(ctx)
	}
}

// Commands returns the methods.
func Commands(d Deps) []command.Command {
	list := []command.Command{
		abortPrivateBroadcast(&d),
		estimateRawFee(&d),
		estimateSmartFee(&d),
		getMempoolRelatives(&d, "getmempoolancestors", "what a transaction of the pool depends on", false),
		getMempoolRelatives(&d, "getmempooldescendants", "what depends on a transaction of the pool", true),
		getMempoolEntry(&d),
		getMempoolInfo(&d),
		getOrphanTxs(&d),
		getPrioritisedTransactions(&d),
		getPrivateBroadcastInfo(&d),
		getRawMempool(&d),
		getTxSpendingPrevOut(&d),
		importMempool(&d),
		prioritiseTransaction(&d),
		saveMempool(&d),
		sendRawTransaction(&d),
		submitPackage(&d),
		testMempoolAccept(&d),
	}
	if d.Network.Clusters() {
		list = append(list, getMempoolCluster(&d), getMempoolFeeRateDiagram(&d))
	}
	return list
}

// Core's defaults: the highest fee rate that calls accept, in coins for 1000
// virtual bytes.
const (
	defaultMaxFeeRate = jsontree.Amount(10_000_000)
	tooHighFeeRate    = jsontree.Amount(100_000_000)
)

var maxFeeRateParam = command.Param{
	Name: "maxfeerate", Type: command.Amount, Default: `"0.10"`,
	Help: "refuse what pays more for 1000 virtual bytes; less than 1 coin, 0 for no limit",
}

// maxFeeRate reads the highest fee rate to accept.
func (d *Deps) maxFeeRate(a *command.Args, i int) (jsontree.Amount, error) {
	if !a.Has(i) {
		return defaultMaxFeeRate, nil
	}
	rate, err := a.Amount(i, jsontree.Amount(d.Network.Rules.MaxMoney))
	if err != nil {
		return 0, err
	}
	if rate >= tooHighFeeRate {
		return 0, command.Errorf(command.InvalidParameter, "Fee rates larger than or equal to 1%s/kvB are not accepted",
			d.Network.Software.Unit)
	}
	return rate, nil
}

var burnParam = command.Param{
	Name: "maxburnamount", Type: command.Amount, Default: `"0.00"`,
	Help: "refuse outputs that nobody can spend and that are worth more",
}

// maxBurn reads the highest amount that an unspendable output may be worth.
func (d *Deps) maxBurn(a *command.Args, i int) (int64, error) {
	if !a.Has(i) {
		return 0, nil
	}
	burn, err := a.Amount(i, jsontree.Amount(d.Network.Rules.MaxMoney))
	return int64(burn), err
}

var errBurn = command.Error{
	Code:    command.VerifyError,
	Message: "Unspendable output exceeds maximum configured by user (maxburnamount)",
}

// checkBurn refuses a transaction that burns more than that.
func checkBurn(tx *wire.MsgTx, limit int64) error {
	for _, out := range tx.TxOut {
		s := out.PkScript
		lost := len(s) > 0 && s[0] == txscript.OP_RETURN || len(s) > txscript.MaxScriptSize || !rawtx.HasValidOps(s)
		if lost && out.Value > limit {
			return errBurn
		}
	}
	return nil
}

// readTx reads a transaction from hex.
func readTx(text string) (*wire.MsgTx, bool) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, false
	}
	return rawtx.Decode(raw, rawtx.WitnessForm)
}

// maxPackage is how many transactions one call may bring.
const maxPackage = 25

// readTxs reads the transactions of a package. Each is checked as soon as it is
// read.
func readTxs(list *jsontree.Value, check func(*wire.MsgTx) error) ([]*wire.MsgTx, error) {
	var txs []*wire.MsgTx
	for _, v := range list.Elements() {
		text, err := v.AsString()
		if err != nil {
			return nil, err
		}
		tx, ok := readTx(text)
		if !ok {
			return nil, command.Errorf(command.DeserializationError,
				"TX decode failed: %s Make sure the tx has at least one input.", text)
		}
		if err := check(tx); err != nil {
			return nil, err
		}
		txs = append(txs, tx)
	}
	return txs, nil
}

var errPackageSize = command.Errorf(
	command.InvalidParameter, "Array must contain between 1 and %d transactions.", maxPackage,
)

// weightOf is the weight of a transaction on a network.
func weightOf(tx *wire.MsgTx, net *dialect.Network) int64 {
	return int64(tx.SerializeSizeStripped())*(net.Rules.WitnessScale-1) + int64(tx.SerializeSize())
}

// virtualSize is the size of a transaction without what its signature operations
// add.
func virtualSize(tx *wire.MsgTx, net *dialect.Network) int64 {
	return virtual(weightOf(tx, net), net)
}

// virtual returns the virtual size of a weight.
func virtual(weight int64, net *dialect.Network) int64 {
	return (weight + net.Rules.WitnessScale - 1) / net.Rules.WitnessScale
}

// feeFor returns what a size costs at a rate, rounded up.
func feeFor(rate jsontree.Amount, vsize int64) int64 { return (int64(rate)*vsize + 999) / 1000 }

// errNotInPool answers a transaction that is not in the pool.
var errNotInPool = command.Error{Code: command.InvalidAddressOrKey, Message: "Transaction not in mempool"}

// feesOf is the object about fees in results of packages.
type feesOf struct {
	Base     jsontree.Amount  `json:"base"`
	Rate     *jsontree.Amount `json:"effective-feerate,omitempty"`
	Includes []string         `json:"effective-includes,omitempty"`
}

func newFees(r *messages.TxResult) *feesOf {
	fees := &feesOf{Base: jsontree.Amount(r.Fee)}
	if r.InPool {
		return fees
	}
	rate := jsontree.Amount(r.Rate)
	fees.Rate = &rate
	for _, wid := range r.RateOf {
		fees.Includes = append(fees.Includes, wid.String())
	}
	return fees
}

var feesResult = command.Result{
	Type: command.Object, Key: "fees", Optional: true, Help: "what it pays", Inner: []command.Result{
		{Type: command.Amount, Key: "base", Help: "its fee"},
		{
			Type: command.Amount, Key: "effective-feerate", Optional: true,
			Help: "the rate it was judged by, for 1000 virtual bytes",
		},
		{
			Type: command.Array, Key: "effective-includes", Optional: true,
			Help: "the transactions that the rate is of",
			Inner: []command.Result{
				{Type: command.Hex, Help: "witness id"},
			},
		},
	},
}
