package descriptor

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/internal/slhdsa"
)

// p2mrFunctions are the script expressions of P2MR's dialect: Bitcoin's, and
// those of its own in their places.
func p2mrFunctions() []function {
	const multiAMisplaced = "Can only have multi_a/sortedmulti_a inside tr() or mr()"
	all := []function{
		{"pk", inMr, "", parseP2MRPk},
		{"multi_a", inMr, "", parseP2MRMulti("multi_a", false)},
		{"sortedmulti_a", inMr, "", parseP2MRMulti("sortedmulti_a", true)},
	}
	for _, f := range bitcoinFunctions() {
		if f.name == unused {
			continue
		}
		if strings.HasSuffix(f.name, "multi_a") {
			f.misplaced = multiAMisplaced
		}
		all = append(all, f)
		switch f.name {
		case "tr":
			all = append(all, function{"mr", inTop, "Can only have mr at top level", parseMr})
		case "rawtr":
			all = append(all, function{"rawmr", inTop, "Can only have rawmr at top level", parseRawMr})
		}
	}
	return all
}

func parseMr(p *parser, args string, _ scope) (script, error) {
	if args == "" {
		return nil, failf("mr(): Missing script tree")
	}
	m := new(merkle)
	r := treeParser{parser: p, name: "mr", scope: inMr, text: args}
	var err error
	if m.tree, err = r.parse(0); err != nil {
		return nil, err
	}
	if r.text != "" {
		return nil, failf("mr(): expected ')' after script expression")
	}
	var ok bool
	if m.count, ok = commonBranches(r.leaves); !ok {
		return nil, failf("mr(): Multipath subscripts have mismatched lengths")
	}
	return m, nil
}

func parseRawMr(_ *parser, args string, _ scope) (script, error) {
	if !isHex(args) {
		return nil, failf("rawmr(): Merkle root is not hex")
	}
	root, err := hex.DecodeString(args)
	if err != nil {
		return nil, failf("rawmr(): Merkle root is not hex")
	}
	if len(root) != p2mrKeyLen {
		return nil, failf("rawmr(): Merkle root must be %d bytes", p2mrKeyLen)
	}
	return &fixed{
		name: "rawmr", text: hex.EncodeToString(root), script: witnessProgram(p2mrVersion, root), form: typeWitnessP2MR,
	}, nil
}

func parseP2MRPk(p *parser, args string, _ scope) (script, error) {
	if public, err := parseP2MRKey(args); err == nil {
		return &p2mrPk{public: public}, nil
	}
	inner, ok := cutCall(args, "pqc")
	if !ok {
		return nil, failf("pk(): Expected 32-byte PQC pubkey or pqc(KEY)")
	}
	k, err := p.parseKey(inner, inPQC)
	if err != nil {
		return nil, within("pk(): pqc()", err)
	}
	source, ok := k.keySource.(*extendedKey)
	if !ok {
		return nil, failf("pk(): pqc(): key expression must be an xpub or xprv")
	}
	source.pqc = true
	return &p2mrPk{key: k}, nil
}

// parseP2MRKey reads a public key of P2MR.
func parseP2MRKey(text string) (*slhdsa.PublicKey, error) {
	if text == "" {
		return nil, failf("No key provided")
	}
	if first, last := text[:1], text[len(text)-1:]; strings.ContainsAny(first+last, asciiSpace) {
		return nil, failf("Key '%s' is invalid due to whitespace", text)
	}
	if !isHex(text) {
		return nil, failf("Pubkey '%s' is not hex", text)
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, failf("Pubkey '%s' is not hex", text)
	}
	public, err := slhdsa.ParsePublicKey(raw)
	if err != nil {
		return nil, failf("P2MR pubkey must be %d bytes, got %d", p2mrKeyLen, len(raw))
	}
	return &public, nil
}

// parseP2MRMulti returns the parser of the multisig expression with that name
// in a leaf of mr().
func parseP2MRMulti(name string, sorted bool) func(*parser, string, scope) (script, error) {
	return func(_ *parser, args string, _ scope) (script, error) {
		text, rest := cutExpression(args)
		threshold, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, failf("multi_a(): threshold '%s' is not valid", text)
		}
		m := &p2mrMulti{name: name, sorted: sorted}
		for rest != "" {
			if rest[0] != ',' {
				return nil, failf("multi_a(): expected ',', got '%c'", rest[0])
			}
			text, rest = cutExpression(rest[1:])
			public, err := parseP2MRKey(text)
			if err != nil {
				return nil, within("multi_a()", err)
			}
			m.keys = append(m.keys, *public)
		}
		if err := checkThreshold(threshold, len(m.keys), "multi_a", maxMultiAKeys); err != nil {
			return nil, err
		}
		m.threshold, m.keys = int(threshold), slices.Clip(m.keys)
		return m, nil
	}
}
