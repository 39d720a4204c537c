package keys

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/vault"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// AddHDKey adds an extended key that no addresses are made of, as the descriptor unused(KEY), and returns its public
// key. random is the seed of the key where the request has none.
//
// Errors: [*messages.WalletError].
func (im *Importer) AddHDKey(r messages.AddHDKey, random *walletfile.Secret, now int64) (string, error) {
	if im.flags.Has(walletfile.DisablePrivateKeys) {
		return "", codes.Errorf(codes.Wallet, "addhdkey is not available for wallets without private keys")
	}
	if err := im.vault.NeedUnlocked(); err != nil {
		return "", err
	}
	root, err := im.rootToAdd(r, random)
	if err != nil {
		return "", err
	}
	defer root.secret.Zero()
	xpub := descriptor.EncodeXPub(root.key, im.set.params.Network)
	branches, err := descriptor.Parse("unused("+xpub+")", im.set.params.Network, descriptor.Options{})
	if err != nil {
		return "", codes.Errorf(codes.Wallet, "%v", err)
	}
	m := newManager(branches[0], uint64(now))
	if im.set.byID[m.id()] != nil {
		return "", codes.Errorf(codes.Wallet, "HD key already exists")
	}
	im.vault.AddKey(m.id(), publicKeyOf(root.key), root.secret)
	im.set.add(m)
	if err := im.pool.topUp(m, 0); err != nil {
		return "", codes.Errorf(codes.Wallet, "%v", err)
	}
	return xpub, nil
}

// rootToAdd returns the key that a request is about.
func (im *Importer) rootToAdd(r messages.AddHDKey, random *walletfile.Secret) (*hdRoot, error) {
	if r.Key == nil {
		return rootOf(random)
	}
	key, scalar, ok := descriptor.ParseXPrv(*r.Key, im.set.params.Network)
	defer clear(scalar[:])
	if ok {
		return &hdRoot{key: key, secret: walletfile.NewSecret(scalar[:])}, nil
	}
	if _, public := descriptor.ParseXPub(*r.Key, im.set.params.Network); public {
		return nil, codes.Errorf(codes.AddressOrKey,
			"Extended public key (xpub) provided, but extended private key (xprv) is required")
	}
	return nil, codes.Errorf(codes.AddressOrKey, "Could not parse HD key")
}

// DeriveHDKey derives an extended key from one of those that are unused, or that addresses are made of.
//
// Errors: [*messages.WalletError].
func (im *Importer) DeriveHDKey(r messages.DeriveHDKey) (messages.DerivedHDKey, error) {
	if im.flags.Has(walletfile.DisablePrivateKeys) {
		return messages.DerivedHDKey{}, codes.Errorf(codes.Wallet,
			"derivehdkey is not available for watch-only wallets")
	}
	if err := im.vault.NeedUnlocked(); err != nil {
		return messages.DerivedHDKey{}, err
	}
	key, err := im.keyToDerive(r.HDKey)
	if err != nil {
		return messages.DerivedHDKey{}, err
	}
	root, err := im.knownRoot(key)
	if err != nil {
		return messages.DerivedHDKey{}, err
	}
	defer root.secret.Zero()
	scalar := [32]byte(root.secret.Bytes())
	defer clear(scalar[:])
	child, secret, ok := descriptor.DeriveXPrv(&root.key, &scalar, r.Path)
	defer clear(secret[:])
	if !ok {
		return messages.DerivedHDKey{}, codes.Errorf(codes.Parameter, "Unable to derive HD key at the requested path")
	}
	net := im.set.params.Network
	derived := messages.DerivedHDKey{
		Origin: descriptor.KeyOrigin(&root.key, r.Path), XPub: descriptor.EncodeXPub(child, net),
	}
	if r.Private {
		derived.XPrv = descriptor.EncodeXPrv(child, &secret, net)
	}
	return derived, nil
}

// keyToDerive returns the key that a request names, or the only one there is: of those that are unused, if any.
func (im *Importer) keyToDerive(named *string) (key descriptor.XPub, err error) {
	spare := im.set.collectHDKeys(im.set.unusedManagers())
	active := im.set.collectHDKeys(im.set.activeManagers())
	if named != nil {
		return im.namedKey(*named, append(spare, active...))
	}
	if len(spare) == 0 {
		spare = active
	}
	switch len(spare) {
	case 0:
		return key, codes.Errorf(codes.AddressOrKey, "No active or unused(KEY) descriptor found")
	case 1:
		return spare[0].key, nil
	}
	return key, codes.Errorf(codes.AddressOrKey,
		"Unable to determine which HD key to use. Please specify with 'hdkey'")
}

func (im *Importer) namedKey(text string, all []*hdKey) (descriptor.XPub, error) {
	key, err := im.parseHDKey(text)
	if err != nil {
		return key, err
	}
	for _, k := range all {
		if k.key == key {
			return key, nil
		}
	}
	return key, codes.Errorf(codes.AddressOrKey, "HD key is not used by an active or unused(KEY) descriptor")
}

func (im *Importer) parseHDKey(text string) (descriptor.XPub, error) {
	key, ok := descriptor.ParseXPub(text, im.set.params.Network)
	if !ok {
		return key, codes.Errorf(codes.AddressOrKey, "Unable to parse HD key. Please provide a valid xpub")
	}
	return key, nil
}

// knownRoot returns an extended key with its private key.
func (im *Importer) knownRoot(key descriptor.XPub) (*hdRoot, error) {
	id := vault.KeyIDOf(publicKeyOf(key))
	for _, m := range im.set.managers {
		if secret := im.vault.Secret(m.id(), id); secret != nil {
			return &hdRoot{key: key, secret: secret}, nil
		}
	}
	xpub := descriptor.EncodeXPub(key, im.set.params.Network)
	return nil, codes.Errorf(codes.AddressOrKey, "Private key for %s is not known", xpub)
}

// unusedManagers returns the descriptors without scripts.
func (s *Set) unusedManagers() (found []*descriptorManager) {
	for _, m := range s.managers {
		if !descriptor.HasScripts(m.desc) {
			found = append(found, m)
		}
	}
	return found
}

// checkUnused refuses a key without scripts that the wallet could not use, or has already.
func (r *importing) checkUnused(d *descriptor.Descriptor) *messages.WalletError {
	if descriptor.HasScripts(d) {
		return nil
	}
	if r.flags.Has(walletfile.DisablePrivateKeys) {
		return codes.Errorf(codes.Wallet, "Cannot import unused() to wallet without private keys enabled")
	}
	for _, key := range d.PrivateKeys() {
		known := len(r.branches) > 1 // another branch has it
		id := vault.KeyIDOf(key.PublicKey())
		for _, m := range r.set.managers {
			known = known || r.vault.Has(m.id(), id)
		}
		clear(key.Scalar[:])
		if known {
			return codes.Errorf(codes.Wallet,
				"Cannot import an unused() descriptor when its private key is already in the wallet")
		}
	}
	return nil
}
