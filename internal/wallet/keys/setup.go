package keys

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// errSeed reports a seed that makes no key.
var errSeed = errors.New("seed makes no key")

// hdRoot is an extended key with its private key.
type hdRoot struct {
	key    descriptor.XPub
	secret *walletfile.Secret
}

// Setup makes the descriptors of a new wallet, for receiving and for change of
// each type of address, from a seed of 32 bytes. They become the active ones.
//
// Errors: one if the wallet is locked.
func (im *Importer) Setup(seed *walletfile.Secret, now int64) error {
	root, err := rootOf(seed)
	if err != nil {
		return err
	}
	defer root.secret.Zero()
	return im.setupAll(root, now)
}

// setupAll makes the standard descriptors of a root.
func (im *Importer) setupAll(root *hdRoot, now int64) error {
	for _, slot := range im.standardSlots() {
		d, err := im.standard(root, slot)
		if err != nil {
			return err
		}
		if _, err := im.setupOne(root, d, slot, now); err != nil {
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
func (im *Importer) standardSlots() []walletfile.Slot {
	var slots []walletfile.Slot
	for _, internal := range []bool{false, true} {
		for _, t := range im.set.params.Kinds.Types {
			slots = append(slots, walletfile.Slot{Type: typeOf(t.Kind), Internal: internal})
		}
	}
	return slots
}

// standard returns the descriptor of a slot.
func (im *Importer) standard(root *hdRoot, slot walletfile.Slot) (*descriptor.Descriptor, error) {
	change := 0
	if slot.Internal {
		change = 1
	}
	xpub := descriptor.EncodeXPub(root.key, im.set.params.Network)
	text := fmt.Sprintf(im.set.params.Kinds.Form(kindOf(slot.Type)), xpub, im.set.params.CoinType, change)
	branches, err := descriptor.Parse(text, im.set.params.Network, descriptor.Options{})
	if err != nil {
		return nil, err
	}
	return branches[0], nil
}

// setupOne makes one of the standard descriptors active.
func (im *Importer) setupOne(
	root *hdRoot, d *descriptor.Descriptor, slot walletfile.Slot, now int64,
) (*descriptorManager, error) {
	if err := im.vault.NeedUnlocked(); err != nil {
		return nil, err
	}
	m := newManager(d, uint64(now))
	size := im.pool.firstPool(m)
	if im.pool.poolEnd(m, size) > maxIndices {
		return nil, errRange
	}
	im.vault.AddKey(m.id(), publicKeyOf(root.key), root.secret)
	im.set.add(m)
	if err := im.pool.topUp(m, size); err != nil {
		return nil, err
	}
	if im.flags.Has(walletfile.Blank) {
		im.flags.Set(im.flags.Value() &^ walletfile.Blank)
	}
	im.set.activate(m, slot)
	return m, nil
}

// CreateDescriptor adds the standard descriptors of a type of address, and
// returns the texts of those that may be shown.
//
// Errors: [*messages.WalletError].
func (im *Importer) CreateDescriptor(r messages.CreateWalletDescriptor, now int64) ([]string, error) {
	kind, err := im.set.params.outputType(r.Type)
	if err != nil {
		return nil, err
	}
	if err := im.vault.NeedUnlocked(); err != nil {
		return nil, err
	}
	root, err := im.rootKey(r.HDKey)
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
		d, err := im.standard(root, slot)
		if err != nil {
			return nil, err
		}
		if im.set.byID[walletfile.DescriptorID(d)] != nil {
			continue
		}
		m, err := im.setupOne(root, d, slot, now)
		if err != nil {
			return nil, err
		}
		exists = false
		if text, ok := im.set.shown(m); ok {
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
func (im *Importer) rootKey(text string) (*hdRoot, error) {
	if text != "" {
		key, err := im.parseHDKey(text)
		if err != nil {
			return nil, err
		}
		return im.knownRoot(key)
	}
	found := im.set.collectHDKeys(im.set.activeManagers())
	if len(found) != 1 {
		return nil, codes.Errorf(codes.AddressOrKey,
			"Unable to determine which HD key to use from active descriptors. Please specify with 'hdkey'")
	}
	return im.knownRoot(found[0].key)
}

// SetupJobs returns the keys and scripts that [Importer.Setup] wants with a seed.
func (im *Importer) SetupJobs(seed *walletfile.Secret) ([]*Job, error) {
	root, err := rootOf(seed)
	if err != nil {
		return nil, err
	}
	defer root.secret.Zero()
	var jobs []*Job
	scripts := scriptJobs{left: maxExpanded}
	for _, slot := range im.standardSlots() {
		public, err := im.standard(root, slot)
		if err != nil {
			return nil, err
		}
		key := descriptor.PrivateKey{Compressed: true, Scalar: [32]byte(root.secret.Bytes())}
		options := descriptor.Options{PrivateKeys: []descriptor.PrivateKey{key}}
		full, err := descriptor.Parse(public.String(), im.set.params.Network, options)
		if err != nil {
			return nil, err
		}
		pool := im.set.params.KeyPool
		if !public.HasP2MRSource() {
			scripts.add(&Job{id: walletfile.DescriptorID(public), desc: full[0], last: uint32(pool - 1)})
			continue
		}
		if im.set.params.Kinds.OnlySlowKeys {
			pool = min(pool, warmPool)
		}
		jobs = append(jobs, &Job{id: walletfile.DescriptorID(public), desc: full[0], last: uint32(pool - 1)})
	}
	return append(jobs, scripts.jobs...), nil
}

// SetupWithKeys is [Importer.Setup] with the keys of P2MR made first, in the
// caller's goroutine and on all processors.
//
// Errors: one if the wallet is locked, that of the context.
func (im *Importer) SetupWithKeys(ctx context.Context, seed *walletfile.Secret, now int64) error {
	defer im.pool.Drop()
	jobs, err := im.SetupJobs(seed)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		b, err := job.Make(ctx)
		if err == nil {
			err = im.pool.Supply(b) //nolint:contextcheck // takes a moment
		}
		if err != nil {
			return err
		}
	}
	return im.Setup(seed, now) //nolint:contextcheck // takes a moment
}
