package psbt

import (
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/rawtx/internal/serial"
)

const errValueSize = serial.Error("Size of value was not the stated size")

// reading returns a reader of a value that goes on with what follows it: where a
// value ends too soon Core reads on, and notices afterwards.
func reading(value []byte) *serial.Reader { return &serial.Reader{Rest: value[:cap(value)]} }

// whole checks that a value was read without error, to its end and no further.
func whole(r *serial.Reader, value []byte) error {
	if r.Err == nil && len(r.Rest) != cap(value)-len(value) {
		return errValueSize
	}
	return r.Err
}

// exactly checks the size of a value.
func exactly(size int) func([]byte) error {
	return func(value []byte) error {
		if len(value) != size {
			return errValueSize
		}
		return nil
	}
}

func checkUnsigned(value []byte) error {
	r := reading(value)
	tx := r.Tx(false)
	if err := whole(r, value); err != nil {
		return err
	}
	for _, in := range tx.TxIn {
		if len(in.SignatureScript) > 0 {
			return serial.Error("Unsigned tx does not have empty scriptSigs and scriptWitnesses.")
		}
	}
	return nil
}

func checkTx(value []byte) error {
	r := reading(value)
	r.Tx(true)
	return whole(r, value)
}

func checkOutput(value []byte) error {
	r := reading(value)
	r.Output()
	return whole(r, value)
}

func checkWitness(value []byte) error {
	r := reading(value)
	r.Witness()
	return whole(r, value)
}

func checkVersion(value []byte) error {
	if err := exactly(4)(value); err != nil {
		return err
	}
	if NewValue(value).Uint32() > 0 {
		return serial.Error("Unsupported version number")
	}
	return nil
}

// checkXPub checks the public key, which is the end of an extended key.
func checkXPub(data []byte) error {
	if _, err := btcec.ParsePubKey(data[len(data)-btcec.PubKeyBytesLenCompressed:]); err != nil {
		return serial.Error("Invalid pubkey")
	}
	return nil
}

// checkOrigin checks a fingerprint with a path, each step of which takes as
// many bytes.
func checkOrigin(value []byte) error {
	if len(value) == 0 || len(value)%4 != 0 {
		return serial.Error("Invalid length for HD key path")
	}
	return nil
}

func checkTapDerivation(value []byte, short string) error {
	r := &serial.Reader{Rest: value}
	r.Bytes(32 * r.CompactSize())
	if r.Err != nil {
		return serial.Error(short)
	}
	return checkOrigin(r.Rest)
}

func checkProprietary(data []byte) error {
	r := &serial.Reader{Rest: data, Part: true}
	r.VarBytes()
	r.CompactSize()
	return r.Err
}

// checkSigEncoding checks that a signature is strict DER with a known hash type
// behind it (BIP66).
func checkSigEncoding(value []byte) error {
	if len(value) > 0 {
		hashType := txscript.SigHashType(value[len(value)-1]) &^ txscript.SigHashAnyOneCanPay
		_, err := ecdsa.ParseDERSignature(value[:len(value)-1])
		if err == nil && hashType >= txscript.SigHashAll && hashType <= txscript.SigHashSingle {
			return nil
		}
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

func checkControlBlock(data []byte) error {
	switch {
	case len(data) < 33:
		return serial.Error("Taproot leaf script key is not at least 34 bytes")
	case (len(data)-1)%32 != 0:
		return serial.Error("Input Taproot leaf script key's control block size is not valid")
	}
	return nil
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
