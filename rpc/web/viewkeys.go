package web

import (
	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// keyPrefixes are those of extended public keys: the text that they begin with, the version of
// the plain form, and which descriptor alone they are for, as SLIP-132 registers them.
var keyPrefixes = map[string]struct{ plain, only string }{
	"xpub": {"\x04\x88\xb2\x1e", ""},
	"ypub": {"\x04\x88\xb2\x1e", "sh-wpkh"},
	"zpub": {"\x04\x88\xb2\x1e", "wpkh"},
	"tpub": {"\x04\x35\x87\xcf", ""},
	"upub": {"\x04\x35\x87\xcf", "sh-wpkh"},
	"vpub": {"\x04\x35\x87\xcf", "wpkh"},
}

// Why a key is refused, in words for people.
const (
	errKey      keyError = "This extended public key is not complete or has a wrong letter"
	errMultisig keyError = "This is a key of a wallet with several signers: write its descriptor with all keys"
)

type keyError string

// Error implements error.
func (e keyError) Error() string { return string(e) }

// plainKey returns an extended public key with the prefix that descriptors take, and for which
// kind of outputs alone it is, if any.
func plainKey(key string) (plain, only string, err error) {
	form, ok := keyPrefixes[key[:4]]
	if !ok {
		return "", "", errMultisig
	}
	const length, sum = 78, 4
	raw := base58.Decode(key)
	if len(raw) != length+sum {
		return "", "", errKey
	}
	if check := chainhash.DoubleHashB(raw[:length]); string(check[:sum]) != string(raw[length:]) {
		return "", "", errKey
	}
	body := append([]byte(form.plain), raw[4:length]...)
	return base58.Encode(append(body, chainhash.DoubleHashB(body)[:sum]...)), form.only, nil
}
