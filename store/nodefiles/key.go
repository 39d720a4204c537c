package nodefiles

import "github.com/seed61375155/trawl/internal/vfs"

// A Key is the file of a private key by which peers find the node.
type Key struct {
	Files

	Name string
}

// maxKeyFile is the longest file of a key that is read, in bytes.
const maxKeyFile = 64 << 10

// I2PKey returns the file of the node's private key in I2P.
func (f Files) I2PKey() Key { return Key{f, "i2p_private_key"} }

// OnionKey returns the file of the private key of the node's onion service.
func (f Files) OnionKey() Key { return Key{f, "onion_v3_private_key"} }

// Load reads the key.
//
// Errors: fs.ErrNotExist, those of the file system.
func (k Key) Load() ([]byte, error) { return vfs.ReadFile(k.disk(), k.path(k.Name), maxKeyFile) }

// Save writes the key, readable by its owner alone. After nil it is on the disk.
func (k Key) Save(key []byte) error { return k.write(k.Name, key) }
