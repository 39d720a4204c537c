package messages

import (
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// GetBalances asks for the wallet's balances.
type GetBalances struct {
	Asks[Balances]

	MinConf    int32 // for Trusted; 0 as getbalances has it
	AvoidReuse bool  // leave out coins on addresses that were spent from
	Unsent     bool  // count coins that only transactions spend which are neither in a block nor in the mempool
}

// Balances is the answer to [GetBalances].
type Balances struct {
	Trusted  btcutil.Amount
	Pending  btcutil.Amount // untrusted
	Immature btcutil.Amount
	Used     btcutil.Amount // on addresses that were spent from
	Unsent   btcutil.Amount // the part of these that GetBalances.Unsent adds, with its sign turned
	HasUsed  bool           // the wallet avoids reuse
	Last     Tip            // last block that was processed
}

// ListReceived asks what addresses received.
type ListReceived struct {
	Asks[[]Received]

	MinConf         int32
	IncludeEmpty    bool
	Script          []byte // of the only address to list; nil: all
	IncludeImmature bool
	ByLabel         bool // one entry for each label instead
}

// Received is what one address, or all with one label, received.
type Received struct {
	Address       string // empty by label
	Label         string
	Amount        btcutil.Amount
	Confirmations int32 // of the least deep transaction counted, 0 where there is none
	TxIDs         []chainhash.Hash
}

// GetReceived asks for the total that some addresses received.
type GetReceived struct {
	Asks[btcutil.Amount]

	Script          []byte  // of one address, or
	Label           *string // all with this label
	MinConf         int32
	IncludeImmature bool
}

// ListUnspent asks for the wallet's coins.
type ListUnspent struct {
	Asks[[]Unspent]

	MinConf, MaxConf int32
	Scripts          [][]byte // of the only addresses to list; nil: all
	IncludeUnsafe    bool
	MinAmount        btcutil.Amount
	MaxAmount        btcutil.Amount
	MinSum           btcutil.Amount // stop when that much is found; 0: list all
	MaxCount         int            // 0: all
	IncludeImmature  bool
}

// Unspent is one coin.
type Unspent struct {
	TxID          chainhash.Hash
	Index         uint32
	Script        []byte
	Label         string
	HasLabel      bool
	Amount        btcutil.Amount
	Confirmations int32
	RedeemScript  []byte
	WitnessScript []byte
	Spendable     bool
	Solvable      bool
	Desc          string
	ParentDescs   []string
	Reused        bool
	HasReused     bool
	Safe          bool
	AncestorCount int // of unconfirmed ones
	AncestorSize  int
	AncestorFees  btcutil.Amount
	HasAncestors  bool
}

// ListTransactions asks for the newest entries of the wallet's history.
type ListTransactions struct {
	Asks[[]TxEntry]

	Label *string // nil: all
	Count int
	Skip  int
}

// TxEntry is one payment in or out of the wallet: a transaction has one for
// each output that concerns it.
type TxEntry struct {
	Tx          WalletTx
	Category    string // send, receive, generate, immature, orphan
	Address     string // empty where the script has none
	Label       string
	HasLabel    bool
	Amount      btcutil.Amount
	Vout        uint32
	NoOutput    bool           // it stands for the fee of a transaction that pays change alone: Vout means nothing
	Fee         btcutil.Amount // negative; sends only
	HasFee      bool
	Abandoned   bool
	ParentDescs []string
}

// WalletTx is a transaction of the wallet.
type WalletTx struct {
	TxID             chainhash.Hash
	WTxID            chainhash.Hash
	Raw              []byte
	Confirmations    int32 // negative: conflicted with a block that deep
	Coinbase         bool
	Trusted          bool // of unconfirmed ones
	BlockHash        chainhash.Hash
	BlockHeight      int32
	BlockIndex       int
	BlockTime        int64
	Time             int64
	TimeReceived     int64
	Conflicts        []chainhash.Hash
	MempoolConflicts []chainhash.Hash
	Replaceable      string // yes, no, unknown
	ReplacedBy       *chainhash.Hash
	Replaces         *chainhash.Hash
	Comment, To      string
	Values           map[string]string // all texts kept with it, also those above
	Abandoned        bool
}

// ListSinceBlock asks for the transactions since a block.
type ListSinceBlock struct {
	Asks[SinceBlock]

	Block          *chainhash.Hash // nil: all
	TargetConf     int32
	IncludeRemoved bool
	IncludeChange  bool
	Label          *string
}

// SinceBlock is the answer to [ListSinceBlock].
type SinceBlock struct {
	Transactions []TxEntry
	Removed      []TxEntry
	LastBlock    chainhash.Hash
}

// GetTransaction asks for one transaction of the wallet.
type GetTransaction struct {
	Asks[TxDetails]

	TxID chainhash.Hash
}

// TxDetails is the answer to [GetTransaction].
type TxDetails struct {
	Tx      WalletTx
	Change  []bool // for each output: it is taken for change
	Amount  btcutil.Amount
	Fee     btcutil.Amount
	HasFee  bool
	Details []TxEntry
	Last    Tip
}
