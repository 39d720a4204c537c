// Package keys knows which scripts are a wallet's own, and where they come from:
// its descriptors, and the keys that are derived from them ahead of their use.
//
// [Set] is what there is: the descriptors and their scripts. [Pool] derives
// scripts, so that enough are there before they are paid to. [Importer] adds
// descriptors. [PubKeys] are public keys of P2MR that were imported with their
// places. Private keys lie in a vault, and are asked for where they are needed.
package keys

import (
	"fmt"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// Params are the choices of a network and of a node.
type Params struct {
	Network  *descriptor.Network
	Kinds    dialect.Wallet // of addresses, and how long keys of theirs take
	CoinType uint32         // of BIP44: 0 on the main chain, 1 elsewhere
	KeyPool  int32          // number of addresses derived ahead, at least 1
	Types    AddressTypes
}

// AddressTypes names the types of new addresses where a request names none, as
// [CheckTypes] allows them.
type AddressTypes struct {
	Receive string // default: bech32, or what the chain has
	Change  string // default: that of Receive
}

// CheckTypes checks the names of types of a network; none is right too.
func CheckTypes(kinds dialect.Wallet, t AddressTypes) error {
	known := func(name string) bool {
		_, ok := kinds.Named(name)
		return name == "" || ok
	}
	available := func(name string) bool {
		kind, _ := kinds.Named(name)
		return name == "" || kinds.Has(kind)
	}
	switch {
	case !known(t.Receive):
		return fmt.Errorf("Unknown address type '%s'", t.Receive) //nolint:staticcheck // Core's words
	case !known(t.Change):
		return fmt.Errorf("Unknown change type '%s'", t.Change) //nolint:staticcheck // Core's words
	case !available(t.Receive):
		//nolint:staticcheck // the reference's words
		return fmt.Errorf("Address type '%s' is not available on this chain", t.Receive)
	case !available(t.Change):
		//nolint:staticcheck // the reference's words
		return fmt.Errorf("Change type '%s' is not available on this chain", t.Change)
	}
	return nil
}

// outputType returns the type of a name that a client gives.
func (p *Params) outputType(name string) (walletfile.OutputType, error) {
	kind, ok := p.Kinds.Named(name)
	switch {
	case !ok:
		return 0, codes.Errorf(codes.AddressOrKey, "Unknown address type '%s'", name)
	case !p.Kinds.Has(kind):
		return 0, codes.Errorf(codes.AddressOrKey, "address type '%s' is not available on this chain", name)
	}
	return typeOf(kind), nil
}

// typeOf returns how a file writes a kind of addresses, which is not Unknown.
func typeOf(kind descriptor.OutputType) walletfile.OutputType {
	return walletfile.OutputType(kind - descriptor.Legacy)
}

// kindOf returns the kind of addresses that written means in a file.
func kindOf(written walletfile.OutputType) descriptor.OutputType {
	return descriptor.OutputType(written) + descriptor.Legacy
}

// Labels is the address book as keys see it.
type Labels interface {
	Label(d book.Destination) *string
	SetLabel(pkScript []byte, label, purpose string)
}

// Payments knows which scripts transactions of the wallet pay to.
type Payments interface {
	PaysTo(pkScript []byte) bool
}

// Listener is notified of each script that becomes the wallet's.
type Listener interface {
	Owned(pkScript []byte)
}

// Chain knows the last block that the wallet has seen.
type Chain interface {
	Tip() messages.Tip
}

// listed reports whether the address of a script has a label.
func (s *Set) listed(pkScript []byte) bool {
	return s.labels.Label(book.DestinationOf(s.params.Network, pkScript)) != nil
}
