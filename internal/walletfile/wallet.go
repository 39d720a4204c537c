package walletfile

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
)

// Wallet is what the records of a wallet file say.
type Wallet struct {
	Version *Version // nil without a record that can be read
	Flags   Flags

	Descriptors []*Descriptor // by ascending bytes of their ids
	Active      map[Slot]chainhash.Hash

	Addresses map[string]*Address // by their texts, which need not be addresses
	Txs       []*Tx               // by ascending bytes of their ids
	WrongIDs  int                 // transactions left out, because they stand under other ids
	Locked    []wire.OutPoint

	MasterKeys map[uint32]MasterKey

	OrderPosNext int64
	BestBlock    Locator // nil if the wallet has seen no block

	// The index of qbit's own keys.
	PubKeys       []PubKeyEntry
	PubKeyCursors []PubKeyCursor
}

// Address is what a wallet notes of an address.
type Address struct {
	Label   *string           // nil without a label, as change has none
	Purpose string            // as stored, which may be none that Core knows
	Data    map[string]string // see [DestData]
}

// Descriptor is a descriptor of a wallet with its caches and keys.
type Descriptor struct {
	DescriptorRecord

	Parsed *descriptor.Descriptor

	Annotations descriptor.Annotations // that its text had when it was imported

	// Extended keys that derive its scripts without private keys, by the number
	// of the key expression.
	Parents      map[uint32]ExtKey
	Derived      map[uint32]map[uint32]ExtKey // and by the index
	LastHardened map[uint32]ExtKey

	Keys        []DescriptorKey
	CryptedKeys []DescriptorCryptedKey // none if there are Keys

	// The post-quantum keys of qbit.
	PQCKeys        []PQCKey
	PQCCryptedKeys []PQCCryptedKey
	SlowKeys       []P2MRCache
}

// HasPrivateKeys reports whether the file holds private keys of the descriptor,
// encrypted or not.
func (d *Descriptor) HasPrivateKeys() bool {
	return len(d.Keys)+len(d.CryptedKeys)+len(d.PQCKeys)+len(d.PQCCryptedKeys) > 0
}

// Descriptor returns the descriptor of an id, or nil.
func (w *Wallet) Descriptor(id chainhash.Hash) *Descriptor {
	for _, d := range w.Descriptors {
		if d.ID == id {
			return d
		}
	}
	return nil
}

// Encrypted reports whether the wallet has a passphrase.
func (w *Wallet) Encrypted() bool { return len(w.MasterKeys) > 0 }

// Unordered reports whether a transaction lacks its place in the order.
func (w *Wallet) Unordered() bool {
	for _, tx := range w.Txs {
		if tx.OrderPos == NoOrderPos {
			return true
		}
	}
	return false
}

// CheckMaster checks that a master key decrypts the keys of all descriptors.
//
// Errors: ErrPassphrase, also if there are private keys in the clear;
// ErrSomeKeys.
func (w *Wallet) CheckMaster(master *Secret) error {
	for _, d := range w.Descriptors {
		if len(d.Keys) > 0 {
			return ErrPassphrase
		}
		if err := CheckMaster(master, d.CryptedKeys); err != nil {
			return err
		}
		if err := CheckPQCMaster(master, d.PQCCryptedKeys); err != nil {
			return err
		}
	}
	return nil
}

// Zero wipes the private keys.
func (w *Wallet) Zero() {
	for _, d := range w.Descriptors {
		for _, key := range d.Keys {
			key.Secret.Zero()
		}
		for _, key := range d.PQCKeys {
			key.Secret.Zero()
		}
	}
}
