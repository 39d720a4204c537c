package miniscript

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strconv"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// publicKeys are the compressed public keys of the private keys 1 to 255.
var publicKeys = func() (keys [][]byte) {
	for i := range 255 {
		scalar := new(secp256k1.ModNScalar).SetInt(uint32(i + 1))
		keys = append(keys, secp256k1.NewPrivateKey(scalar).PubKey().SerializeCompressed())
	}
	return keys
}()

var errBadKey = errors.New("bad key")

// testKeys knows publicKeys: in texts in hex, or as K0, K1, ….
type testKeys struct {
	ctx   Context
	texts []string
	read  [][]byte // as they stand in scripts
}

func (k *testKeys) ReadKey(text string) error {
	var key []byte
	if i, err := strconv.Atoi(text[1:]); text[0] == 'K' && err == nil && i >= 0 && i < len(publicKeys) {
		key = publicKeys[i]
	} else if key, err = hex.DecodeString(text); err != nil || len(key) != 33 {
		return errBadKey
	}
	k.texts = append(k.texts, text)
	k.read = append(k.read, k.inScript(key))
	return nil
}

func (k *testKeys) KnowKey(push []byte, hashed bool) bool {
	for i, key := range publicKeys {
		form := k.inScript(key)
		if hashed {
			form = btcutil.Hash160(form)
		}
		if bytes.Equal(form, push) {
			k.texts = append(k.texts, "K"+strconv.Itoa(i))
			k.read = append(k.read, k.inScript(key))
			return true
		}
	}
	return false
}

func (k *testKeys) Identity(i int) string { return string(k.read[i]) }

func (k *testKeys) inScript(key []byte) []byte { return key[33-k.ctx.keySize():] }

func (k *testKeys) keyOf(i int) []byte { return k.read[i] }

func (k *testKeys) print(dst []byte, i int) []byte { return append(dst, k.texts[i]...) }

func parseText(text string, ctx Context) (*Expression, *testKeys, error) {
	keys := &testKeys{ctx: ctx}
	e, err := Parse(text, ctx, keys)
	return e, keys, err
}

func decodeScript(script []byte, ctx Context) (*Expression, *testKeys, bool) {
	keys := &testKeys{ctx: ctx}
	e, ok := Decode(script, ctx, keys)
	return e, keys, ok
}
