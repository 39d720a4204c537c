package descriptor

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/btcsuite/btcd/txscript"
)

const (
	maxBareMultisigKeys = 3
	maxMultiAKeys       = 999
	maxScriptElement    = 520 // bytes of a P2SH redeem script
)

// multi is a multisig expression: multi, sortedmulti, multi_a, sortedmulti_a.
type multi struct {
	name      string
	threshold int
	keys      []*key
	sorted    bool
	tapscript bool // multi_a or sortedmulti_a
	count     int  // of branches
}

func (m *multi) branches() int    { return m.count }
func (*multi) output() OutputType { return Unknown }

func (m *multi) appendText(dst []byte, f form) []byte {
	dst = append(append(dst, m.name...), '(')
	dst = strconv.AppendInt(dst, int64(m.threshold), 10)
	for _, k := range m.keys {
		dst = k.appendText(append(dst, ','), f)
	}
	return append(dst, ')')
}

func (m *multi) scripts(all [][]byte) ([][]byte, error) {
	keys := make([][]byte, len(m.keys))
	for i, k := range m.keys {
		keys[i] = all[k.number]
		if m.tapscript {
			keys[i] = keys[i][1:]
		}
	}
	if m.sorted {
		slices.SortFunc(keys, bytes.Compare)
	}
	if m.tapscript {
		return [][]byte{multiAScript(m.threshold, keys)}, nil
	}
	return [][]byte{multisigScript(m.threshold, keys)}, nil
}

func multisigScript(threshold int, keys [][]byte) []byte {
	script := appendNumber(nil, threshold)
	for _, key := range keys {
		script = append(append(script, byte(len(key))), key...)
	}
	return append(appendNumber(script, len(keys)), txscript.OP_CHECKMULTISIG)
}

func multiAScript(threshold int, keys [][]byte) []byte {
	script := appendCheckSig(nil, keys[0])
	for _, key := range keys[1:] {
		script = append(append(script, byte(len(key))), key...)
		script = append(script, txscript.OP_CHECKSIGADD)
	}
	return append(appendNumber(script, threshold), txscript.OP_NUMEQUAL)
}

// appendNumber pushes a number from 0 to 32767 in minimal form.
func appendNumber(script []byte, n int) []byte {
	switch {
	case n <= 16:
		return append(script, numberOp(n))
	case n <= 0x7f:
		return append(script, 1, byte(n))
	}
	return append(script, 2, byte(n), byte(n>>8))
}

// parseMulti returns the parser of the multisig expression with that name.
func parseMulti(name string, sorted, tapscript bool) func(*parser, string, scope) (script, error) {
	return func(p *parser, args string, ctx scope) (script, error) {
		m := &multi{name: name, sorted: sorted, tapscript: tapscript}
		text, rest := cutExpression(args)
		threshold, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, failf("Multi threshold '%s' is not valid", text)
		}
		if m.keys, err = p.parseMultiKeys(rest, ctx); err != nil {
			return nil, err
		}
		if err := m.checkSizes(threshold, ctx); err != nil {
			return nil, err
		}
		m.threshold = int(threshold)
		var ok bool
		if m.count, ok = commonBranches(m.keys); !ok {
			return nil, failf("multi(): Multipath derivation paths have mismatched lengths")
		}
		return m, nil
	}
}

func (p *parser) parseMultiKeys(text string, ctx scope) (keys []*key, err error) {
	for text != "" {
		if text[0] != ',' {
			return nil, failf("Multi: expected ',', got '%c'", text[0])
		}
		var arg string
		arg, text = cutExpression(text[1:])
		k, err := p.parseKey(arg, ctx)
		if err != nil {
			return nil, within("Multi", err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// checkSizes checks the limits in Core's order.
func (m *multi) checkSizes(threshold uint64, ctx scope) error {
	n := len(m.keys)
	kind, limit := "multisig", maxMultisigKeys
	if m.tapscript {
		kind, limit = "multi_a", maxMultiAKeys
	}
	if err := checkThreshold(threshold, n, kind, limit); err != nil {
		return err
	}
	if ctx == inTop && n > maxBareMultisigKeys {
		return failf("Cannot have %d pubkeys in bare multisig; only at most 3 pubkeys", n)
	}
	if size := m.redeemSize(); ctx == inSh && size > maxScriptElement {
		return failf("P2SH script is too large, %d bytes is larger than %d bytes", size, maxScriptElement)
	}
	return nil
}

// checkThreshold checks the number n of keys and how many of them must sign.
func checkThreshold(threshold uint64, n int, kind string, limit int) error {
	switch {
	case n == 0 || n > limit:
		return failf("Cannot have %d keys in %s; must have between 1 and %d keys, inclusive", n, kind, limit)
	case threshold == 0:
		return failf("Multisig threshold cannot be 0, must be at least 1")
	case threshold > uint64(n):
		return failf(
			"Multisig threshold cannot be larger than the number of keys; threshold is %d but only %d keys specified",
			threshold, n,
		)
	}
	return nil
}

// redeemSize is the size of the script when threshold and count take one byte.
func (m *multi) redeemSize() int {
	size := 3
	for _, k := range m.keys {
		size += k.size() + 1
	}
	return size
}
