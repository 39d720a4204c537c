package walletfile

import (
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// KeyID is the HASH160 of a public key or of a script, by which legacy wallets name
// them.
type KeyID [20]byte

// KeyIDOf returns the name of a public key or of a script.
func KeyIDOf(b []byte) KeyID { return KeyID(btcutil.Hash160(b)) }

// LegacyKey is the record of a private key of a legacy wallet.
type LegacyKey struct {
	Public PublicKey
	Secret *Secret // 32 bytes
}

// Key returns the key of the record.
func (k LegacyKey) Key() []byte { return appendBytes(KeyPrefix("key"), k.Public) }

// Value returns the value of the record, which shows the private key.
func (k LegacyKey) Value() []byte {
	der := encodePrivateKey(k.Secret, k.Public.Compressed())
	defer clear(der)
	sum := keySum(k.Public, der)
	return append(appendBytes(withRoom(len(der)), der), sum[:]...)
}

// parseLegacyKey reads the record. Old ones have no checksum, so that in any case the
// public key is computed.
func parseLegacyKey(key, value *cursor) Entry {
	k := LegacyKey{Public: key.publicKey()}
	der := value.bytes()
	if key.err != nil || value.err != nil {
		return k
	}
	if len(value.rest) >= chainhash.HashSize {
		if sum := value.hash(); sum != (chainhash.Hash{}) && keySum(k.Public, der) != sum {
			value.fail(errKeyHash)
			return k
		}
	}
	secret, err := decodePrivateKey(der)
	if err == nil && string(publicKeyOf(secret, k.Public.Compressed())) != string(k.Public) {
		secret.Zero()
		err = errPrivateKey
	}
	if err != nil {
		value.fail(err)
		return k
	}
	k.Secret = secret
	return k
}

// LegacyCryptedKey is the record of a private key of a legacy wallet under the master
// key.
type LegacyCryptedKey struct {
	Public     PublicKey
	Ciphertext []byte // 48 bytes, see [EncryptKey]
}

// Key returns the key of the record.
func (k LegacyCryptedKey) Key() []byte { return appendBytes(KeyPrefix("ckey"), k.Public) }

// Value returns the value of the record.
func (k LegacyCryptedKey) Value() []byte {
	sum := chainhash.DoubleHashH(k.Ciphertext)
	return append(appendBytes(nil, k.Ciphertext), sum[:]...)
}

// Decrypt returns the private key, which belongs to the public key.
//
// Errors: ErrPassphrase.
func (k LegacyCryptedKey) Decrypt(master *Secret) (*Secret, error) {
	return DescriptorCryptedKey{Public: k.Public, Ciphertext: k.Ciphertext}.Decrypt(master)
}

// parseLegacyCryptedKey reads the record, which has no checksum in old files.
func parseLegacyCryptedKey(key, value *cursor) Entry {
	k := LegacyCryptedKey{Public: key.publicKey(), Ciphertext: cloneBytes(value.bytes())}
	if value.err == nil && len(value.rest) > 0 {
		if sum := value.hash(); value.err == nil && sum != chainhash.DoubleHashH(k.Ciphertext) {
			value.fail(errKeyHash)
		}
	}
	return k
}

// DefaultKey is the record of a public key that old versions showed first.
type DefaultKey struct{ Public PublicKey }

// Key returns the key of the record.
func (DefaultKey) Key() []byte { return KeyPrefix("defaultkey") }

// Value returns the value of the record.
func (k DefaultKey) Value() []byte { return appendBytes(nil, k.Public) }

func parseDefaultKey(_, value *cursor) Entry { return DefaultKey{Public: value.publicKey()} }

// PoolKey is the record of a key that was made ahead of its use.
type PoolKey struct {
	Index    int64
	Version  int32
	Time     int64 // Unix time in seconds
	Public   PublicKey
	Internal bool // for change
	PreSplit bool // from before there were keys for change
}

// Key returns the key of the record.
func (k PoolKey) Key() []byte { return appendUint64(KeyPrefix("pool"), uint64(k.Index)) }

// Value returns the value of the record.
func (k PoolKey) Value() []byte {
	value := appendUint64(appendUint32(nil, uint32(k.Version)), uint64(k.Time))
	return appendBool(appendBool(appendBytes(value, k.Public), k.Internal), k.PreSplit)
}

// parsePoolKey reads the record, whose marks old files do not have.
func parsePoolKey(key, value *cursor) Entry {
	k := PoolKey{Index: key.int64(), Version: value.int32(), Time: value.int64(), Public: value.publicKey()}
	if value.err == nil && len(value.rest) > 0 {
		k.Internal = value.bool()
	}
	k.PreSplit = true
	if value.err == nil && len(value.rest) > 0 {
		k.PreSplit = value.bool()
	}
	return k
}
