package psbt

import (
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/rawtx/internal/serial"
)

const errValueSize = serial.Error("Size of value was not the stated size")

// part makes a valueReader of what takes one part off a stream. The part has to
// be as long as the value was said to be.
func part[T any](take func(*serial.Reader) T) valueReader {
	return checked(take, func(T) error { return nil })
}

// checked is part with a check of the value.
func checked[T any](take func(*serial.Reader) T, check func(T) error) valueReader {
	return func(r *serial.Reader, size uint64) error {
		before := len(r.Rest)
		got := take(r)
		switch {
		case r.Err != nil:
			return r.Err
		case uint64(before-len(r.Rest)) != size:
			return errValueSize
		}
		return check(got)
	}
}

// exactly reads a value of a fixed size.
func exactly(size uint64) valueReader {
	return part(func(r *serial.Reader) []byte { return r.Bytes(size) })
}

var (
	readUnsigned = checked(func(r *serial.Reader) *wire.MsgTx { return r.Tx(false) }, checkUnsigned)
	readTx       = part(func(r *serial.Reader) *wire.MsgTx { return r.Tx(true) })
	readOutput   = part((*serial.Reader).Output)
	readWitness  = part((*serial.Reader).Witness)
)

func checkUnsigned(tx *wire.MsgTx) error {
	for _, in := range tx.TxIn {
		if len(in.SignatureScript) > 0 {
			return serial.Error("Unsigned tx does not have empty scriptSigs and scriptWitnesses.")
		}
	}
	return nil
}

// checkXPub checks the public key, which is the end of an extended key. A master
// key has no parent and no number.
func checkXPub(data []byte) error {
	key := NewValue(data)
	key.Bytes(4) // the version
	depth, parent, number := key.Byte(), key.Uint32(), key.Uint32()
	_, err := btcec.ParsePubKey(data[len(data)-btcec.PubKeyBytesLenCompressed:])
	if err != nil || depth == 0 && (parent != 0 || number != 0) {
		return serial.Error("Invalid pubkey")
	}
	return nil
}

// xpubIdentity returns the type, the chain code and the public key of an extended
// key. Two that differ in nothing else, such as in their depth, are one.
func xpubIdentity(key []byte) []byte {
	const chainCode = 1 + 4 + 1 + 4 + 4 // behind type, version, depth, fingerprint and number
	if len(key) < chainCode {
		return key
	}
	return append(key[:1:1], key[chainCode:]...)
}

// readOrigin reads a fingerprint with a path, each step of which takes as many
// bytes.
func readOrigin(r *serial.Reader, size uint64) error {
	if size == 0 || size%4 != 0 {
		return serial.Error("Invalid length for HD key path")
	}
	r.Bytes(size)
	return r.Err
}

// readTapDerivation reads the hashes of leaves, and an origin in the rest of the
// stated size. Hashes beyond that size are refused after they have been read.
func readTapDerivation(r *serial.Reader, size uint64, short string) error {
	before := len(r.Rest)
	r.Bytes(32 * r.CompactSize())
	if r.Err != nil {
		return r.Err
	}
	hashes := uint64(before - len(r.Rest))
	if hashes > size {
		return serial.Error(short)
	}
	return readOrigin(r, size-hashes)
}

func checkProprietary(data []byte) error {
	r := &serial.Reader{Rest: data, Part: true}
	r.VarBytes()
	r.CompactSize()
	return r.Err
}

// checkSigEncoding checks that a signature has the form of BIP66, with a known hash
// type behind it. Its numbers may be any.
func checkSigEncoding(value []byte) error {
	if len(value) > 0 && (script.DERSig | script.StrictEnc).AllowsSignature(value) {
		return nil
	}
	return serial.Error("Signature is not a valid encoding")
}

func schnorrSize(what string) func([]byte) error {
	return func(value []byte) error {
		switch {
		case len(value) < 64:
			return serial.Error(what + " is shorter than 64 bytes")
		case len(value) > 65:
			return serial.Error(what + " is longer than 65 bytes")
		}
		return nil
	}
}

// checkControlBlock makes the check of a leaf's key. The error for a short key begins with the given words.
func checkControlBlock(of string) func(data []byte) error {
	return func(data []byte) error {
		switch {
		case len(data) < 33:
			return serial.Error(of + "Taproot leaf script key is not at least 34 bytes")
		case (len(data)-1)%32 != 0:
			return serial.Error("Input Taproot leaf script key's control block size is not valid")
		}
		return nil
	}
}

func checkLeaf(value []byte) error {
	if len(value) == 0 {
		return serial.Error("Input Taproot leaf script must be at least 1 byte")
	}
	return nil
}

func checkPubNonce(value []byte) error {
	if len(value) != 66 {
		return serial.Error("Input musig2 pubnonce value is not 66 bytes")
	}
	return nil
}

// checkMusigKeys checks the keys of the participant and of all together, which the data of a key begin with.
func checkMusigKeys(data []byte) error {
	const size = btcec.PubKeyBytesLenCompressed
	if err := checkMusigKey(data[size:2*size], "musig2 aggregate"); err != nil {
		return err
	}
	return checkMusigKey(data[:size], "musig2 participant")
}

func checkMusigKey(key []byte, what string) error {
	if _, err := btcec.ParsePubKey(key); err != nil {
		return serial.Error(what + " pubkey is invalid")
	}
	return nil
}
