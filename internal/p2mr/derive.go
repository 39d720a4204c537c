package p2mr

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/seed61375155/trawl/internal/slhdsa"
)

// The constants of the way from a BIP32 key to a P2MR key.
const (
	deriveSalt = "qbit-sphincs-v1"
	deriveInfo = "qbit/sphincs+/1"
)

// A Source is the BIP32 key that a P2MR key comes from.
type Source struct {
	Scalar [32]byte // of the child key that the descriptor's path ends at, big-endian
	Index  uint32   // the wildcard's, without the bit for hardened; 0 if there is none
}

// Key returns the key of the source. It takes some milliseconds: see
// [slhdsa.GenerateKey].
//
// Errors: those of HKDF where FIPS mode forbids short keys.
func (s *Source) Key() (*slhdsa.PrivateKey, error) {
	entropy, err := s.entropy()
	if err != nil {
		return nil, err
	}
	defer clear(entropy)
	key, err := slhdsa.GenerateKey(entropy)
	if err != nil {
		return nil, fmt.Errorf("P2MR key %d: %w", s.Index, err)
	}
	return key, nil
}

// Zero wipes the source.
func (s *Source) Zero() { *s = Source{} }

// entropy stretches the BIP32 key with HKDF-SHA256. Account and change, which
// come before the index, are always zero: the path has them already.
func (s *Source) entropy() ([]byte, error) {
	info := make([]byte, len(deriveInfo)+12)
	copy(info, deriveInfo)
	binary.LittleEndian.PutUint32(info[len(info)-4:], s.Index)
	entropy, err := hkdf.Key(sha256.New, s.Scalar[:], []byte(deriveSalt), string(info), slhdsa.EntropySize)
	if err != nil {
		return nil, fmt.Errorf("entropy of P2MR key %d: %w", s.Index, err)
	}
	return entropy, nil
}

// DeriveKeys returns the keys of several sources, in their order, computed on
// all processors. It returns no key if the context ends before the last.
//
// Errors: those of [Source.Key], the context's.
func DeriveKeys(ctx context.Context, sources []Source) ([]*slhdsa.PrivateKey, error) {
	entropies := make([][]byte, len(sources))
	defer func() {
		for _, entropy := range entropies {
			clear(entropy)
		}
	}()
	for i := range sources {
		var err error
		if entropies[i], err = sources[i].entropy(); err != nil {
			return nil, err
		}
	}
	keys, err := slhdsa.GenerateKeys(ctx, entropies)
	if err != nil {
		return nil, fmt.Errorf("%d P2MR keys: %w", len(sources), err)
	}
	return keys, nil
}
