package descriptor

import (
	"slices"
	"strings"

	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
)

// musigKey is musig(KEY,…)/path: the aggregate of the keys of all participants
// or a key derived from it (BIP390).
type musigKey struct {
	participants []*key
	path         keyPath
	last         wildcard // not hardened
	count        int      // of branches
}

func (m *musigKey) branches() int { return m.count }
func (*musigKey) size() int       { return keyLen }

func (m *musigKey) ranged() bool {
	return m.last != noWildcard || m.rangedParticipants()
}

func (m *musigKey) rangedParticipants() bool {
	return slices.ContainsFunc(m.participants, func(k *key) bool { return k.ranged() })
}

// private reports whether the private key of any participant is known, as
// nobody knows more than that.
func (m *musigKey) private() bool {
	return slices.ContainsFunc(m.participants, func(k *key) bool { return k.private() })
}

func (m *musigKey) resolve(ring keyring) {
	for _, k := range m.participants {
		k.resolve(ring)
	}
}

func (m *musigKey) appendText(dst []byte, f form, marker byte) []byte {
	dst = append(dst, "musig("...)
	for i, k := range m.participants {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = k.appendText(dst, f)
	}
	dst = appendPath(append(dst, ')'), m.path.of(f.branch), marker)
	return appendWildcard(dst, m.last, marker)
}

// identity returns a text that is the same for keys of the same participants and derivation.
func (m *musigKey) identity(f form) string {
	parts := make([]string, len(m.participants))
	for i, k := range m.participants {
		parts[i] = string(k.keySource.appendText(nil, f, 'h'))
	}
	slices.Sort(parts)
	text := appendPath([]byte("musig("+strings.Join(parts, ",")+")"), m.path.of(f.branch), 'h')
	return string(appendWildcard(text, m.last, 'h'))
}

func (m *musigKey) open(o opening) (publicKeys, error) {
	open := make([]publicKeys, len(m.participants))
	for i, k := range m.participants {
		var err error
		if open[i], err = k.openKeys(o.branch, o.cache); err != nil {
			return publicKeys{}, err
		}
	}
	if m.rangedParticipants() {
		return publicKeys{stream: func() (keyStream, error) { return newMusigStream(open) }}, nil
	}
	public := make([][]byte, len(open))
	for i, p := range open {
		public[i] = p.fixed
	}
	aggregate, err := aggregateKeys(public)
	if err != nil {
		return publicKeys{}, err
	}
	if !m.derives() {
		return publicKeys{fixed: aggregate}, nil
	}
	// Its steps are not hardened: nothing of it need be in a cache.
	return m.synthetic(aggregate).open(o)
}

// derives reports whether the keys are derived from the aggregate key.
func (m *musigKey) derives() bool {
	return m.last != noWildcard || len(m.path.steps) > 0
}

// synthetic returns the extended key that is made of the aggregate key.
func (m *musigKey) synthetic(aggregate []byte) *extendedKey {
	root := hdkey.Key{ChainCode: musigChainCode, PublicKey: [keyLen]byte(aggregate)}
	return &extendedKey{root: root, path: m.path, last: m.last}
}

// musigStream aggregates the keys of participants that depend on the index.
type musigStream struct {
	participants []publicKeys
	streams      []keyStream // nil for fixed keys
	current      [][]byte
	buffer       []byte // keys of all indices, participant by participant
}

func newMusigStream(participants []publicKeys) (*musigStream, error) {
	s := &musigStream{
		participants: participants,
		streams:      make([]keyStream, len(participants)),
		current:      make([][]byte, len(participants)),
	}
	for i, p := range participants {
		if p.fixed != nil {
			continue
		}
		var err error
		if s.streams[i], err = p.stream(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// PublicKeys implements keyStream.
func (s *musigStream) PublicKeys(dst []byte, first uint32) error {
	size := len(dst)
	if need := len(s.participants) * size; len(s.buffer) < need {
		s.buffer = make([]byte, need)
	}
	for i, stream := range s.streams {
		if stream == nil {
			continue
		}
		if err := stream.PublicKeys(s.buffer[i*size:(i+1)*size], first); err != nil {
			return err
		}
	}
	for at := 0; at < size; at += keyLen {
		for i, p := range s.participants {
			s.current[i] = p.fixed
			if p.fixed == nil {
				s.current[i] = s.buffer[i*size+at:][:keyLen]
			}
		}
		aggregate, err := aggregateKeys(s.current)
		if err != nil {
			return err
		}
		copy(dst[at:], aggregate)
	}
	return nil
}

// aggregateKeys sorts the keys and aggregates them.
func aggregateKeys(public [][]byte) ([]byte, error) {
	sorted := slices.Clone(public)
	sortKeys(sorted)
	aggregate, err := aggregateInOrder(sorted)
	if err != nil {
		return nil, ErrNotDerivable
	}
	return aggregate, nil
}
