package blockfile

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/vfs"
)

// keyFile is the name of the file that holds the key.
const keyFile = "xor.dat"

// maxKeyFile is more than a key file has.
const maxKeyFile = 4096

// ErrKeyStored reports an attempt to switch obfuscation off over files that
// are obfuscated already.
var ErrKeyStored = errors.New( //nolint:staticcheck // Core's words
	"The blocksdir XOR-key can not be disabled when a random key was already stored")

// A Key obfuscates the files of one directory, so that other programs (virus
// scanners) find no patterns in them. The zero Key does nothing.
type Key [8]byte

// XOR applies the key in place to bytes that lie at offset in their file. It is
// its own inverse.
func (k Key) XOR(b []byte, offset int64) {
	if k == (Key{}) {
		return
	}
	// The key is repeated once and rotated to the offset, which leaves whole
	// blocks for the vectorised XOR.
	var pattern [256]byte
	for i := range pattern {
		pattern[i] = k[(int64(i)+offset)%int64(len(k))]
	}
	for len(b) > 0 {
		n := subtle.XORBytes(b, b, pattern[:])
		b = b[n:]
	}
}

// LoadKey reads xor.dat in dir. Without the file the key is zero. An xor.dat of
// another size than 8 bytes is [ErrCorrupt].
func LoadKey(disk vfs.FS, dir string) (Key, error) {
	stored, err := vfs.ReadFile(disk, filepath.Join(dir, keyFile), maxKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Key{}, nil
	}
	if err != nil {
		return Key{}, fmt.Errorf("read XOR key: %w", err)
	}
	if len(stored) != len(Key{}) {
		return Key{}, fmt.Errorf("%w: %s holds %d bytes instead of %d", ErrCorrupt, keyFile, len(stored), len(Key{}))
	}
	return Key(stored), nil
}

// InitKey returns the key of dir for writing. An existing xor.dat is used;
// otherwise one is written: with a random key when obfuscate is set and dir has
// no block files yet, with zeros else. Switching obfuscation off where a key is
// in use is [ErrKeyStored].
func InitKey(disk vfs.FS, dir string, obfuscate bool) (Key, error) {
	path := filepath.Join(dir, keyFile)
	if _, err := disk.Stat(path); err == nil {
		key, err := LoadKey(disk, dir)
		if err == nil && key != (Key{}) && !obfuscate {
			return Key{}, fmt.Errorf("%w! Stored key: '%x', stored path: '%s'", ErrKeyStored, key[:], path)
		}
		return key, err
	} else if !errors.Is(err, fs.ErrNotExist) { // a key in its place would make all blocks unreadable
		return Key{}, err
	}
	numbers, err := Blocks.Numbers(disk, dir)
	if err != nil {
		return Key{}, err
	}
	var key Key
	if obfuscate && len(numbers) == 0 {
		_, _ = rand.Read(key[:]) // never fails
	}
	return key, writeKey(disk, path, key)
}

// writeKey makes the key durable under its name in one step: a half-written
// xor.dat would make every block unreadable.
func writeKey(disk vfs.FS, path string, key Key) error {
	if err := vfs.ReplaceFile(disk, path, key[:], 0o600); err != nil {
		return fmt.Errorf("write XOR key: %w", err)
	}
	return nil
}
