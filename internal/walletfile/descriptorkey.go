package walletfile

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// DescriptorKey is the record of a private key of a descriptor: the key itself,
// or the root of an extended key.
type DescriptorKey struct {
	Descriptor chainhash.Hash // id of the descriptor
	Public     PublicKey
	Secret     *Secret // 32 bytes
}

// Key returns the key of the record.
func (k DescriptorKey) Key() []byte {
	return descriptorKeyKey("walletdescriptorkey", &k.Descriptor, k.Public)
}

// Value returns the value of the record, which shows the private key.
func (k DescriptorKey) Value() []byte {
	der := encodePrivateKey(k.Secret, k.Public.Compressed())
	defer clear(der)
	sum := keySum(k.Public, der)
	return append(appendBytes(withRoom(len(der)), der), sum[:]...)
}

// withRoom returns an empty slice with room for a secret of a record and what follows it,
// so that no part of the secret is left where it would have grown.
func withRoom(secret int) []byte { return make([]byte, 0, 3+secret+chainhash.HashSize+4) }

func parseDescriptorKey(key, value *cursor) Entry {
	k := DescriptorKey{Descriptor: key.hash(), Public: key.publicKey()}
	der := value.bytes()
	sum := value.hash()
	if key.err != nil || value.err != nil {
		return k
	}
	if keySum(k.Public, der) != sum {
		value.fail(errKeyHash)
		return k
	}
	secret, err := decodePrivateKey(der)
	if err != nil {
		value.fail(err)
	}
	k.Secret = secret
	return k
}

// keySum is the checksum of a private key's record.
func keySum(public PublicKey, private []byte) chainhash.Hash {
	joined := slices.Concat(public, private)
	defer clear(joined)
	return chainhash.DoubleHashH(joined)
}

func descriptorKeyKey(name string, id *chainhash.Hash, public []byte) []byte {
	return appendBytes(append(KeyPrefix(name), id[:]...), public)
}

// DescriptorCryptedKey is the record of a private key under the master key.
type DescriptorCryptedKey struct {
	Descriptor chainhash.Hash // id of the descriptor
	Public     PublicKey
	Ciphertext []byte // 48 bytes, see [EncryptKey]
}

// Key returns the key of the record.
func (k DescriptorCryptedKey) Key() []byte {
	return descriptorKeyKey("walletdescriptorckey", &k.Descriptor, k.Public)
}

// Value returns the value of the record.
func (k DescriptorCryptedKey) Value() []byte { return appendBytes(nil, k.Ciphertext) }

func parseDescriptorCryptedKey(key, value *cursor) Entry {
	return DescriptorCryptedKey{
		Descriptor: key.hash(),
		Public:     key.publicKey(),
		Ciphertext: cloneBytes(value.bytes()),
	}
}
