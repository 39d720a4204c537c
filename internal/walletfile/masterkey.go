package walletfile

// MasterKey is the record of the key that encrypts all private keys, itself
// encrypted under a passphrase.
type MasterKey struct {
	ID         uint32 // from 1 on
	Ciphertext []byte // 48 bytes
	Salt       []byte // 8 bytes
	Method     uint32 // of deriving a key from a passphrase: 0 is the only one
	Iterations uint32
	Other      []byte // parameters of other methods; empty
}

// Key returns the key of the record.
func (m MasterKey) Key() []byte { return appendUint32(KeyPrefix("mkey"), m.ID) }

// Value returns the value of the record.
func (m MasterKey) Value() []byte {
	value := appendBytes(appendBytes(nil, m.Ciphertext), m.Salt)
	value = appendUint32(appendUint32(value, m.Method), m.Iterations)
	return appendBytes(value, m.Other)
}

func parseMasterKey(key, value *cursor) Entry {
	return MasterKey{
		ID:         key.uint32(),
		Ciphertext: cloneBytes(value.bytes()),
		Salt:       cloneBytes(value.bytes()),
		Method:     value.uint32(),
		Iterations: value.uint32(),
		Other:      cloneBytes(value.bytes()),
	}
}
