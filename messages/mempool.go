package messages

import (
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

var (
	// ErrTxConfirmed reports a transaction with unspent outputs in the chain.
	ErrTxConfirmed = refusal("transaction outputs already in utxo set")

	// ErrTxFee reports a fee above the limit that the request sets.
	ErrTxFee = refusal("fee exceeds the given maximum")

	// ErrNotInPool reports a transaction that is not in the pool.
	ErrNotInPool = refusal("transaction not in mempool")

	// ErrTxDust reports a transaction whose fee may not be changed because it has
	// an output of dust.
	ErrTxDust = refusal("transaction with dust outputs")

	// ErrPoolFile reports a file of the pool that cannot be read or written.
	ErrPoolFile = refusal("mempool file")

	// ErrPoolLoading reports that the stored pool has not been read yet.
	ErrPoolLoading = refusal("the mempool was not loaded yet")
)

// A TxRejectKind says what a refusal of a transaction means to who sent it.
type TxRejectKind uint8

// The kinds of refusals.
const (
	TxInvalid           TxRejectKind = iota + 1 // breaks a rule of consensus
	TxNotStandard                               // is not of a form that is relayed
	TxInputsNotStandard                         // spends a form that is not relayed
	TxMissingInputs                             // what it spends is not known
	TxPremature                                 // may come again later
	TxWitnessMutated                            // its witness may have been changed on the way
	TxWitnessStripped                           // its witness may have been removed on the way
	TxConflict                                  // is there already
	TxPolicy                                    // limits of the pool
	TxReconsiderable                            // pays too little, by itself
)

// TxReject is why a transaction does not go into the pool.
type TxReject struct {
	Kind   TxRejectKind
	Reason string // Bitcoin Core's reject reason, for instance "min relay fee not met"
	Debug  string // details for a person, may be empty
}

// Error implements error.
func (r *TxReject) Error() string {
	if r.Debug == "" {
		return r.Reason
	}
	return r.Reason + ", " + r.Debug
}

// AboutRequest implements [Refusal].
func (*TxReject) AboutRequest() {}

// FormatMoney writes an amount of the smallest unit as coins: 8 decimals, of
// which trailing zeros are left out down to the given number.
func FormatMoney(amount int64, decimals int) string {
	const one = 100_000_000
	sign, units := "", uint64(amount)
	if amount < 0 {
		sign, units = "-", -units
	}
	text := fmt.Sprintf("%08d", units%one)
	for len(text) > decimals && strings.HasSuffix(text, "0") {
		text = text[:len(text)-1]
	}
	return fmt.Sprintf("%s%d.%s", sign, units/one, text)
}

// SubmitTx puts a transaction of our own into the pool and announces it to all
// peers, again if it is there already. The answer comes after the announcement to
// all listeners of the pool.
//
// Errors: [ErrTxConfirmed], [ErrTxFee], [*TxReject].
type SubmitTx struct {
	Asks[Done]

	Tx      *wire.MsgTx
	MaxFee  int64 // in the smallest unit; 0: any
	Quietly bool  // do not announce it
	Test    bool  // judge it alone, unless one of its id is there: the pool stays as it is
}

// TestTxs asks whether transactions would go into the pool, as a package if
// there are several. Nothing changes.
type TestTxs struct {
	Asks[PackageResult]

	Txs []*wire.MsgTx
}

// SubmitPackage puts a child with its parents, which come first, into the pool,
// and announces what got in.
type SubmitPackage struct {
	Asks[PackageResult]

	Txs     []*wire.MsgTx
	MaxRate int64 // fee for 1000 virtual bytes; 0: any
}

// PackageResult is the answer to [TestTxs] and [SubmitPackage].
type PackageResult struct {
	Failed  *TxReject  // of the package as a whole; nil: none
	Policy  bool       // Failed is about the package, not about one of its transactions
	Results []TxResult // in the order asked for
}

// TxResult is what became of one transaction.
type TxResult struct {
	Known        bool            // false: it was not looked at to the end
	Rejected     *TxReject       // nil: it is, or would be, in the pool
	InPool       bool            // was there before
	OtherWitness *chainhash.Hash // is there with another witness
	VSize        int64
	Fee          int64
	Rate         int64            // effective fee for 1000 virtual bytes
	RateOf       []chainhash.Hash // witness ids of those that Rate is of
	Replaced     []chainhash.Hash
}

// GetPoolInfo asks for the state of the pool.
type GetPoolInfo struct{ Control[PoolInfo] }

// PoolInfo is the answer to [GetPoolInfo]. Fees are in the smallest unit, rates
// for 1000 virtual bytes.
type PoolInfo struct {
	Loaded         bool // the stored pool was read
	Size           int
	VSize          int64
	Usage          int64 // of memory, in bytes
	Fees           int64
	MaxBytes       int64
	MinFee         int64
	MinRelayFee    int64
	IncrementalFee int64
	Unbroadcast    int
	BareMultisig   bool
	DataCarrier    int
	Sequence       uint64
	Updates        uint32 // grows with every change of the pool and of the tip

	Clusters *PoolLimits // nil: the pool does not judge by clusters

	LastBlock *BlockSize // of the last answer to SelectTxs; nil: there was none
}

// BlockSize says how large a block is that transactions were selected for.
type BlockSize struct {
	Weight int64 // includes the reserved weight
	Txs    int   // without the coinbase
}

// GetPoolTxs asks for all transactions of the pool, each after those that it
// depends on.
type GetPoolTxs struct{ Asks[PoolTxs] }

// PoolTxs is the answer to [GetPoolTxs].
type PoolTxs struct {
	Txs      []PoolTx
	Sequence uint64

	At        Tip    // last block that the pool has seen; zero: not known
	Alone     bool   // as in [PoolChanged]
	Published uint64 // how many [PoolChanged] were published before
}

// GetPoolIDs is [GetPoolTxs] for the ids alone.
type GetPoolIDs struct{ Asks[PoolIDs] }

// PoolIDs is the answer to [GetPoolIDs].
type PoolIDs struct {
	IDs      []chainhash.Hash
	Sequence uint64
}

// GetPoolTx asks for one transaction of the pool.
//
// Errors: [ErrNotInPool].
type GetPoolTx struct {
	Asks[PoolTx]

	ID      chainhash.Hash
	Witness bool // ID is the witness id
}

// GetPoolRelatives asks for what a transaction of the pool depends on, or for
// what depends on it.
//
// Errors: [ErrNotInPool].
type GetPoolRelatives struct {
	Asks[[]PoolTx]

	ID          chainhash.Hash
	Descendants bool
}

// GetPoolClusters asks for transactions of the pool with all that they are connected to
// as parents and children, in any number of steps. Ids that are not in the pool are
// passed over.
type GetPoolClusters struct {
	Asks[PoolClusters]

	IDs  []chainhash.Hash
	Fees []FeeQuery // fee rates to be estimated as well
}

// PoolClusters is the answer to [GetPoolClusters], with what the pool asks of
// transactions now.
type PoolClusters struct {
	Txs     []ClusterTx
	TooMany bool // there were more than 500: none is told of

	// For 1000 virtual bytes. MinFee is asked for because the pool was full; 0: it was not.
	// IncrementalFee is what a replacement must add.
	MinFee, MinRelayFee, IncrementalFee, DustFee int64

	MaxAncestors, MaxDescendants   int
	MaxAncestorVSize, MaxDescVSize int64

	// Where clusters are limited these are the limits, and those of relatives only guide the choice of coins; 0: they
	// are not.
	MaxCluster      int
	MaxClusterVSize int64

	Estimates []FeeEstimate // for each of the Fees, without MinFee; none where the node estimates nothing
}

// ClusterTx is a transaction of a cluster.
type ClusterTx struct {
	ID          chainhash.Hash
	VSize       int64
	ModifiedFee int64
	Depends     []chainhash.Hash
	Spends      []wire.OutPoint
}

// GetPoolSpenders asks which transactions of the pool spend outputs: nil where
// none does.
type GetPoolSpenders struct {
	Asks[[]*chainhash.Hash]

	Outs []wire.OutPoint
}

// PoolTx is a transaction of the pool.
type PoolTx struct {
	Tx       *wire.MsgTx
	ID, WID  chainhash.Hash
	VSize    int64
	Weight   int64
	Time     int64 // when it came, in seconds since 1970
	Height   int32 // of the tip when it came
	Sequence uint64

	Fee, ModifiedFee, AncestorFees, DescendantFees int64
	Ancestors, Descendants                         int // itself included
	AncestorVSize, DescendantVSize                 int64
	Depends, SpentBy                               []chainhash.Hash
	Replaceable                                    bool // BIP125
	Unbroadcast                                    bool

	// The sums of its chunk, as in [PoolChunk]; 0: the pool does not judge by clusters.
	ChunkFee, ChunkWeight int64
}

// GetPoolCoins asks for outputs of the chain and of the pool as they are when the
// pool is in a block: nil where an output does not exist or is spent.
type GetPoolCoins struct {
	Asks[[]*Coin]

	Outs []wire.OutPoint
	View PoolView
}

// A PoolView says how [GetPoolCoins] looks at the pool.
type PoolView uint8

// The views.
const (
	PoolUnspent PoolView = iota // what the pool spends is spent
	PoolOutputs                 // what the pool spends still counts
)

// PoolHeight is the height of a coin whose transaction is in the pool.
const PoolHeight = 1<<31 - 1

// PrioritiseTx makes a transaction count as paying more, or less.
//
// Errors: [ErrTxDust].
type PrioritiseTx struct {
	Asks[Done]

	ID    chainhash.Hash
	Delta int64
}

// GetPrioritised asks for what [PrioritiseTx] did.
type GetPrioritised struct {
	Asks[[]PrioritisedTx]
}

// PrioritisedTx is an answer to [GetPrioritised].
type PrioritisedTx struct {
	ID          chainhash.Hash
	Delta       int64
	InPool      bool
	ModifiedFee int64
}

// SavePool writes the pool to its file and answers with the path.
//
// Errors: [ErrPoolLoading], [ErrPoolFile].
type SavePool struct{ Asks[string] }

// LoadPool adds the transactions of a file as [SavePool] writes it.
//
// Errors: [ErrPoolFile].
type LoadPool struct {
	Asks[Done]

	Path        string
	KeepTimes   bool // those of the file, not now
	Deltas      bool // take over what was prioritised
	Unbroadcast bool // take over what no peer has asked for
}

// SelectTxs asks for the transactions that make the best block on the tip.
type SelectTxs struct {
	Asks[BlockTxs]

	MaxWeight int64 // of the block; 0: the limit
	Reserved  int64 // weight to keep free; 0: the default
	MinRate   int64 // fee for 1000 virtual bytes
	Nothing   bool  // the block is to have none
	Log       bool  // the fee rate of each goes to the log
}

// BlockTxs is the answer to [SelectTxs].
type BlockTxs struct {
	Tip     Tip // that the transactions are valid on
	Txs     []BlockTx
	Fees    int64
	Updates uint32 // as in [PoolInfo]
}

// BlockTx is a transaction chosen for a block.
type BlockTx struct {
	Tx     *wire.MsgTx
	Fee    int64
	SigOps int64 // cost
	Weight int64
}
