package arg

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
)

// An AddressFault is why a text is no address, in Core's words, and where it is wrong
// as far as that is known.
type AddressFault struct {
	Text      string
	Locations []int // indices into the text, ascending
}

// AddressFaultOf returns why a text is no address of the network. The text must have
// been refused as one.
func AddressFaultOf(text string, net *descriptor.Network) AddressFault {
	free := *net
	free.Restricted = false
	if _, err := descriptor.ScriptOfAddress(text, &free); err == nil {
		return AddressFault{Text: "Address type is not supported on this chain; use a p2mr address."}
	}
	if !net.LooksBech32(text) {
		return AddressFault{Text: base58Fault(text, net)}
	}
	found, groups, encoding, err := bech32.DecodeGeneric(text)
	if err != nil {
		return bech32Fault(text)
	}
	return AddressFault{Text: segwitFault(found, groups, encoding, net)}
}

// Sizes of base58 texts in bytes once decoded.
const (
	base58Checksum = 4
	maxAddress     = 21 + base58Checksum // what Core reads as an address
	maxBase58      = 100                 // what Core reads in order to name the fault

	// maxBase58Text is more than maxBase58 bytes ever take.
	maxBase58Text = 2 * maxBase58
)

func base58Fault(text string, net *descriptor.Network) string {
	raw, ok := decodeBase58(text)
	if !ok {
		return "Invalid or unsupported Segwit (Bech32) or Base58 encoding."
	}
	if len(raw) < base58Checksum || len(raw) > maxAddress {
		return "Invalid checksum or length of Base58 address (P2PKH or P2SH)"
	}
	payload, sum := raw[:len(raw)-base58Checksum], raw[len(raw)-base58Checksum:]
	if want := chainhash.DoubleHashB(payload); !bytes.Equal(sum, want[:base58Checksum]) {
		return "Invalid checksum or length of Base58 address (P2PKH or P2SH)"
	}
	if len(payload) > 0 && (payload[0] == net.PubKeyHashID || payload[0] == net.ScriptHashID) {
		return "Invalid length for Base58 address (P2PKH or P2SH)"
	}
	return "Invalid or unsupported Base58-encoded address."
}

// decodeBase58 reads up to maxBase58 bytes. White space around them is allowed.
func decodeBase58(text string) ([]byte, bool) {
	const digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	text = strings.Trim(text, " \f\n\r\t\v")
	if len(text) > maxBase58Text || strings.Trim(text, digits) != "" {
		return nil, false
	}
	raw := base58.Decode(text)
	return raw, len(raw) <= maxBase58
}

// segwitFault returns why a bech32 text with the right checksum is no address.
func segwitFault(hrp string, groups []byte, encoding bech32.Version, net *descriptor.Network) string {
	if len(groups) == 0 {
		return "Empty Bech32 data section"
	}
	if hrp != net.Bech32HRP {
		return fmt.Sprintf("Invalid or unsupported prefix for Segwit (Bech32) address (expected %s, got %s).",
			net.Bech32HRP, hrp)
	}
	version := groups[0]
	if version == 0 && encoding != bech32.Version0 {
		return "Version 0 witness address must use Bech32 checksum"
	}
	if version != 0 && encoding != bech32.VersionM {
		return "Version 1+ witness address must use Bech32m checksum"
	}
	program, err := bech32.ConvertBits(groups[1:], 5, 8, false)
	if err != nil {
		return "Invalid padding in Bech32 data section"
	}
	unit := "bytes"
	if len(program) == 1 {
		unit = "byte"
	}
	switch {
	case version == 0:
		return fmt.Sprintf("Invalid Bech32 v0 address program size (%d %s), per BIP141", len(program), unit)
	case version > 16:
		return "Invalid Bech32 address witness version"
	default:
		return fmt.Sprintf("Invalid Bech32 address program size (%d %s)", len(program), unit)
	}
}
