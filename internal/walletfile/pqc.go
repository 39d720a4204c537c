package walletfile

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Sizes of the post-quantum keys of qbit, in bytes.
const (
	pqcPublicSize = 32
	pqcSecretSize = 64
)

// PQCKey is the record of a post-quantum private key of qbit.
type PQCKey struct {
	Descriptor chainhash.Hash // id of the descriptor
	Public     [pqcPublicSize]byte
	Secret     *Secret // 64 bytes, of which the last 32 are the public key
	Counter    *uint32 // signatures made; nil in the old form of the record
}

// Key returns the key of the record.
func (k PQCKey) Key() []byte {
	return descriptorKeyKey("walletdescriptorpqckey", &k.Descriptor, k.Public[:])
}

// Value returns the value of the record, which shows the private key.
func (k PQCKey) Value() []byte {
	sum := k.sum()
	secret := k.Secret.Bytes()
	value := append(appendBytes(withRoom(len(secret)), secret), sum[:]...)
	if k.Counter != nil {
		value = appendUint32(value, *k.Counter)
	}
	return value
}

// sum is the checksum of the record.
func (k PQCKey) sum() chainhash.Hash {
	var counter []byte
	if k.Counter != nil {
		counter = appendUint32(nil, *k.Counter)
	}
	joined := slices.Concat(k.Public[:], k.Secret.Bytes(), counter)
	defer clear(joined)
	return chainhash.DoubleHashH(joined)
}

func parsePQCKey(key, value *cursor) Entry {
	k := PQCKey{Descriptor: key.hash(), Public: key.pqcPublic(), Secret: NewSecret(value.sized(pqcSecretSize))}
	sum := value.hash()
	k.Counter = value.optionalUint32()
	if value.err == nil && k.sum() != sum {
		value.fail(errKeyHash)
	}
	if value.err == nil && !bytes.Equal(k.Secret.Bytes()[pqcSecretSize-pqcPublicSize:], k.Public[:]) {
		value.fail(errPrivateKey)
	}
	return k
}

// Made returns how many signatures the key has made.
func (k PQCKey) Made() uint32 {
	if k.Counter == nil {
		return 0
	}
	return *k.Counter
}

// WithMade returns the record with another number of signatures made.
func (k PQCKey) WithMade(made uint32) PQCKey {
	k.Counter = &made
	return k
}

// PQCCryptedKey is the record of a post-quantum private key of qbit under the
// master key.
type PQCCryptedKey struct {
	Descriptor chainhash.Hash // id of the descriptor
	Public     [pqcPublicSize]byte
	Ciphertext []byte // 80 bytes
	Counter    uint32 // signatures made

	// Tag binds the rest to the master key; nil in the old form of the record.
	Tag *[sha256.Size]byte
}

// Key returns the key of the record.
func (k PQCCryptedKey) Key() []byte {
	return descriptorKeyKey("walletdescriptorpqc_ckey", &k.Descriptor, k.Public[:])
}

// Value returns the value of the record.
func (k PQCCryptedKey) Value() []byte {
	value := appendUint32(appendBytes(nil, k.Ciphertext), k.Counter)
	if k.Tag != nil {
		value = append(value, k.Tag[:]...)
	}
	return value
}

func parsePQCCryptedKey(key, value *cursor) Entry {
	k := PQCCryptedKey{Descriptor: key.hash(), Public: key.pqcPublic(), Ciphertext: cloneBytes(value.bytes())}
	if made := value.optionalUint32(); made != nil {
		k.Counter = *made
	}
	if value.err == nil && len(value.rest) > 0 {
		tag := [sha256.Size]byte(value.hash())
		k.Tag = &tag
	}
	if value.err == nil && len(value.rest) > 0 {
		value.fail(errTrailing)
	}
	return k
}

// pqcTagName is what the tags of encrypted keys begin with.
const pqcTagName = "qbit wallet pqc ckey v1"

// EncryptPQC encrypts a key under the master key.
func EncryptPQC(master *Secret, k PQCKey) PQCCryptedKey {
	iv := chainhash.DoubleHashH(k.Public[:])
	crypted := PQCCryptedKey{
		Descriptor: k.Descriptor, Public: k.Public, Counter: k.Made(),
		Ciphertext: encrypt(master.Bytes(), iv[:ivSize], k.Secret.Bytes()),
	}
	crypted.Tag = crypted.tag(master, k.Secret)
	return crypted
}

// tag computes the tag of a key whose secret is known.
func (k PQCCryptedKey) tag(master, secret *Secret) *[sha256.Size]byte {
	mac := hmac.New(sha256.New, master.Bytes())
	mac.Write([]byte(pqcTagName))
	mac.Write(k.Descriptor[:])
	mac.Write(k.Public[:])
	mac.Write(secret.Bytes())
	mac.Write(appendUint32(nil, k.Counter))
	tag := [sha256.Size]byte(mac.Sum(nil))
	return &tag
}

