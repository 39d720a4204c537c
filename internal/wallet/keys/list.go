package keys

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/vault"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// ListDescriptors returns the descriptors in the order of their texts. With private keys, a descriptor shows those that
// the wallet has, and the public keys of the others.
//
// Errors: [*messages.WalletError].
func (s *Set) ListDescriptors(private bool) ([]messages.WalletDescriptor, error) {
	if private {
		if s.flags.Has(walletfile.DisablePrivateKeys) && !s.params.Kinds.Answers.AsksWatchOnly {
			return nil, codes.Errorf(codes.Wallet, "Can't get private descriptor string for watch-only wallets")
		}
		if err := s.vault.NeedUnlocked(); err != nil {
			return nil, err
		}
	}
	list := make([]messages.WalletDescriptor, 0, len(s.managers))
	for _, m := range s.managers {
		public, ok := m.normalized(s.params.Kinds.Answers.KeepsPolicyKeys)
		text := []byte(public)
		if private {
			text, ok = s.privateText(m)
		}
		if !ok {
			for i := range list {
				list[i].Desc.Wipe()
			}
			return nil, codes.Errorf(codes.Wallet, "Can't get descriptor string.")
		}
		d := messages.WalletDescriptor{
			Desc: text, Timestamp: int64(m.record.CreationTime), Ranged: m.desc.IsRanged(),
			NotExported: !private && s.hidden(m),
			BirthHeight: m.notes.BirthHeight, GapLimit: m.notes.GapLimit, MaxLabel: m.notes.MaxLabel,
		}
		d.Active, d.Internal = s.isActive(m)
		if d.Ranged {
			d.First, d.Last, d.Next = m.record.RangeStart, m.record.RangeEnd-1, m.record.NextIndex
		}
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b messages.WalletDescriptor) int { return bytes.Compare(a.Desc, b.Desc) })
	return list, nil
}

// privateText returns the text with the private keys that the wallet has. It is false if there are none.
func (s *Set) privateText(m *descriptorManager) ([]byte, bool) {
	full, err := s.withPrivateKeys(m)
	if err != nil {
		return nil, false
	}
	defer full.Wipe()
	return full.PrivateText()
}

// hdKey is an extended key with where it is used.
type hdKey struct {
	key   descriptor.XPub
	owner *descriptorManager // the first that has the private key, locked or not; nil: none has
	uses  map[messages.HDKeyUse]bool
}

// HDKeys returns the extended keys of the descriptors, or of the active ones
// only, in the order of their public keys. Keys whose private key the wallet
// lacks have none, asked for or not.
//
// Errors: [*messages.WalletError].
func (s *Set) HDKeys(activeOnly, private bool) ([]messages.HDKey, error) {
	if private {
		if err := s.vault.NeedUnlocked(); err != nil {
			return nil, err
		}
	}
	managers := s.managers
	if activeOnly {
		managers = s.activeManagers()
	}
	found := s.collectHDKeys(managers)
	list := make([]messages.HDKey, 0, len(found))
	for _, k := range found {
		shown := messages.HDKey{XPub: descriptor.EncodeXPub(k.key, s.params.Network), HasPrivate: k.owner != nil}
		if private && shown.HasPrivate {
			shown.XPrv = s.encodeXPrv(k)
		}
		shown.Descriptors = slices.SortedFunc(maps.Keys(k.uses), func(a, b messages.HDKeyUse) int {
			return cmp.Compare(a.Desc, b.Desc)
		})
		list = append(list, shown)
	}
	return list, nil
}

// collectHDKeys gathers extended keys, each once, in their order.
func (s *Set) collectHDKeys(managers []*descriptorManager) []*hdKey {
	var found []*hdKey
	for _, m := range managers {
		text, _ := m.normalized(s.params.Kinds.Answers.KeepsPolicyKeys)
		active, _ := s.isActive(m)
		for _, key := range m.desc.ExtendedKeys() {
			at, known := slices.BinarySearchFunc(found, key, func(k *hdKey, key descriptor.XPub) int {
				return descriptor.CompareXPubs(k.key, key)
			})
			if !known {
				found = slices.Insert(found, at, &hdKey{key: key, uses: make(map[messages.HDKeyUse]bool)})
			}
			k := found[at]
			k.uses[messages.HDKeyUse{Desc: text, Active: active}] = true
			if k.owner == nil && s.vault.Has(m.id(), vault.KeyIDOf(publicKeyOf(key))) {
				k.owner = m
			}
		}
	}
	return found
}

// encodeXPrv returns the text of a private key; nil where it cannot be read.
func (s *Set) encodeXPrv(k *hdKey) []byte {
	secret := s.vault.Secret(k.owner.id(), vault.KeyIDOf(publicKeyOf(k.key)))
	defer secret.Zero()
	if len(secret.Bytes()) != 32 {
		return nil
	}
	return descriptor.EncodeXPrv(k.key, (*[32]byte)(secret.Bytes()), s.params.Network)
}

func publicKeyOf(key descriptor.XPub) []byte { return key[len(key)-33:] }

// sortedKeys returns the keys of a map in their order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
