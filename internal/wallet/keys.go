package wallet

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// ListDescriptors returns the descriptors in the order of their texts.
//
// Errors: [*messages.WalletError].
func (w *Wallet) ListDescriptors(private bool) ([]messages.WalletDescriptor, error) {
	if private {
		if err := w.needUnlocked(); err != nil {
			return nil, err
		}
	}
	list := make([]messages.WalletDescriptor, 0, len(w.sources))
	for _, s := range w.sources {
		public, ok := s.normalized()
		text := []byte(public)
		if private {
			text, ok = w.privateText(s)
		}
		if !ok {
			clear(text)
			for i := range list {
				list[i].Desc.Wipe()
			}
			return nil, codes.Errorf(codes.Wallet, "Can't get descriptor string.")
		}
		d := messages.WalletDescriptor{
			Desc: text, Timestamp: int64(s.record.CreationTime), Ranged: s.desc.IsRanged(),
			NotExported: !private && w.hidden(s),
		}
		d.Active, d.Internal = w.isActive(s)
		if d.Ranged {
			d.First, d.Last, d.Next = s.record.RangeStart, s.record.RangeEnd-1, s.record.NextIndex
		}
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b messages.WalletDescriptor) int { return bytes.Compare(a.Desc, b.Desc) })
	return list, nil
}

// privateText returns the text with private keys. It is false if one is missing.
func (w *Wallet) privateText(s *source) ([]byte, bool) {
	full, err := w.withPrivateKeys(s)
	if err != nil {
		return nil, false
	}
	defer full.Wipe()
	return full.PrivateText()
}

// hdKey is an extended key with where it is used.
type hdKey struct {
	key    descriptor.XPub
	inFile bool
	secret *[32]byte
	uses   map[messages.HDKeyUse]bool
}

// Descriptors returns how many descriptors the wallet has.
func (w *Wallet) Descriptors() int { return len(w.sources) }

// HDKeys returns the extended keys of the descriptors, or of the active ones
// only, in the order of their public keys.
//
// Errors: [*messages.WalletError].
func (w *Wallet) HDKeys(activeOnly, private bool) ([]messages.HDKey, error) {
	if private {
		if err := w.needUnlocked(); err != nil {
			return nil, err
		}
	}
	sources := w.sources
	if activeOnly {
		sources = w.activeSources()
	}
	found := w.collectHDKeys(sources, private)
	list := make([]messages.HDKey, 0, len(found))
	for _, k := range found {
		shown := messages.HDKey{XPub: descriptor.EncodeXPub(k.key, w.params.Network), HasPrivate: k.inFile}
		if k.secret != nil {
			shown.XPrv = descriptor.EncodeXPrv(k.key, k.secret, w.params.Network)
			clear(k.secret[:])
		} else if private {
			return nil, codes.Errorf(codes.Misc, "map::at") // Core's words for a key that it does not have
		}
		shown.Descriptors = slices.SortedFunc(maps.Keys(k.uses), func(a, b messages.HDKeyUse) int {
			return cmp.Compare(a.Desc, b.Desc)
		})
		list = append(list, shown)
	}
	return list, nil
}

// collectHDKeys gathers extended keys, each once, in their order.
func (w *Wallet) collectHDKeys(sources []*source, private bool) []*hdKey {
	var found []*hdKey
	for _, s := range sources {
		text, _ := s.normalized()
		active, _ := w.isActive(s)
		for _, key := range s.desc.ExtendedKeys() {
			at, known := slices.BinarySearchFunc(found, key, func(k *hdKey, key descriptor.XPub) int {
				return descriptor.CompareXPubs(k.key, key)
			})
			if !known {
				found = slices.Insert(found, at, &hdKey{key: key, uses: make(map[messages.HDKeyUse]bool)})
			}
			k := found[at]
			k.uses[messages.HDKeyUse{Desc: text, Active: active}] = true
			id := keyIDOf(publicKeyOf(key))
			k.inFile = k.inFile || s.hasKey(id)
			if private && k.secret == nil {
				k.secret = w.scalar(s, id)
			}
		}
	}
	return found
}

// scalar returns a private key as a number; nil where there is none.
func (w *Wallet) scalar(s *source, id keyID) *[32]byte {
	secret := w.secret(s, id)
	defer secret.Zero()
	if len(secret.Bytes()) != 32 {
		return nil
	}
	scalar := [32]byte(secret.Bytes())
	return &scalar
}

func publicKeyOf(key descriptor.XPub) []byte { return key[len(key)-33:] }

// sortedKeys returns the keys of a map in their order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
