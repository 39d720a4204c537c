package vm

import (
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

// pay takes the cost of a signature that is not empty off the budget.
func (m *machine) pay(sig []byte) error {
	if len(sig) == 0 {
		return nil
	}
	if m.budget -= m.cost; m.budget < 0 {
		return ErrValidationWeight
	}
	return nil
}

// signed reports whether sig, if it is not empty, signs the transaction: a wrong
// signature ends the script.
func (m *machine) signed(sig, rawKey []byte) (bool, error) {
	if err := m.pay(sig); err != nil {
		return false, err
	}
	key, err := slhdsa.ParsePublicKey(rawKey)
	if err != nil {
		return false, ErrPubKeyType
	}
	if len(sig) == 0 {
		return false, nil
	}
	hashType := txscript.SigHashDefault
	switch len(sig) {
	case slhdsa.SignatureSize:
	case slhdsa.SignatureSize + 1:
		hashType = txscript.SigHashType(sig[slhdsa.SignatureSize])
		if hashType == txscript.SigHashDefault {
			return false, ErrSigHashType
		}
	default:
		return false, ErrSigSize
	}
	message, err := m.spend.Hasher.Hash(hashType, &m.at)
	if err != nil {
		return false, ErrSigHashType
	}
	if !m.spend.Known.verify(key, message, sig[:slhdsa.SignatureSize], m.spend.Remember) {
		return false, ErrSig
	}
	return true, nil
}

// signedData is signed for 32 bytes that are not of the transaction.
func (m *machine) signedData(sig, data, rawKey []byte) (bool, error) {
	if err := m.pay(sig); err != nil {
		return false, err
	}
	key, err := slhdsa.ParsePublicKey(rawKey)
	if err != nil {
		return false, ErrPubKeyType
	}
	switch {
	case len(data) != len(p2mr.Hash{}):
		return false, ErrPushSize
	case len(sig) == 0:
		return false, nil
	case len(sig) != slhdsa.SignatureSize:
		return false, ErrSigSize
	}
	message := p2mr.DataHash(p2mr.Hash(data))
	if !key.Verify(message[:], sig) {
		return false, ErrSig
	}
	return true, nil
}

// checkSig: signature, key → bool.
func (m *machine) checkSig() error {
	if len(m.stack) < 2 {
		return ErrStackOperation
	}
	ok, err := m.signed(m.top(1), m.top(0))
	if err != nil {
		return err
	}
	m.replace(2, fromBool(ok))
	return nil
}

// checkSigAdd: signature, number, key → number, plus one where it is signed.
func (m *machine) checkSigAdd() error {
	if len(m.stack) < 3 {
		return ErrStackOperation
	}
	n, err := m.number(m.top(1))
	if err != nil {
		return err
	}
	ok, err := m.signed(m.top(2), m.top(0))
	if err != nil {
		return err
	}
	m.replace(3, encode(n+fromTruth(ok)))
	return nil
}

// checkDataSig: signature, message, key → bool.
func (m *machine) checkDataSig() error {
	if len(m.stack) < 3 {
		return ErrStackOperation
	}
	ok, err := m.signedData(m.top(2), m.top(1), m.top(0))
	if err != nil {
		return err
	}
	m.replace(3, fromBool(ok))
	return nil
}

// checkDataSigAdd: signature, message, number, key → number.
func (m *machine) checkDataSigAdd() error {
	if len(m.stack) < 4 {
		return ErrStackOperation
	}
	n, err := m.number(m.top(1))
	if err != nil {
		return err
	}
	ok, err := m.signedData(m.top(3), m.top(2), m.top(0))
	if err != nil {
		return err
	}
	m.replace(4, encode(n+fromTruth(ok)))
	return nil
}

// replace puts an item in the place of the top n.
func (m *machine) replace(n int, item []byte) {
	m.stack = append(m.stack[:len(m.stack)-n], item)
}
