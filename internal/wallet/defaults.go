package wallet

import (
	"errors"
	"fmt"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// errSeed reports a seed that makes no key.
var errSeed = errors.New("seed makes no key")

// standardTypes are the types of addresses that a new wallet has, in their order.
func (w *Wallet) standardTypes() []walletfile.OutputType {
	all := []walletfile.OutputType{walletfile.Legacy, walletfile.P2SHSegwit, walletfile.Bech32, walletfile.Bech32m}
	switch net := w.params.Network; {
	case net.Restricted:
		return []walletfile.OutputType{walletfile.P2MR}
	case net.Dialect == descriptor.P2MR:
		return append(all, walletfile.P2MR)
	}
	return all
}

// standardForms are the descriptors by type: where a key, the purpose of its
// path (BIP44, BIP49, BIP84, BIP86), the type of coin and 1 for change go.
var standardForms = map[walletfile.OutputType]string{
	walletfile.Legacy:     "pkh(%s/44h/%dh/0h/%d/*)",
	walletfile.P2SHSegwit: "sh(wpkh(%s/49h/%dh/0h/%d/*))",
	walletfile.Bech32:     "wpkh(%s/84h/%dh/0h/%d/*)",
	walletfile.Bech32m:    "tr(%s/86h/%dh/0h/%d/*)",
	walletfile.P2MR:       "mr(pk(pqc(%s/87h/%dh/0h/%d/*)))",
}

// hdRoot is an extended key with its private key.
type hdRoot struct {
	key    descriptor.XPub
	secret *walletfile.Secret
}

// Setup makes the descriptors of a new wallet, for receiving and for change of
// each type of address, from a seed of 32 bytes. They become the active ones.
//
// Errors: one if the wallet is locked.
func (w *Wallet) Setup(seed *walletfile.Secret, now int64) error {
	root, err := rootOf(seed)
	if err != nil {
		return err
	}
	defer root.secret.Zero()
	for _, slot := range w.standardSlots() {
		d, err := w.standard(root, slot)
		if err != nil {
			return err
		}
		if _, err := w.setupOne(root, d, slot, now); err != nil {
			return err
		}
	}
	return nil
}

// rootOf returns the master key of a seed.
func rootOf(seed *walletfile.Secret) (*hdRoot, error) {
	key, scalar, ok := descriptor.Master(seed.Bytes())
	if !ok {
		return nil, errSeed
	}
	defer clear(scalar[:])
	return &hdRoot{key: key, secret: walletfile.NewSecret(scalar[:])}, nil
}

// standardSlots are the places of the descriptors of a new wallet, in their
// order.
func (w *Wallet) standardSlots() []walletfile.Slot {
	var slots []walletfile.Slot
	for _, internal := range []bool{false, true} {
		for _, kind := range w.standardTypes() {
			slots = append(slots, walletfile.Slot{Type: kind, Internal: internal})
		}
	}
	return slots
}

// standard returns the descriptor of a slot.
func (w *Wallet) standard(root *hdRoot, slot walletfile.Slot) (*descriptor.Descriptor, error) {
	change := 0
	if slot.Internal {
		change = 1
	}
	xpub := descriptor.EncodeXPub(root.key, w.params.Network)
	text := fmt.Sprintf(standardForms[slot.Type], xpub, w.params.CoinType, change)
	branches, err := descriptor.Parse(text, w.params.Network, descriptor.Options{})
	if err != nil {
		return nil, err
	}
	return branches[0], nil
}

// setupOne makes one of the standard descriptors active.
func (w *Wallet) setupOne(root *hdRoot, d *descriptor.Descriptor, slot walletfile.Slot, now int64) (*source, error) {
	if err := w.needUnlocked(); err != nil {
		return nil, err
	}
	s := newSource(d, uint64(now))
	w.addKey(s, publicKeyOf(root.key), root.secret)
	w.addSource(s)
	if err := w.topUp(s, w.firstPool(s)); err != nil {
		return nil, err
	}
	if w.flags.Has(walletfile.Blank) {
		w.flags.Set(w.flags.Value() &^ walletfile.Blank)
	}
	w.activate(s, slot)
	return s, nil
}

// CreateDescriptor adds the standard descriptors of a type of address, and
// returns the texts of those that may be shown.
//
// Errors: [*messages.WalletError].
func (w *Wallet) CreateDescriptor(r messages.CreateWalletDescriptor, now int64) ([]string, error) {
	kind, err := w.outputType(r.Type)
	if err != nil {
		return nil, err
	}
	if err := w.needUnlocked(); err != nil {
		return nil, err
	}
	root, err := w.rootKey(r.HDKey)
	if err != nil {
		return nil, err
	}
	defer root.secret.Zero()
	internals := []bool{false, true}
	if r.Internal != nil {
		internals = []bool{*r.Internal}
	}
	var texts []string
	exists := true
	for _, internal := range internals {
		slot := walletfile.Slot{Type: kind, Internal: internal}
		d, err := w.standard(root, slot)
		if err != nil {
			return nil, err
		}
		if w.byID[walletfile.DescriptorID(d)] != nil {
			continue
		}
		s, err := w.setupOne(root, d, slot, now)
		if err != nil {
			return nil, err
		}
		exists = false
		if text, ok := w.shown(s); ok {
			texts = append(texts, text)
		}
	}
	if exists {
		return nil, codes.Errorf(codes.Wallet, "Descriptor already exists")
	}
	return texts, nil
}

// rootKey returns the extended key with the given text, or the only one of the
// active descriptors, with its private key.
func (w *Wallet) rootKey(text string) (*hdRoot, error) {
	var key descriptor.XPub
	if text == "" {
		found := w.collectHDKeys(w.activeSources(), false)
		if len(found) != 1 {
			return nil, codes.Errorf(codes.AddressOrKey,
				"Unable to determine which HD key to use from active descriptors. Please specify with 'hdkey'")
		}
		key = found[0].key
	} else {
		var ok bool
		if key, ok = descriptor.ParseXPub(text, w.params.Network); !ok {
			return nil, codes.Errorf(codes.AddressOrKey, "Unable to parse HD key. Please provide a valid xpub")
		}
	}
	id := keyIDOf(publicKeyOf(key))
	for _, s := range w.sources {
		if secret := w.secret(s, id); secret != nil {
			return &hdRoot{key: key, secret: secret}, nil
		}
	}
	xpub := descriptor.EncodeXPub(key, w.params.Network)
	return nil, codes.Errorf(codes.AddressOrKey, "Private key for %s is not known", xpub)
}
