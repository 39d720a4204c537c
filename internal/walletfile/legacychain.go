package walletfile

// The versions of [HDChain] and of [KeyMetadata] at which fields were added.
const (
	hdChainSplit   = 2  // keys for change have a chain of their own
	metaWithHD     = 10 // path and seed
	metaWithOrigin = 12 // origin
)

// HDChain is the record of the seed of a legacy wallet, with the numbers of keys made
// from the seed.
type HDChain struct {
	Version  int32
	External uint32 // keys for receiving; of all uses before version 2
	Seed     KeyID  // of the key that is the seed; zero: there is none
	Internal uint32 // keys for change
}

// Split reports whether keys for change have a chain of their own.
func (c HDChain) Split() bool { return c.Version >= hdChainSplit }

// Key returns the key of the record.
func (HDChain) Key() []byte { return KeyPrefix("hdchain") }

// Value returns the value of the record.
func (c HDChain) Value() []byte {
	value := appendUint32(appendUint32(nil, uint32(c.Version)), c.External)
	value = append(value, c.Seed[:]...)
	if c.Split() {
		value = appendUint32(value, c.Internal)
	}
	return value
}

func parseHDChain(_, value *cursor) Entry {
	c := HDChain{Version: value.int32(), External: value.uint32(), Seed: value.keyID()}
	if value.err == nil && c.Split() {
		c.Internal = value.uint32()
	}
	return c
}

func (c *cursor) keyID() (id KeyID) {
	c.fixed(id[:])
	return id
}

// KeyMetadata is what a legacy wallet notes of a key or of a script.
type KeyMetadata struct {
	Version     int32
	Created     int64  // Unix time in seconds; 0: not known
	Path        string // of the key, as m/0'/0'/5'; s or m: it is a seed
	Seed        KeyID  // what the key was made from
	Fingerprint [4]byte
	Steps       []uint32 // hardened ones have the highest bit
	HasOrigin   bool     // Fingerprint and Steps are known
}

// fromSeed reports whether it is known of what seed the key is, or that it is one.
func (m *KeyMetadata) fromSeed() bool {
	return m.Version >= metaWithHD && m.Seed != KeyID{} && m.Path != ""
}

// IsSeed reports whether the key is a seed itself.
func (m *KeyMetadata) IsSeed() bool { return m.Path == "s" || m.Path == "m" }

func (m *KeyMetadata) value() []byte {
	value := appendUint64(appendUint32(nil, uint32(m.Version)), uint64(m.Created))
	if m.Version >= metaWithHD {
		value = append(appendBytes(value, m.Path), m.Seed[:]...)
	}
	if m.Version >= metaWithOrigin {
		value = appendCompact(append(value, m.Fingerprint[:]...), len(m.Steps))
		for _, step := range m.Steps {
			value = appendUint32(value, step)
		}
		value = appendBool(value, m.HasOrigin)
	}
	return value
}

func (c *cursor) keyMetadata() KeyMetadata {
	m := KeyMetadata{Version: c.int32(), Created: c.int64()}
	if c.err == nil && m.Version >= metaWithHD {
		m.Path, m.Seed = c.text(), c.keyID()
	}
	if c.err == nil && m.Version >= metaWithOrigin {
		c.fixed(m.Fingerprint[:])
		steps := cursor{rest: c.take(4 * c.compact())}
		for len(steps.rest) > 0 {
			m.Steps = append(m.Steps, steps.uint32())
		}
		m.HasOrigin = c.bool()
	}
	return m
}

// KeyMeta is the record of the metadata of a key.
type KeyMeta struct {
	Public PublicKey
	KeyMetadata
}

// Key returns the key of the record.
func (m KeyMeta) Key() []byte { return appendBytes(KeyPrefix("keymeta"), m.Public) }

// Value returns the value of the record.
func (m KeyMeta) Value() []byte { return m.value() }

func parseKeyMeta(key, value *cursor) Entry {
	return KeyMeta{Public: key.publicKey(), KeyMetadata: value.keyMetadata()}
}
