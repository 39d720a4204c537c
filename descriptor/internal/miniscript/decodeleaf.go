package miniscript

import "github.com/btcsuite/btcd/txscript"

// token is an opcode with the data that it pushes. Opcodes that verify their
// result are two tokens.
type token struct {
	opcode byte
	data   []byte
}

// tokenize takes a script apart. It fails for forms that no miniscript has:
// pushes of more than 75 bytes, pushes of numbers that have their own opcode,
// and a VERIFY that could be part of another opcode.
func tokenize(script []byte) (tokens []token, ok bool) {
	t := txscript.MakeScriptTokenizer(0, script)
	for t.Next() {
		opcode, data := t.Opcode(), t.Data()
		switch opcode {
		case txscript.OP_EQUALVERIFY, txscript.OP_NUMEQUALVERIFY,
			txscript.OP_CHECKSIGVERIFY, txscript.OP_CHECKMULTISIGVERIFY:
			// Their numbers follow those of the opcodes that do not verify.
			tokens = append(tokens, token{opcode: opcode - 1}, token{opcode: txscript.OP_VERIFY})
			continue
		case txscript.OP_VERIFY:
			if n := len(tokens); n > 0 && verifying(tokens[n-1].opcode, true) != tokens[n-1].opcode {
				return nil, false
			}
		case txscript.OP_PUSHDATA1, txscript.OP_PUSHDATA2, txscript.OP_PUSHDATA4:
			return nil, false
		case txscript.OP_DATA_1:
			if data[0] >= 1 && data[0] <= 16 || data[0] == 0x81 {
				return nil, false
			}
		}
		tokens = append(tokens, token{opcode, data})
	}
	return tokens, t.Err() == nil
}

// number returns the number that a token pushes, which must not be negative
// and must have the shortest form.
func (t token) number() (n int, ok bool) {
	if t.opcode == txscript.OP_0 {
		return 0, true
	}
	if t.opcode >= txscript.OP_1 && t.opcode <= txscript.OP_16 {
		return int(t.opcode-txscript.OP_1) + 1, true
	}
	if len(t.data) == 0 || len(t.data) > 4 {
		return 0, false
	}
	for i, b := range t.data {
		n |= int(b) << (8 * i)
	}
	negative := t.data[len(t.data)-1]&0x80 != 0
	return n, !negative && numberSize(n) == 1+len(t.data)
}

// leaf reads a fragment without sub-expressions. It returns nil for a leaf that
// is invalid; ok is false if there is no leaf.
func (d *decoder) leaf() (n *node, ok bool) {
	last := d.back(0)
	switch {
	case d.take(txscript.OP_0):
		return d.wrap(constFalse), true
	case d.take(txscript.OP_1):
		return d.wrap(constTrue), true
	case len(last.data) == 32 || len(last.data) == 33:
		d.drop(1)
		return d.keyLeaf(pkK, last.data, d.ctx.keySize()), true
	case last.opcode == txscript.OP_VERIFY && d.pushesKeyHash():
		hash := d.back(2).data
		d.drop(5)
		return d.keyLeaf(pkH, hash, 20), true
	case last.opcode == txscript.OP_CHECKSEQUENCEVERIFY:
		return d.lock(older), true
	case last.opcode == txscript.OP_CHECKLOCKTIMEVERIFY:
		return d.lock(after), true
	case last.opcode == txscript.OP_EQUAL:
		return d.hash()
	case last.opcode == txscript.OP_CHECKMULTISIG:
		return d.multi(), true
	case last.opcode == txscript.OP_NUMEQUAL:
		return d.multiA(), true
	}
	return nil, false
}

// pushesKeyHash reports whether the script ends as pk_h() does.
func (d *decoder) pushesKeyHash() bool {
	return d.back(1).opcode == txscript.OP_EQUAL && len(d.back(2).data) == 20 &&
		d.back(3).opcode == txscript.OP_HASH160 && d.back(4).opcode == txscript.OP_DUP
}

func (d *decoder) keyLeaf(f fragment, push []byte, size int) *node {
	key, ok := d.knowKey(push, size, f == pkH)
	if !ok {
		return nil
	}
	return d.add(node{fragment: f, keys: []int{key}})
}

func (d *decoder) knowKey(push []byte, size int, hashed bool) (int, bool) {
	if len(push) != size || !d.source.KnowKey(push, hashed) {
		return 0, false
	}
	d.keys++
	return d.keys - 1, true
}

func (d *decoder) lock(f fragment) *node {
	lock, ok := d.back(1).number()
	if !ok || lock < 1 {
		return nil
	}
	d.drop(2)
	return d.add(node{fragment: f, number: uint32(lock)})
}

// hash reads SIZE 32 EQUAL VERIFY <opcode> <digest> EQUAL.
func (d *decoder) hash() (*node, bool) {
	size, isNumber := d.back(5).number()
	if !isNumber || size != 32 || d.back(3).opcode != txscript.OP_VERIFY ||
		d.back(4).opcode != txscript.OP_EQUAL || d.back(6).opcode != txscript.OP_SIZE {
		return nil, false
	}
	f, length := sha256, 32
	switch d.back(2).opcode {
	case txscript.OP_SHA256:
	case txscript.OP_HASH256:
		f = hash256
	case txscript.OP_RIPEMD160:
		f, length = ripemd160, 20
	case txscript.OP_HASH160:
		f, length = hash160, 20
	default:
		return nil, false
	}
	digest := d.back(1).data
	if len(digest) != length {
		return nil, false
	}
	d.drop(7)
	return d.add(node{fragment: f, digest: digest}), true
}

// multi reads <threshold> <key>… <count> CHECKMULTISIG.
func (d *decoder) multi() *node {
	count, ok := d.back(1).number()
	if !ok || d.ctx != P2WSH || count < 1 || count > maxMultiKeys {
		return nil
	}
	n := node{fragment: multi}
	for i := count + 1; i > 1; i-- {
		key, ok := d.knowKey(d.back(i).data, d.ctx.keySize(), false)
		if !ok {
			return nil
		}
		n.keys = append(n.keys, key)
	}
	threshold, ok := d.back(count + 2).number()
	if !ok || threshold < 1 || threshold > count {
		return nil
	}
	n.number = uint32(threshold)
	d.drop(count + 3)
	return d.add(n)
}

// multiA reads <key> CHECKSIG (<key> CHECKSIGADD)… <threshold> NUMEQUAL.
func (d *decoder) multiA() *node {
	threshold, ok := d.back(1).number()
	count := 1
	for d.back(2*count).opcode == txscript.OP_CHECKSIGADD {
		count++
	}
	if !ok || d.ctx != Tapscript || threshold < 1 || threshold > count || count > maxMultiAKeys ||
		d.back(2*count).opcode != txscript.OP_CHECKSIG {
		return nil
	}
	n := node{fragment: multiA, number: uint32(threshold)}
	for i := count; i > 0; i-- {
		key, ok := d.knowKey(d.back(2*i+1).data, d.ctx.keySize(), false)
		if !ok {
			return nil
		}
		n.keys = append(n.keys, key)
	}
	d.drop(2*count + 2)
	return d.add(n)
}
