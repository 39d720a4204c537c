package miniscript

import (
	"slices"

	"github.com/btcsuite/btcd/txscript"
)

// ScriptKeys recognizes and compares keys on behalf of [Decode].
type ScriptKeys interface {
	// KnowKey is handed the next key of a script as it is pushed, or its hash
	// where only that is. It reports whether it knows the key, which then has
	// a number: 0 is the first one.
	KnowKey(push []byte, hashed bool) bool

	// Identity returns a text that is the same for keys that are the same.
	// It is asked when all keys are read.
	Identity(key int) string
}

// Decode finds the expression of a script, if there is one. It is of type B,
// but need not pass [Expression.Check]. Scripts are read from their end, and
// so the keys are, but for those of one multisig.
func Decode(script []byte, ctx Context, keys ScriptKeys) (*Expression, bool) {
	if len(script) > ctx.maxScriptSize() {
		return nil, false
	}
	tokens, ok := tokenize(script)
	if !ok {
		return nil, false
	}
	d := decoder{builder: builder{ctx: ctx}, tokens: tokens, source: keys}
	d.next(decodeSequence)
	for len(d.steps) > 0 {
		step := d.steps[len(d.steps)-1]
		d.steps = d.steps[:len(d.steps)-1]
		if !step(&d) {
			return nil, false
		}
	}
	root := d.built[0]
	if len(d.built) != 1 || len(d.tokens) > 0 || !root.typ.has("B") || !root.valid(ctx) {
		return nil, false
	}
	return d.expression(root, keys.Identity), true
}

// decoder reads a script from its end. Every step takes tokens off the end,
// adds expressions to built, or does both by way of further steps.
type decoder struct {
	builder

	tokens []token
	source ScriptKeys
	steps  []decodeStep // the last one comes next
	built  []*node      // not yet part of another
}

// decodeStep reports whether the script can still be a miniscript.
type decodeStep func(d *decoder) bool

// next plans steps: the first one given comes first.
func (d *decoder) next(steps ...decodeStep) {
	slices.Reverse(steps)
	d.steps = append(d.steps, steps...)
}

// take removes the last tokens if they have the given opcodes, in their order.
func (d *decoder) take(opcodes ...byte) bool {
	rest := len(d.tokens) - len(opcodes)
	if rest < 0 {
		return false
	}
	for i, opcode := range opcodes {
		if d.tokens[rest+i].opcode != opcode {
			return false
		}
	}
	d.tokens = d.tokens[:rest]
	return true
}

// back returns the i-th token from the end, the last one for 0.
func (d *decoder) back(i int) token {
	if i >= len(d.tokens) {
		return token{opcode: txscript.OP_INVALIDOPCODE}
	}
	return d.tokens[len(d.tokens)-1-i]
}

func (d *decoder) drop(n int) { d.tokens = d.tokens[:len(d.tokens)-n] }

func (d *decoder) push(n *node) bool {
	d.built = append(d.built, n)
	return n.valid(d.ctx)
}

// joined returns the step that makes one expression of those built last. order
// says which of them are its parts; 0 is the last one.
func joined(f fragment, order ...int) decodeStep {
	return func(d *decoder) bool {
		rest := len(d.built) - len(order)
		if rest < 0 {
			return false
		}
		parts := make([]*node, len(order))
		for i, at := range order {
			parts[i] = d.built[len(d.built)-1-at]
		}
		d.built = d.built[:rest]
		return d.push(d.wrap(f, parts...))
	}
}

// decodeSequence reads an expression of type B, K or V, and the expressions
// that and_v() joins before it.
func decodeSequence(d *decoder) bool {
	d.next(decodeOne, decodeFront)
	return true
}

// decodeFront goes on with an and_v() unless the script begins here or the
// next opcode opens what is around it.
func decodeFront(d *decoder) bool {
	switch d.back(0).opcode {
	case txscript.OP_INVALIDOPCODE, txscript.OP_IF, txscript.OP_NOTIF, txscript.OP_ELSE,
		txscript.OP_TOALTSTACK, txscript.OP_SWAP:
		return true
	}
	d.next(decodeSequence, joined(andV, 0, 1))
	return true
}