// Decrypt returns the private key, which belongs to the public key, and whose
// number of signatures nobody has changed. Only the old form of the record does
// not tell the latter.
//
// Errors: ErrPassphrase.
func (k PQCCryptedKey) Decrypt(master *Secret) (*Secret, error) {
	iv := chainhash.DoubleHashH(k.Public[:])
	secret, err := decrypt(master.Bytes(), iv[:ivSize], k.Ciphertext)
	if err != nil {
		return nil, err
	}
	if b := secret.Bytes(); len(b) == pqcSecretSize && bytes.Equal(b[pqcSecretSize-pqcPublicSize:], k.Public[:]) {
		if tag := k.tag(master, secret); k.Tag == nil || hmac.Equal(tag[:], k.Tag[:]) {
			return secret, nil
		}
	}
	secret.Zero()
	return nil, ErrPassphrase
}

// WithMade returns the record with another number of signatures made.
//
// Errors: ErrPassphrase.
func (k PQCCryptedKey) WithMade(master *Secret, made uint32) (PQCCryptedKey, error) {
	secret, err := k.Decrypt(master)
	if err != nil {
		return PQCCryptedKey{}, err
	}
	defer secret.Zero()
	k.Counter = made
	k.Tag = k.tag(master, secret)
	return k, nil
}

// CheckPQCMaster checks that a master key decrypts the given keys. Any master
// key is right for none.
//
// Errors: ErrPassphrase, ErrSomeKeys.
func CheckPQCMaster(master *Secret, keys []PQCCryptedKey) error {
	for i, key := range keys {
		secret, err := key.Decrypt(master)
		secret.Zero()
		switch {
		case err != nil && i == 0:
			return ErrPassphrase
		case err != nil:
			return ErrSomeKeys
		}
	}
	return nil
}

// P2MRCache is the record of a derived post-quantum public key of qbit.
type P2MRCache struct {
	Descriptor chainhash.Hash // id of the descriptor
	Expression uint32         // number of the key expression
	Index      uint32
	Public     [pqcPublicSize]byte
}

// Key returns the key of the record.
func (p P2MRCache) Key() []byte {
	return appendUint32(cacheKey("walletdescriptorp2mrcache", &p.Descriptor, p.Expression), p.Index)
}

// Value returns the value of the record.
func (p P2MRCache) Value() []byte { return appendBytes(nil, p.Public[:]) }

func parseP2MRCache(key, value *cursor) Entry {
	return P2MRCache{Descriptor: key.hash(), Expression: key.uint32(), Index: key.uint32(), Public: value.pqcPublic()}
}

// PubKeyEntry is the record of a public key in qbit's index of its own keys.
type PubKeyEntry struct {
	Account  int64
	Internal bool
	Index    int64
	Public   [pqcPublicSize]byte
}

// Key returns the key of the record.
func (p PubKeyEntry) Key() []byte {
	key := appendUint64(KeyPrefix("pubkeydbentry"), uint64(p.Account))
	return appendUint64(appendBool(key, p.Internal), uint64(p.Index))
}

// Value returns the value of the record.
func (p PubKeyEntry) Value() []byte { return appendBytes(nil, p.Public[:]) }

func parsePubKeyEntry(key, value *cursor) Entry {
	return PubKeyEntry{Account: key.int64(), Internal: key.bool(), Index: key.int64(), Public: value.pqcPublic()}
}

// PubKeyCursor is the record of the next index of qbit's index of its own keys.
type PubKeyCursor struct {
	Account  int64
	Internal bool
	Next     int64
}

// Key returns the key of the record.
func (p PubKeyCursor) Key() []byte {
	return appendBool(appendUint64(KeyPrefix("pubkeydbcursor"), uint64(p.Account)), p.Internal)
}

// Value returns the value of the record.
func (p PubKeyCursor) Value() []byte { return appendUint64(nil, uint64(p.Next)) }

func parsePubKeyCursor(key, value *cursor) Entry {
	return PubKeyCursor{Account: key.int64(), Internal: key.bool(), Next: value.int64()}
}

// sized reads a byte string that must have the given length.
func (c *cursor) sized(size int) []byte {
	b := c.bytes()
	if c.err == nil && len(b) != size {
		c.fail(errPublicKey)
	}
	return b
}

func (c *cursor) pqcPublic() (public [pqcPublicSize]byte) {
	copy(public[:], c.sized(pqcPublicSize))
	return public
}

// optionalUint32 reads a last field that may be missing.
func (c *cursor) optionalUint32() *uint32 {
	if c.err != nil || len(c.rest) == 0 {
		return nil
	}
	n := c.uint32()
	return &n
}
