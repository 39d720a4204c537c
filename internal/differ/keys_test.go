package differ_test

import (
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg"
)

// keys makes keys as a descriptor may hold them.
type keys struct{ *rand.Rand }

// bytes returns n bytes by chance.
func (k keys) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(k.Uint32())
	}
	return b
}

func (k keys) private() *btcec.PrivateKey {
	key, _ := btcec.PrivKeyFromBytes(k.bytes(32))
	return key
}

// public returns a public key: compressed, x-only or, rarely, uncompressed.
func (k keys) public() string {
	key := k.private().PubKey()
	switch k.IntN(12) {
	case 0, 1:
		return hex.EncodeToString(key.SerializeCompressed()[1:])
	case 2:
		return hex.EncodeToString(key.SerializeUncompressed())
	default:
		return hex.EncodeToString(key.SerializeCompressed())
	}
}

func (k keys) wif() string {
	wif, err := btcutil.NewWIF(k.private(), &chaincfg.RegressionNetParams, k.IntN(8) != 0)
	if err != nil {
		panic(err) // the key is one of ours
	}
	return wif.String()
}

// extended returns an extended key with a path, ranged or not.
func (k keys) extended() string {
	master, err := hdkeychain.NewMaster(k.bytes(32), &chaincfg.RegressionNetParams)
	if err != nil {
		return k.public() // one seed of 2^127
	}
	if k.IntN(3) != 0 {
		if master, err = master.Neuter(); err != nil {
			panic(err)
		}
	}
	path := master.String() + k.steps()
	switch k.IntN(6) {
	case 0, 1, 2:
		path += "/*"
	case 3:
		path += k.hardened("/*")
	}
	return path
}

// steps returns up to three steps of a path.
func (k keys) steps() string {
	var steps strings.Builder
	for range k.IntN(4) {
		steps.WriteString("/" + k.step())
	}
	return steps.String()
}

func (k keys) step() string {
	switch k.IntN(12) {
	case 0:
		return "<" + strconv.Itoa(k.IntN(3)) + ";" + strconv.Itoa(k.IntN(5)) + ">"
	case 1:
		return strconv.Itoa(1<<31 - 2 + k.IntN(4))
	case 2:
		return k.hardened(strconv.Itoa(k.IntN(100)))
	default:
		return strconv.Itoa(k.IntN(100))
	}
}

func (k keys) hardened(step string) string { return step + [...]string{"'", "h"}[k.IntN(2)] }

// any returns any kind of key expression.
func (k keys) any() string {
	origin := ""
	if k.IntN(5) == 0 {
		origin = "[" + hex.EncodeToString(k.bytes(4)) + k.steps() + "]"
	}
	switch k.IntN(5) {
	case 0:
		return origin + k.wif()
	case 1, 2:
		return origin + k.extended()
	default:
		return origin + k.public()
	}
}
