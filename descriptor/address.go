package descriptor

import (
	"strings"

	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/btcsuite/btcd/txscript"
)

// AddressOf returns the address of an output script, if it has one. As in
// Bitcoin Core, pay-to-anchor and witness programs of unknown versions have
// bech32m addresses; pay-to-pubkey and bare multisig have none.
func AddressOf(script []byte, net *Network) (string, bool) {
	net = net.orMain()
	s := net.solve(script)
	var room [maxAddress]byte
	text := appendAddress(room[:0], &s, net)
	return string(text), len(text) > 0
}

// maxAddress is enough for any address: the longest are those of witness programs.
const maxAddress = 96

// appendAddress appends the address of an output script, nothing where it has none.
func appendAddress(dst []byte, s *solved, net *Network) []byte {
	switch s.form {
	case typePubKeyHash:
		return appendBase58Check(dst, []byte{net.PubKeyHashID}, s.data[0])
	case typeScriptHash:
		return appendBase58Check(dst, []byte{net.ScriptHashID}, s.data[0])
	case typeWitnessV0Key, typeWitnessV0Script, typeWitnessTaproot, typeWitnessP2MR, typeAnchor, typeWitnessUnknown:
		return appendSegwit(dst, net.Bech32HRP, s.version, s.data[0])
	}
	return dst
}

// ScriptOfAddress returns the output script that an address of the network
// stands for. If a restricted network does not pay to the script, the text is
// no address.
//
// Errors: [ErrAddress].
func ScriptOfAddress(address string, net *Network) ([]byte, error) {
	net = net.orMain()
	script, err := scriptOfAddress(address, net)
	if err == nil && !net.Allows(script) {
		return nil, ErrAddress
	}
	return script, err
}

// LooksBech32 reports whether a text begins as the segwit addresses of the
// network do. In the dialect of P2MR a 1 must follow, because its base58
// addresses may begin with the same letters.
func (n *Network) LooksBech32(address string) bool {
	n = n.orMain()
	hrp := n.Bech32HRP
	if len(address) < len(hrp) || !strings.EqualFold(address[:len(hrp)], hrp) {
		return false
	}
	return n.Dialect != P2MR || len(address) > len(hrp) && address[len(hrp)] == '1'
}

func scriptOfAddress(address string, net *Network) ([]byte, error) {
	if net.LooksBech32(address) {
		script, err := decodeSegwit(address, net.Bech32HRP)
		if err == nil || net.Dialect != P2MR {
			return script, err
		}
	}
	payload, ok := decodeBase58Check(address)
	if !ok || len(payload) != 21 {
		return nil, ErrAddress
	}
	switch payload[0] {
	case net.PubKeyHashID:
		return payToPubKeyHash(payload[1:]), nil
	case net.ScriptHashID:
		return payToScriptHash(payload[1:]), nil
	}
	return nil, ErrAddress
}

func decodeSegwit(address, wantHRP string) ([]byte, error) {
	hrp, groups, encoding, err := bech32.DecodeGeneric(address)
	if err != nil || hrp != wantHRP || len(groups) == 0 {
		return nil, ErrAddress
	}
	version := groups[0]
	program, err := bech32.ConvertBits(groups[1:], 5, 8, false)
	if err != nil || version > 16 || len(program) < 2 || len(program) > 40 {
		return nil, ErrAddress
	}
	wantEncoding := bech32.VersionM
	if version == 0 {
		wantEncoding = bech32.Version0
	}
	if encoding != wantEncoding || version == 0 && len(program) != 20 && len(program) != 32 {
		return nil, ErrAddress
	}
	return witnessProgram(int(version), program), nil
}

func payToPubKeyHash(hash []byte) []byte {
	script := make([]byte, 0, 25)
	script = append(script, txscript.OP_DUP, txscript.OP_HASH160, 20)
	script = append(script, hash...)
	return append(script, txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG)
}

func payToScriptHash(hash []byte) []byte {
	script := make([]byte, 0, 23)
	script = append(script, txscript.OP_HASH160, 20)
	script = append(script, hash...)
	return append(script, txscript.OP_EQUAL)
}

func witnessProgram(version int, program []byte) []byte {
	script := make([]byte, 0, 2+len(program))
	script = append(script, numberOp(version), byte(len(program)))
	return append(script, program...)
}

// numberOp returns the opcode that pushes n, which is 0 to 16.
func numberOp(n int) byte {
	if n == 0 {
		return txscript.OP_0
	}
	return byte(txscript.OP_1 + n - 1)
}
