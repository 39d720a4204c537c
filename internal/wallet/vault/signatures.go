package vault

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/messages"
)

// Signatures returns how many signatures a key that is stored with a descriptor
// has made. It is false if the descriptor has no such key.
func (v *Vault) Signatures(id chainhash.Hash, public slhdsa.PublicKey) (n uint32, ok bool) {
	s := v.secretOf[id]
	if s == nil || s.pqc[public] == nil {
		return 0, false
	}
	return s.pqc[public].signatures(), true
}

// CanSign reports whether there is a private key, checked, that may make a
// signature yet.
func (v *Vault) CanSign(public slhdsa.PublicKey) bool {
	return slices.ContainsFunc(v.order, func(s *secrets) bool {
		key := s.pqc[public]
		return key != nil && key.check == keyValid && key.signatures() < slhdsa.MaxSignatures
	})
}

// Exhausted reports whether there is a private key that may make no signature any more.
func (v *Vault) Exhausted(public slhdsa.PublicKey) bool {
	return slices.ContainsFunc(v.order, func(s *secrets) bool {
		key := s.pqc[public]
		return key != nil && key.signatures() >= slhdsa.MaxSignatures
	})
}

// ReserveSignatures counts signatures before they are made: what is wanted of
// each key. The right to make them is worth nothing before the changes are on
// disk.
//
// Errors: [slhdsa.ErrLimit], nothing is counted then.
func (v *Vault) ReserveSignatures(wanted map[slhdsa.PublicKey]uint32) ([]messages.PQCUse, *slhdsa.Reservation, error) {
	uses := make([]slhdsa.Use, 0, len(wanted))
	for public, more := range wanted {
		use := slhdsa.Use{Key: public, More: more}
		for _, s := range v.order {
			if key := s.pqc[public]; key != nil {
				use.Made = max(use.Made, key.signatures())
			}
		}
		uses = append(uses, use)
	}
	slices.SortFunc(uses, func(a, b slhdsa.Use) int { return comparePQC(a.Key, b.Key) })
	var shown []messages.PQCUse
	reserved, err := slhdsa.Reserve(uses, func(counted []slhdsa.Use) error {
		for _, use := range counted {
			if err := v.count(use); err != nil {
				return err
			}
			shown = append(shown, messages.PQCUse{PublicKey: use.Key, Made: use.Made, Before: use.Made - use.More})
		}
		return nil
	})
	return shown, reserved, err
}

// count notes the number of signatures of a key in all its records.
func (v *Vault) count(use slhdsa.Use) error {
	for _, s := range v.order {
		key := s.pqc[use.Key]
		switch {
		case key == nil:
		case key.encrypted():
			counted, err := key.crypted.WithMade(v.master, use.Made)
			if err != nil {
				return err
			}
			key.crypted = counted
			v.log.Put(counted)
		default:
			key.plain = key.plain.WithMade(use.Made)
			v.log.Put(key.plain)
		}
	}
	return nil
}