// decodeW reads an expression of type W.
func decodeW(d *decoder) bool {
	if d.take(txscript.OP_FROMALTSTACK) {
		d.next(decodeSequence, opened(txscript.OP_TOALTSTACK), joined(wrapA, 0))
		return true
	}
	d.next(decodeSequence, opened(txscript.OP_SWAP), joined(wrapS, 0))
	return true
}

// opened returns the step that expects an opcode.
func opened(opcode byte) decodeStep {
	return func(d *decoder) bool { return d.take(opcode) }
}

// decodeOne reads an expression of type B, K or V that is no and_v(). Where
// and_v(X,f(Y)) and f(and_v(X,Y)) are the same script, that is the former.
func decodeOne(d *decoder) bool {
	if n, ok := d.leaf(); ok {
		return n != nil && d.push(n)
	}
	switch {
	case d.take(txscript.OP_CHECKSIG):
		d.next(decodeOne, joined(wrapC, 0))
	case d.take(txscript.OP_VERIFY):
		d.next(decodeOne, joined(wrapV, 0))
	case d.take(txscript.OP_0NOTEQUAL):
		d.next(decodeOne, joined(wrapN, 0))
	case d.take(txscript.OP_BOOLAND):
		d.next(decodeW, decodeOne, joined(andB, 0, 1))
	case d.take(txscript.OP_BOOLOR):
		d.next(decodeW, decodeOne, joined(orB, 0, 1))
	case d.take(txscript.OP_ENDIF):
		d.next(decodeSequence, decodeCondition)
	case d.back(0).opcode == txscript.OP_EQUAL:
		threshold, ok := d.back(1).number()
		if !ok || threshold < 1 {
			return false
		}
		d.drop(2)
		d.next(decodeThresh(threshold, 1))
	default:
		return false
	}
	return true
}

// decodeThresh returns the step that reads the parts of a threshold, of which
// this is the n-th from the end.
func decodeThresh(threshold, n int) decodeStep {
	return func(d *decoder) bool {
		if d.take(txscript.OP_ADD) {
			d.next(decodeW, decodeThresh(threshold, n+1))
			return true
		}
		d.next(decodeOne, func(d *decoder) bool {
			rest := len(d.built) - n
			if threshold > n || rest < 0 {
				return false
			}
			parts := slices.Clone(d.built[rest:])
			slices.Reverse(parts)
			d.built = d.built[:rest]
			return d.push(d.add(node{fragment: thresh, number: uint32(threshold), subs: parts}))
		})
		return true
	}
}

// decodeCondition reads what is in front of the last branch before an ENDIF.
func decodeCondition(d *decoder) bool {
	switch {
	case d.take(txscript.OP_DUP, txscript.OP_IF):
		d.next(joined(wrapD, 0))
	case d.take(txscript.OP_SIZE, txscript.OP_0NOTEQUAL, txscript.OP_IF):
		d.next(joined(wrapJ, 0))
	case d.take(txscript.OP_IFDUP, txscript.OP_NOTIF):
		d.next(decodeOne, joined(orD, 0, 1))
	case d.take(txscript.OP_NOTIF):
		d.next(decodeOne, joined(orC, 0, 1))
	case d.take(txscript.OP_ELSE):
		d.next(decodeSequence, decodeFirstBranch)
	default:
		return false
	}
	return true
}

// decodeFirstBranch reads what is in front of the branch before an ELSE.
func decodeFirstBranch(d *decoder) bool {
	switch {
	case d.take(txscript.OP_IF):
		d.next(joined(orI, 0, 1))
	case d.take(txscript.OP_NOTIF):
		d.next(decodeOne, joined(andOr, 0, 2, 1))
	default:
		return false
	}
	return true
}
