package dialect

import (
	"slices"

	"github.com/seed61375155/trawl/descriptor"
)

// Wallet is what the wallets of a network have.
type Wallet struct {
	// Types are the types of addresses that a new wallet has, in their order.
	Types []AddressType

	// Default is the type of new addresses, of a wallet that has it.
	Default descriptor.OutputType

	// Unavailable are types that are known by their names, and that no wallet of
	// the network has.
	Unavailable []descriptor.OutputType

	// SlowKeys is set where keys can take milliseconds each, so that wallets have
	// them made ahead by others, and note in their files how far that is.
	SlowKeys bool

	// OnlySlowKeys is set where all keys do. A new wallet has few of them at once,
	// and its descriptors look like those that addresses can be derived from, so
	// that they are not shown without their private keys.
	OnlySlowKeys bool

	// FeeEntries is set where the history tells of a transaction that pays change alone what its fee was.
	FeeEntries bool

	// LookAgain is set where what replaces a transaction is looked at again when it is signed, before it is taken in.
	LookAgain bool

	Answers Answers // those of the network

	// MerkleRoots is the first height at which a network gives out addresses that pay to P2MR outputs, where it has
	// no others: before, whoever mines can spend such outputs. 0: at any.
	MerkleRoots int32
}

// AddressType is a type of addresses.
type AddressType struct {
	Kind descriptor.OutputType

	// Form is the standard descriptor of the type: with places for a key, the type
	// of coin, and 1 for change or 0.
	Form string
}

// The standard descriptors by the purpose of their paths: BIP44, BIP49, BIP84,
// BIP86, and that of P2MR.
var (
	bitcoinTypes = []AddressType{
		{descriptor.Legacy, "pkh(%s/44h/%dh/0h/%d/*)"},
		{descriptor.P2SHSegwit, "sh(wpkh(%s/49h/%dh/0h/%d/*))"},
		{descriptor.Bech32, "wpkh(%s/84h/%dh/0h/%d/*)"},
		{descriptor.Bech32m, "tr(%s/86h/%dh/0h/%d/*)"},
	}
	merkleType = AddressType{descriptor.MerkleRoot, "mr(pk(pqc(%s/87h/%dh/0h/%d/*)))"}
)

// BitcoinWallet returns what the wallets of Bitcoin's networks have.
func BitcoinWallet() Wallet {
	return Wallet{Types: slices.Clone(bitcoinTypes), Default: descriptor.Bech32}
}

// Wallet returns what the wallets of the network have.
func (n *Network) Wallet() Wallet {
	w := BitcoinWallet()
	w.FeeEntries, w.LookAgain = n.P2MR != nil, n.P2MR != nil
	w.Answers = n.Answers
	switch {
	case n.P2MR == nil:
	case !n.P2MR.AnyOutput:
		for _, t := range w.Types {
			w.Unavailable = append(w.Unavailable, t.Kind)
		}
		w.Types, w.Default = []AddressType{merkleType}, merkleType.Kind
		w.SlowKeys, w.OnlySlowKeys = true, true
		w.MerkleRoots = n.P2MR.Spends
	default:
		w.Types = append(w.Types, merkleType)
		w.SlowKeys = true
	}
	return w
}

// CoinType returns the type of coin in the paths of wallets' keys (BIP44): 0 on a main chain, else 1.
func (n *Network) CoinType() uint32 {
	if n.Name == "main" {
		return 0
	}
	return 1
}

// Has reports whether wallets have addresses of a type.
func (w *Wallet) Has(kind descriptor.OutputType) bool {
	return slices.ContainsFunc(w.Types, func(t AddressType) bool { return t.Kind == kind })
}

// Named returns the address type with a name that clients may give, even if no
// wallet of the network has addresses of this type.
func (w *Wallet) Named(name string) (kind descriptor.OutputType, ok bool) {
	for _, t := range w.Types {
		if t.Kind.String() == name {
			return t.Kind, true
		}
	}
	for _, kind := range w.Unavailable {
		if kind.String() == name {
			return kind, true
		}
	}
	return descriptor.Unknown, false
}

// Form returns the standard descriptor of a type; none if the wallets do not have
// it.
func (w *Wallet) Form(kind descriptor.OutputType) string {
	for _, t := range w.Types {
		if t.Kind == kind {
			return t.Form
		}
	}
	return ""
}
