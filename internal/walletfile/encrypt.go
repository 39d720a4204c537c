package walletfile

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha512"
	"errors"
	"math"
	"slices"
	"time"
)

// Sizes of the encryption, in bytes.
const (
	MasterKeySize = 32 // a master key, in the clear
	SaltSize      = 8
	ivSize        = aes.BlockSize
)

// MinIterations is the least number of iterations for a new passphrase.
const MinIterations = 25_000

// tuneTarget is the time that deriving a key from a passphrase shall take.
const tuneTarget = 100 * time.Millisecond

// checkEvery is the number of iterations between two looks at the context,
// about 10 ms of work.
const checkEvery = 1 << 15

var (
	// ErrPassphrase reports a passphrase, or a master key, that is not the
	// wallet's.
	ErrPassphrase = errors.New("incorrect passphrase")

	// ErrSomeKeys reports a master key that decrypts some private keys and not
	// others: the file is damaged.
	ErrSomeKeys = errors.New("some keys decrypt but not all")

	// ErrMethod reports a master key whose passphrase is hashed in a way that
	// is not known, or with a salt that is not of SaltSize bytes.
	ErrMethod = errors.New("unknown derivation method")
)

// Unlock decrypts the master key. The passphrase may be wrong even without
// error: see [CheckMaster].
//
// Errors: ErrPassphrase, ErrMethod, that of the context.
func (m MasterKey) Unlock(ctx context.Context, passphrase *Secret) (*Secret, error) {
	key, err := m.derive(ctx, passphrase)
	if err != nil {
		return nil, err
	}
	defer key.Zero()
	master, err := decrypt(key.Bytes()[:MasterKeySize], key.Bytes()[MasterKeySize:], m.Ciphertext)
	if err != nil {
		return nil, err
	}
	if len(master.Bytes()) != MasterKeySize {
		master.Zero()
		return nil, ErrPassphrase
	}
	return master, nil
}

// Lock returns the record with the given master key under a passphrase; ID,
// Salt, Method and Iterations are those of m.
//
// Errors: ErrMethod, that of the context.
func (m MasterKey) Lock(ctx context.Context, passphrase, master *Secret) (MasterKey, error) {
	key, err := m.derive(ctx, passphrase)
	if err != nil {
		return MasterKey{}, err
	}
	defer key.Zero()
	m.Ciphertext = encrypt(key.Bytes()[:MasterKeySize], key.Bytes()[MasterKeySize:], master.Bytes())
	return m, nil
}

// derive hashes a passphrase to a key, followed by an initialisation vector, as
// OpenSSL's EVP_BytesToKey does with SHA512.
func (m MasterKey) derive(ctx context.Context, passphrase *Secret) (*Secret, error) {
	if m.Method != 0 || m.Iterations == 0 || len(m.Salt) != SaltSize {
		return nil, ErrMethod
	}
	text := slices.Concat(passphrase.Bytes(), m.Salt)
	defer clear(text)
	// A stack that grows leaves what is on it where it was: it grows before.
	_ = sha512.Sum512(make([]byte, len(text)))
	sum := sha512.Sum512(text)
	defer clear(sum[:])
	for i := range m.Iterations - 1 {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		sum = sha512.Sum512(sum[:])
	}
	return NewSecret(sum[:MasterKeySize+ivSize]), nil
}

// TuneIterations returns the number of iterations with which deriving a key
// takes about 100 ms, but not less than [MinIterations]. It calls measure
// twice, which derives a key with the given number and returns the time taken.
func TuneIterations(measure func(iterations uint32) time.Duration) uint32 {
	first := scale(MinIterations, measure(MinIterations))
	second := scale(first, measure(first))
	return max(MinIterations, first/2+second/2)
}

// scale returns how many iterations fill the target when n took the given time.
func scale(n uint32, took time.Duration) uint32 {
	wanted := float64(n) * float64(tuneTarget) / float64(max(took, 1))
	return uint32(min(max(wanted, 1), math.MaxInt32))
}

// EncryptKey encrypts a private key under the master key.
func EncryptKey(master *Secret, public PublicKey, secret *Secret) []byte {
	iv := public.hash()
	return encrypt(master.Bytes(), iv[:ivSize], secret.Bytes())
}

// Decrypt returns the private key, which belongs to the public key.
//
// Errors: ErrPassphrase.
func (k DescriptorCryptedKey) Decrypt(master *Secret) (*Secret, error) {
	iv := k.Public.hash()
	secret, err := decrypt(master.Bytes(), iv[:ivSize], k.Ciphertext)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(publicKeyOf(secret, k.Public.Compressed()), k.Public) {
		secret.Zero()
		return nil, ErrPassphrase
	}
	return secret, nil
}

// CheckMaster checks that a master key decrypts the given keys. Any master key
// is right for none.
//
// Errors: ErrPassphrase, ErrSomeKeys.
func CheckMaster(master *Secret, keys []DescriptorCryptedKey) error {
	good := 0
	for _, key := range keys {
		secret, err := key.Decrypt(master)
		secret.Zero()
		if err == nil {
			good++
		} else if good == 0 {
			return ErrPassphrase
		}
	}
	if good < len(keys) {
		return ErrSomeKeys
	}
	return nil
}

// encrypt applies AES-256 in CBC mode with the padding of PKCS #7.
func encrypt(key, iv, plain []byte) []byte {
	padding := aes.BlockSize - len(plain)%aes.BlockSize
	text := slices.Concat(plain, slices.Repeat([]byte{byte(padding)}, padding))
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the size of the key is ours
	}
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(text, text)
	return text
}

// decrypt undoes encrypt. Bad padding means a wrong key.
func decrypt(key, iv, text []byte) (*Secret, error) {
	block, err := aes.NewCipher(key)
	if err != nil || len(text) == 0 || len(text)%aes.BlockSize != 0 {
		return nil, ErrPassphrase
	}
	plain := make([]byte, len(text))
	defer clear(plain)
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, text)
	padding := int(plain[len(plain)-1])
	if padding == 0 || padding > aes.BlockSize {
		return nil, ErrPassphrase
	}
	body, tail := plain[:len(plain)-padding], plain[len(plain)-padding:]
	for _, b := range tail {
		if int(b) != padding {
			return nil, ErrPassphrase
		}
	}
	if len(body) == 0 { // Core takes an empty text for a failure
		return nil, ErrPassphrase
	}
	return NewSecret(body), nil
}
