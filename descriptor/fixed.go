package descriptor

import "encoding/hex"

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
