package messages

import (
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// Spend asks a wallet for a transaction that pays: it chooses coins beside those that
// are given, and adds change. Requests are served one after the other, so that a coin
// that is spent or locked for one is not chosen for another.
//
// Errors: [*WalletError].
type Spend struct {
	Asks[Spent]

	Payments []Payment
	Shuffle  bool // bring the payments into a random order

	Inputs     []SpendInput // spent in any case, first and in this order
	OnlyInputs bool         // choose no others
	All        *AllCoins    // spend all coins, without change; nil: choose some

	ChangePosition *int   // nil: a random one
	ChangeScript   []byte // nil: a new address of the wallet
	ChangeType     string // of that address; empty: by the payments and the wallet's options

	// Refused is what is wrong with the payments: it is told after what is wrong with ChangeType. Nil: nothing.
	Refused *WalletError

	FeeRate      *int64 // for 1000 virtual bytes; nil: by the wallet's options
	AnyFeeRate   bool   // FeeRate may be below what the node and the wallet ask for
	ConfTarget   int    // blocks to be confirmed within; 0: by the wallet's options
	Conservative *bool  // how the fee is estimated; nil: by whether it can be replaced
	Replaceable  *bool  // BIP125; nil: by the wallet's options

	LockTime *uint32 // nil: the height of the tip, against fee sniping, or 0
	Version  int32

	AvoidPartial bool // spend all coins of an address together
	AllowUsed    bool // spend coins on addresses that were spent from, which the wallet avoids
	Unsafe       bool // spend unconfirmed coins of others and of replacements too
	MinConf      int32
	MaxConf      int32
	MaxWeight    *int // nil: that of a standard transaction
	LockCoins    bool // lock what is chosen, until the process ends

	Sign   Signs
	Send   bool              // write it and send it, if it is signed completely
	Sniped bool              // set the lock time against fee sniping where LockTime is the default 0
	Values map[string]string // texts to keep with it
	Key    *IdempotencyKey   // nil: none
}

// An IdempotencyKey makes a request to send that is repeated answer what the first one
// did.
type IdempotencyKey struct {
	Key       string
	Arguments string // a digest: the same key with other arguments is an error
}

// Signs says which inputs of a transaction to sign.
type Signs int

// The values of Signs.
const (
	SignNothing Signs = iota
	SignAll           // an input that cannot be signed is an error
	SignSome          // inputs that cannot be signed are left unsigned
)

// Payment is an output to be paid to.
type Payment struct {
	Script      []byte
	Amount      btcutil.Amount
	SubtractFee bool // it bears its share of the fee

	// Rest, in a [Spend] of all coins, gives it an equal share of the rest; Amount is 0.
	Rest    bool
	Address string // as error texts name it, where all coins are spent
}

// AllCoins makes a [Spend] spend all coins that it may.
type AllCoins struct {
	Given bool // exactly the inputs of the request, even where there are none
	Worth bool // leave coins that cost more to spend than they are worth

	// Refused is what is wrong with the request otherwise: it is told after what is wrong
	// with the fee rate. Nil: nothing.
	Refused *WalletError
}

// SpendInput is an input that is spent in any case.
type SpendInput struct {
	At        wire.OutPoint
	Sequence  *uint32     // nil: as the request says
	Weight    int         // of the input signed; 0: worked out
	Out       *wire.TxOut // what it spends, where the chain knows it; nil: only the wallet may
	Known     *KnownSize  // how large an input is that spends Out; nil: only the wallet may know
	SigScript []byte
	Witness   wire.TxWitness
}

// KnownSize is what is known of an input that spends an output of others.
type KnownSize struct {
	Script, Stack int // bytes of the script and of the elements of the witness
	Elements      int
	Witness       bool
}

// Spent is the answer to [Spend].
type Spent struct {
	Tx       *wire.MsgTx
	TxID     chainhash.Hash
	Fee      btcutil.Amount
	Change   int      // position of the change, -1 where there is none
	Reason   string   // why the fee rate is what it is, in Core's words
	Complete bool     // all inputs are signed
	Sent     bool     // written, and handed to the memory pool
	PSBT     string   // with SignSome: the partially signed transaction (BIP174) in base64
	PQCKeys  []PQCUse // keys of P2MR that signed, ascending
}

// FillPacket puts into a partially signed transaction (BIP174) what the wallet knows of it,
// and signs it where that is asked for.
//
// Errors: [*WalletError].
type FillPacket struct {
	Asks[FilledPacket]

	PSBT        string // in base64
	Sign        bool
	HashType    string // "" for the default
	Derivations bool   // tell where keys come from
	Finalize    bool   // make the final scripts of inputs that have all signatures
}

// FilledPacket is the answer to [FillPacket].
type FilledPacket struct {
	PSBT     string
	Complete bool
	Tx       *wire.MsgTx // with final scripts, where it is complete and was finalized
	PQCKeys  []PQCUse    // keys of P2MR that signed, ascending
}

// LockCoins keeps coins from being spent, or allows that again.
type LockCoins struct {
	Asks[Done]

	Unlock  bool
	All     bool // with Unlock: all that are locked; Coins is empty
	Coins   []wire.OutPoint
	Persist bool // also after the wallet is loaded again
}

// ListLocked asks for the coins that are locked.
type ListLocked struct{ Asks[[]wire.OutPoint] }

// SetPayFee sets the fee rate that is paid where a request does not say, until the wallet
// is unloaded.
type SetPayFee struct {
	Asks[Done]

	Rate int64 // for 1000 virtual bytes; 0: an estimate
}
