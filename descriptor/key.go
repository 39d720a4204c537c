package descriptor

import (
	"encoding/hex"
	"errors"

	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
)

// key is one key expression. It is immutable once the descriptor is parsed.
type key struct {
	keySource

	number     int // among the keys that scripts are made of
	expression int // among all key expressions: see Cache
	origin     *keyOrigin
	apostrophe bool // hardened steps are printed with ' instead of h
}

// keyOrigin is the part of a key expression in square brackets.
type keyOrigin struct {
	fingerprint [4]byte
	steps       []uint32
}

// keySource is what a key expression takes its public keys from.
type keySource interface {
	// branches is the number of multipath alternatives, or 1.
	branches() int

	// ranged reports whether the keys depend on the index.
	ranged() bool

	// size is the length of the public keys in bytes, 33 or 65.
	size() int

	// private reports whether the private key is known.
	private() bool

	// resolve looks for the private key among all keys of the descriptor.
	resolve(keyring)

	// appendText prints the key; marker is the sign of hardened steps.
	appendText(dst []byte, f form, marker byte) []byte

	// open prepares to compute the keys of one branch.
	open(o opening) (publicKeys, error)
}

// opening says which keys of a key expression are wanted.
type opening struct {
	branch     int
	expression int   // see Cache
	cache      Cache // nil: none
}

// publicKeys are the public keys that a key expression has on one branch.
type publicKeys struct {
	// fixed is the key of every index. It is nil for ranged expressions.
	fixed []byte

	// stream starts to compute the keys of ranged expressions. Every
	// goroutine needs a stream of its own.
	stream func() (keyStream, error)
}

// at returns the key of one index.
func (p publicKeys) at(index uint32) ([]byte, error) {
	if p.fixed != nil {
		return p.fixed, nil
	}
	stream, err := p.stream()
	if err != nil {
		return nil, err
	}
	public := make([]byte, keyLen)
	return public, stream.PublicKeys(public, index)
}

// keyStream computes compressed public keys of consecutive indices: as many as
// fit into dst, 33 bytes each.
type keyStream interface {
	PublicKeys(dst []byte, first uint32) error
}

// form says how a descriptor is printed.
type form struct {
	net     *Network
	branch  int
	private bool        // with private keys where they are known
	normal  *normalizer // nil: as it was written
}

func (k *key) appendText(dst []byte, f form) []byte {
	if normal, ok := k.normalize(f); ok {
		return normal.appendText(dst, f)
	}
	marker := byte('h')
	if k.apostrophe && f.normal == nil {
		marker = '\''
	}
	if k.origin != nil {
		dst = append(dst, '[')
		dst = hex.AppendEncode(dst, k.origin.fingerprint[:])
		dst = appendPath(dst, k.origin.steps, marker)
		dst = append(dst, ']')
	}
	return k.keySource.appendText(dst, f, marker)
}

// openKeys prepares to compute the keys of one branch.
func (k *key) openKeys(branch int, cache Cache) (publicKeys, error) {
	return k.open(opening{branch: branch, expression: k.expression, cache: cache})
}

// constantKey is a public key in hex or a private key in wallet import format.
type constantKey struct {
	public []byte // 33 or 65 bytes
	xOnly  bool   // printed without its first byte
	secret *secretKey
}

func (*constantKey) branches() int   { return 1 }
func (*constantKey) ranged() bool    { return false }
func (c *constantKey) size() int     { return len(c.public) }
func (c *constantKey) private() bool { return c.secret != nil }

func (c *constantKey) resolve(ring keyring) {
	if c.xOnly {
		c.secret = ring.findXOnly(c.public)
		return
	}
	c.secret = ring.find(c.public)
}

func (c *constantKey) appendText(dst []byte, f form, _ byte) []byte {
	if f.private && c.secret != nil {
		return c.secret.appendWIF(dst, f.net)
	}
	if c.xOnly {
		return hex.AppendEncode(dst, c.public[1:])
	}
	return hex.AppendEncode(dst, c.public)
}

func (c *constantKey) open(opening) (publicKeys, error) {
	return publicKeys{fixed: c.public}, nil
}

// extendedKey is a BIP32 key with the path to the keys that are used.
type extendedKey struct {
	root hdkey.Key
	path keyPath
	last wildcard
	pqc  bool // within pqc(): keys of P2MR are made from it

	ends map[int]*hdkey.Key // private keys at the end of the path, by branch: see Prepare
}

// end derives the key at the end of the path.
func (e *extendedKey) end(branch int) (hdkey.Key, error) {
	if known := e.ends[branch]; known != nil {
		return *known, nil
	}
	return e.root.Derive(e.path.of(branch)...)
}

func (e *extendedKey) branches() int { return e.path.branches() }
func (e *extendedKey) ranged() bool  { return e.last != noWildcard }
func (*extendedKey) size() int       { return 33 }
func (e *extendedKey) private() bool { return e.root.Private() }

func (e *extendedKey) resolve(ring keyring) {
	if secret := ring.find(e.root.PublicKey[:]); secret != nil {
		e.root = e.root.WithSecret(&secret.scalar)
	}
}

func (e *extendedKey) appendText(dst []byte, f form, marker byte) []byte {
	version, payload := f.net.HDPublicKeyID, e.root.PublicPayload()
	if f.private && e.root.Private() {
		version, payload = f.net.HDPrivateKeyID, e.root.PrivatePayload()
		defer clear(payload[:])
	}
	dst = appendBase58Check(dst, version[:], payload[:])
	dst = appendPath(dst, e.path.of(f.branch), marker)
	return appendWildcard(dst, e.last, marker)
}

func (e *extendedKey) open(o opening) (publicKeys, error) {
	if e.pqc {
		return e.openPQC(o)
	}
	parent, err := e.end(o.branch)
	hardened := e.last == hardenedWildcard
	if o.cache != nil && (errors.Is(err, ErrNeedsPrivateKey) || err == nil && hardened && !parent.Private()) {
		return e.openCache(o)
	}
	if err != nil {
		return publicKeys{}, err
	}
	if e.last == noWildcard {
		return publicKeys{fixed: parent.PublicKey[:]}, nil
	}
	return streamOf(&parent, hardened), nil
}

func streamOf(parent *hdkey.Key, hardened bool) publicKeys {
	return publicKeys{stream: func() (keyStream, error) { return hdkey.NewRange(parent, hardened) }}
}
