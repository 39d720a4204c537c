package slhdsa

import (
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
)

// keygenTag sets the seeds of these keys apart from any other use of the
// entropy.
const keygenTag = "libbitcoinpqc-qbit/slh-dsa-sha2-128s-bounded30/keygen/v1\x00"

// A PrivateKey signs. It never shows its secret halves when printed or logged,
// whatever holds it; only [PrivateKey.Bytes] does. It may be used by many
// goroutines, but is to be zeroed only when none uses it.
type PrivateKey struct {
	sealed *sealed
	public PublicKey
	params params
}

// sealed stands between a key and its secrets. fmt follows one pointer when a
// verb does not fit, but never two.
type sealed struct{ secret *secretKey }

// secretKey are the secret halves of a private key.
type secretKey struct {
	seed node // what all chains and FORS leaves are made from
	prf  node // what salts are made from
}

// GenerateKey makes the key that belongs to the entropy, [EntropySize] bytes or
// more. The same bytes make the same key. It takes 262,000 compressions of
// SHA-256.
//
// Errors: [ErrEntropy].
func GenerateKey(entropy []byte) (*PrivateKey, error) { return bounded.generate(entropy) }

func (p params) generate(entropy []byte) (*PrivateKey, error) {
	if len(entropy) < EntropySize {
		return nil, fmt.Errorf("%d bytes: %w", len(entropy), ErrEntropy)
	}
	seeds := seedsOf(entropy)
	defer clear(seeds[:])
	key := &PrivateKey{sealed: &sealed{&secretKey{node(seeds[:]), node(seeds[nodeSize:])}}, params: p}
	copy(key.public[:], seeds[2*nodeSize:])
	root := key.root()
	copy(key.public[nodeSize:], root[:])
	return key, nil
}

// seedsOf stretches entropy to the three seeds of a key: two secret, one public.
func seedsOf(entropy []byte) (seeds [3 * nodeSize]byte) {
	h := sha512.New()
	h.Write([]byte(keygenTag))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(entropy))))
	h.Write(entropy)
	full := h.Sum(nil)
	defer clear(full)
	copy(seeds[:], full)
	return seeds
}

// ParsePrivateKey reads a key as [PrivateKey.Bytes] returns it, without a look at
// whether its halves belong together: see [PrivateKey.Check]. The bytes are
// copied.
//
// Errors: [ErrKeySize].
func ParsePrivateKey(raw []byte) (*PrivateKey, error) {
	if len(raw) != PrivateKeySize {
		return nil, fmt.Errorf("private key of %d bytes: %w", len(raw), ErrKeySize)
	}
	return &PrivateKey{
		sealed: &sealed{&secretKey{node(raw), node(raw[nodeSize:])}},
		public: PublicKey(raw[2*nodeSize:]),
		params: bounded,
	}, nil
}

// Check returns [ErrKeyMismatch] if the public half is not that of the secret
// ones. It takes as long as making the key.
func (k *PrivateKey) Check() error {
	if k.root() != k.public.root() {
		return ErrKeyMismatch
	}
	return nil
}

// root computes the root of the key's hypertree.
func (k *PrivateKey) root() node {
	seed := k.public.seed()
	t := newTweak(&seed)
	defer t.clear()
	return k.params.rootOf(t, &k.secret().seed)
}

// Public returns the public half, which outlives [PrivateKey.Zero].
func (k *PrivateKey) Public() PublicKey { return k.public }

// Bytes returns the key as [PrivateKeySize] bytes: the secret seed, the salt's
// key, the public key. The caller owns them and wipes them.
func (k *PrivateKey) Bytes() []byte {
	return slices.Concat(k.secret().seed[:], k.secret().prf[:], k.public[:])
}

// Zero wipes the secret halves. The key signs nothing any more.
func (k *PrivateKey) Zero() { *k.secret() = secretKey{} }

func (k *PrivateKey) secret() *secretKey { return k.sealed.secret }

// String says that here is a key, and no more.
func (k *PrivateKey) String() string { return "private key of " + k.public.String() }

// Format prints what String returns, whatever the verb.
func (k *PrivateKey) Format(state fmt.State, _ rune) { fmt.Fprint(state, k.String()) }

// LogValue logs what String returns.
func (k *PrivateKey) LogValue() slog.Value { return slog.StringValue(k.String()) }
