package p2mr

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/btcsuite/btcd/btcutil/hdkeychain"
)

// hexBytes are bytes that JSON shows in hex.
type hexBytes []byte

func (h *hexBytes) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	raw, err := hex.DecodeString(s)
	*h = raw
	return err
}

func fromHex(tb testing.TB, s string) []byte {
	tb.Helper()
	raw, err := hex.DecodeString(s)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// golden reads a file of recorded vectors.
func golden[T any](tb testing.TB, name string) (vectors T) {
	tb.Helper()
	packed, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.NewDecoder(text).Decode(&vectors); err != nil {
		tb.Fatal(err)
	}
	return vectors
}

// sourceAt derives the source at a descriptor's path, whose wildcard is index.
func sourceAt(tb testing.TB, xprv, path string, index uint32) Source {
	tb.Helper()
	key, err := hdkeychain.NewKeyFromString(xprv)
	if err != nil {
		tb.Fatal(err)
	}
	source := Source{}
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		number, hardened := strings.CutSuffix(step, "h")
		child := index
		switch number {
		case "":
			continue // the path is empty
		case "*":
			source.Index = index
		default:
			n, err := strconv.ParseUint(number, 10, 31)
			if err != nil {
				tb.Fatal(err)
			}
			child = uint32(n)
		}
		if hardened {
			child += hdkeychain.HardenedKeyStart
		}
		if key, err = key.Derive(child); err != nil {
			tb.Fatal(err)
		}
	}
	private, err := key.ECPrivKey()
	if err != nil {
		tb.Fatal(err)
	}
	source.Scalar = private.Key.Bytes()
	return source
}

// address returns the address that pays to a root.
func address(tb testing.TB, prefix string, root Hash) string {
	tb.Helper()
	program, err := bech32.ConvertBits(root[:], 8, 5, true)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := bech32.EncodeM(prefix, append([]byte{2}, program...))
	if err != nil {
		tb.Fatal(err)
	}
	return text
}
