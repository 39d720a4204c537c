package messages

import (
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// A DiscoverySourceError reports keys or words from which no accounts can be looked for. The text has no part of a key
// and no word.
type DiscoverySourceError struct{ Text string }

// Error implements error.
func (e *DiscoverySourceError) Error() string { return e.Text }

// AboutRequest implements [Refusal].
func (*DiscoverySourceError) AboutRequest() {}

// DiscoverAccounts looks for all accounts of a wallet that were ever used, in all blocks up to the tip of the moment in
// which it begins. That takes some scans. [AbortDiscovery] ends it early, and so does a caller who leaves. A node has
// one discovery at a time, which takes the slot of the scanner.
//
// Nothing is kept of the keys.
//
// Errors: [ErrScanBusy], [*DiscoverySourceError], [*SearchLimitError] where more scripts would be looked for than
// searches may have, or what [RunScan] or reading a block answered.
type DiscoverAccounts struct {
	Asks[Discovery]

	// Source is an extended key, private or public, with its origin or without, a descriptor, or the English words of
	// BIP39. It is wiped by then, as the passphrase is.
	Source     Secret
	Passphrase Secret // of the words

	AccountGap int32 // unused accounts that end the search for further accounts; 0: 20
	Gap        int32 // unused indices that end a chain of addresses; 0: 1,000, or 20 of keys that take milliseconds

	Private bool // the answer has descriptors with private keys, too

	ID uint64 // by which it can be aborted; 0: any
}

// Discovery is what was found.
type Discovery struct {
	To       int32          // height of the last block
	Stop     chainhash.Hash // last block
	Accounts []Account      // that are used, in the order of their forms and numbers

	// Completed is false after an abort. Then accounts may be missing, and those that are there have no amounts and
	// heights.
	Completed bool

	// The rest describes the scope. Nil after an abort.
	Chains  []AccountChain // also of accounts that are not used
	Scripts ScriptSet
	Blocks  []chainhash.Hash // by height
	Entries uint64           // outputs received and inputs that spend
	Passes  int              // over the filters
}

// An Account is the addresses of an extended key in one form of script.
type Account struct {
	Purpose int32  // of its path, as 84; -1: no standard path
	Number  int32  // -1: not known
	Form    string // of its descriptors, with KEY for the key, as wpkh(KEY)
	Chains  []AccountChain

	AccountSum // of its chains
}

// AccountSum is what scripts received and spent.
type AccountSum struct {
	Received, Spent btcutil.Amount
	FirstHeight     int32 // of the first block; -1: there is none
	LastHeight      int32 // of the last block; -1
}

// Balance returns what is left.
func (s *AccountSum) Balance() btcutil.Amount { return s.Received - s.Spent }

// An AccountChain is the addresses of a descriptor.
type AccountChain struct {
	Desc        string // without private keys, and with checksum
	PrivateDesc Secret // nil unless asked for and known; the receiver wipes it
	Derivable   bool   // from Desc, without private keys
	Change      bool   // the addresses are for change

	LastIndex   int32 // indices from 0 to this one were looked for
	HighestUsed int32 // of them; -1: none
	Gap         int32
	Exhausted   bool // there are no further indices, although the gap has not ended

	Time int64 // of the account's first block, in seconds since 1970; 0: none

	AccountSum
}

// GetDiscovery asks how far the running discovery has come.
type GetDiscovery struct{ Control[DiscoveryStatus] }

// DiscoveryStatus is the answer to [GetDiscovery]. The zero value means that none is running.
type DiscoveryStatus struct {
	ScanStatus // of the present stage; Height is that of the present pass

	Pass     int // over the filters, from 1 on
	Accounts int // used accounts that were found by the passes before
	Scripts  int // that are looked for, so far
}

// AbortDiscovery ends the running discovery; the answer is false where there was none, or another.
type AbortDiscovery struct {
	Control[bool]

	ID uint64 // of the request; 0: any
}
