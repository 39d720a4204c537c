package messages

// The requests of this file go to the actor of one wallet, on networks that pay
// to P2MR. No public key of P2MR can be derived from an extended public key, so
// a wallet that only watches is given the public keys themselves. They fail with
// a [*WalletError].

// ExportPubKeys asks for the public keys of P2MR that the wallet knows, in
// ascending order, each place of a key once.
type ExportPubKeys struct{ Asks[[]PubKey] }

// PubKey is a public key of P2MR with its origin, where known.
type PubKey struct {
	Key     [32]byte
	Account *int64 // nil: unknown
	Change  *bool
	Index   *int64
}

// ImportPubKeys adds public keys to a wallet without private keys, in order up to
// the first that is refused, and rescans. The answer is how many entries changed
// the wallet.
type ImportPubKeys struct {
	Asks[int]

	Entries   []PubKeyItem
	Refused   *WalletError // what is wrong with the entry after the last; nil: nothing
	Timestamp int64        // seconds; NowTimestamp for the tip's median time
	BadTime   *WalletError // what is wrong with the timestamp that was given
}

// PubKeyItem is one public key to import.
type PubKeyItem struct {
	Key      [32]byte
	Text     string // the key as it was given
	Internal bool
	Account  int64
	Index    *int64       // nil: the key joins no pool
	Refused  *WalletError // why the use is refused, for a key that is right; nil: it is not
}

// NextPubKey takes the next key of a pool of imported ones.
type NextPubKey struct {
	Asks[PubKeyAddress]

	Internal bool
	Account  int64
}

// PubKeyAddress is the answer to [NextPubKey].
type PubKeyAddress struct {
	Address   string
	Key       [32]byte
	Index     int64
	Remaining int // keys that can be taken after this one
}

// ListPubKeyPools asks for the pools of imported keys, by account, those for
// receiving first.
type ListPubKeyPools struct{ Asks[[]PubKeyPool] }

// PubKeyPool is a pool of imported keys.
type PubKeyPool struct {
	Account   int64
	Internal  bool
	Next      int64 // index of the next key; behind the highest if there is none
	Highest   int64
	Remaining int
}
