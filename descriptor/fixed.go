package descriptor

import (
	"encoding/hex"
	"strings"
)

// fixed is a script given as it is: addr(ADDRESS), raw(HEX) or rawmr(HEX).
type fixed struct {
	name   string
	text   string // argument in canonical form
	script []byte
	form   string // see [Network.ScriptType]
}

func (*fixed) branches() int { return 1 }

func (s *fixed) appendText(dst []byte, _ form) []byte {
	dst = append(append(dst, s.name...), '(')
	return append(append(dst, s.text...), ')')
}

func (s *fixed) scripts([][]byte) ([][]byte, error) {
	return [][]byte{s.script}, nil
}

func (s *fixed) output() OutputType {
	switch s.form {
	case typePubKeyHash, typeScriptHash:
		return Legacy
	case typeWitnessV0Key, typeWitnessV0Script:
		return Bech32
	case typeWitnessTaproot, typeWitnessUnknown:
		return Bech32m
	case typeWitnessP2MR:
		return MerkleRoot
	}
	return Unknown
}

// FixedScript returns the script of raw(HEX) or addr(ADDRESS), with or without
// checksum, in a tenth of the time that it takes by [Parse]. Where ok is false, the
// text may be any other descriptor, or none: Parse tells.
func FixedScript(text string, net *Network) (script []byte, ok bool) {
	net = net.orMain()
	if net.Dialect != Bitcoin || net.Restricted || len(text) > MaxTextLen {
		return nil, false
	}
	hexText, isRaw := strings.CutPrefix(text, "raw(")
	address, isAddr := strings.CutPrefix(text, "addr(")
	if !isRaw && !isAddr {
		return nil, false
	}
	body, err := checkChecksum(text, false)
	if err != nil || !strings.HasSuffix(body, ")") {
		return nil, false
	}
	end := len(text) - len(body) + 1 // the closing bracket and what follows it
	if isAddr {
		script, err = ScriptOfAddress(address[:len(address)-end], net)
		return script, err == nil
	}
	script, err = hex.DecodeString(hexText[:len(hexText)-end])
	return script, err == nil && len(script) > 0
}

func parseAddr(p *parser, args string, _ scope) (script, error) {
	out, err := ScriptOfAddress(args, p.net)
	if err != nil {
		return nil, failf("Address is not valid")
	}
	address, _ := AddressOf(out, p.net)
	return &fixed{name: "addr", text: address, script: out, form: p.net.ScriptType(out)}, nil
}

func parseRaw(p *parser, args string, _ scope) (script, error) {
	if !isHex(args) {
		return nil, failf("Raw script is not hex")
	}
	out, err := hex.DecodeString(args)
	if err != nil {
		return nil, failf("Raw script is not hex")
	}
	return &fixed{name: "raw", text: hex.EncodeToString(out), script: out, form: p.net.ScriptType(out)}, nil
}
