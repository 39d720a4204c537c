package spends_test

import (
	"encoding/hex"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// order is that of the curve, as signatures have numbers.
var order = func() []byte {
	b, err := hex.DecodeString("00fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
	if err != nil {
		panic(err)
	}
	return b
}()

// damage changes a spend that is right.
func (g *generator) damage(s *spend) {
	s.damaged = true
	in := s.tx.TxIn[s.index]
	for range 1 + g.IntN(2) {
		switch g.IntN(14) {
		case 0, 1, 2, 3:
			if len(s.stack) > 0 {
				i := g.IntN(len(s.stack))
				s.stack[i] = g.damaged(s.stack[i], s.coin.context)
				g.write(s)
			}
		case 4:
			g.damageStack(s)
			g.write(s)
		case 5:
			if len(in.Witness) > 0 {
				i := g.IntN(len(in.Witness))
				in.Witness[i] = g.damaged(in.Witness[i], s.coin.context)
			} else {
				in.Witness = wire.TxWitness{g.bytes(g.IntN(10))}
			}
		case 6:
			in.SignatureScript = g.damagedScript(in.SignatureScript)
		case 7:
			in.Witness = nil
		case 8:
			in.SignatureScript = nil
		case 9:
			in.Witness = append(in.Witness, append([]byte{0x50}, g.bytes(g.IntN(5))...))
		case 10:
			s.tx.LockTime ^= 1
		case 11:
			s.tx.TxOut[0].Value -= 1000
		case 12:
			if n := len(in.Witness); n > 0 && s.coin.control != nil {
				last := append([]byte(nil), in.Witness[n-1]...)
				if len(last) > 0 {
					last[g.IntN(min(len(last), 34))] ^= 1 << g.IntN(8)
				}
				in.Witness[n-1] = last[:len(last)-g.IntN(2)*min(len(last), pick(g, 1, 32))]
			}
		default:
			in.Sequence ^= 1 << g.IntN(31)
		}
	}
}

func (g *generator) damageStack(s *spend) {
	at := g.IntN(len(s.stack) + 1)
	switch {
	case g.IntN(2) == 0 || len(s.stack) == 0:
		item := pick(g, []byte{}, []byte{1}, []byte{0x81}, []byte{0}, g.bytes(g.IntN(80)), make([]byte, 521))
		s.stack = append(s.stack[:at:at], append([][]byte{item}, s.stack[at:]...)...)
	case at < len(s.stack):
		s.stack = append(s.stack[:at:at], s.stack[at+1:]...)
	default:
		i, j := g.IntN(len(s.stack)), g.IntN(len(s.stack))
		s.stack[i], s.stack[j] = s.stack[j], s.stack[i]
	}
}

func (g *generator) damagedScript(raw []byte) []byte {
	b := append([]byte(nil), raw...)
	switch g.IntN(6) {
	case 0:
		return append(b, assemble(pick(g, failing...))...)
	case 1:
		return append(assemble(pick(g, neutral...)), b...)
	case 2:
		return append(assemble(pick(g, failing...)), b...)
	case 3:
		if len(b) > 0 {
			b[g.IntN(len(b))] ^= 1 << g.IntN(8)
		}
		return b
	case 4:
		return append(b, byte(g.Uint32()))
	default:
		if g.IntN(20) == 0 {
			return append([]byte{0x4d, 0x11, 0x27}, make([]byte, 10001)...)
		}
		return append([]byte{txscript.OP_1}, b...)
	}
}

// damaged changes an item: a signature in its parts, or anything anyhow.
func (g *generator) damaged(raw []byte, c context) []byte {
	b := append([]byte(nil), raw...)
	if len(b) == 0 {
		return pick(g, []byte{1}, []byte{0}, []byte{0x80}, g.bytes(g.IntN(75)))
	}
	if c < tapscript && len(b) > 8 && len(b) < 74 && b[0] == 0x30 && g.IntN(2) == 0 {
		return g.damagedDER(b)
	}
	switch g.IntN(9) {
	case 0:
		return nil
	case 1:
		return b[:g.IntN(len(b))]
	case 2:
		return append(b, byte(g.Uint32()))
	case 3:
		b[len(b)-1] = byte(g.Uint32()) // the hash type
		return b
	case 4:
		return append(b[:len(b)-1], 0)
	case 5:
		b[0] = byte(g.IntN(8)) // the form of a key
		return b
	case 6:
		return pick(g, []byte{}, []byte{2}, make([]byte, 64), make([]byte, 65), make([]byte, 32))
	default:
		b[g.IntN(len(b))] ^= 1 << g.IntN(8)
		return b
	}
}

// damagedDER writes the numbers of a signature in another way, or others.
func (g *generator) damagedDER(b []byte) []byte {
	parsed, err := ecdsa.ParseDERSignature(b[:len(b)-1])
	if err != nil {
		return b
	}
	first, second := parsed.R(), parsed.S()
	r, s := first.Bytes(), second.Bytes()
	x, y := shortInteger(r[:]), shortInteger(s[:])
	tail := []byte(nil)
	switch g.IntN(9) {
	case 0:
		high := second
		high.Negate()
		s = high.Bytes()
		y = shortInteger(s[:])
	case 1:
		x = append([]byte{0}, x...)
	case 2:
		y = append([]byte{0, 0}, y...)
	case 3:
		x = x[min(1, len(x)-1):]
	case 4:
		y = []byte{}
	case 5:
		x = []byte{0}
	case 6:
		tail = g.bytes(1 + g.IntN(3))
	case 7:
		y = append(y, 1) // above the order
	default:
		x = order
	}
	body := append(append([]byte{2, byte(len(x))}, x...), 2, byte(len(y)))
	body = append(body, y...)
	if g.IntN(8) == 0 {
		body = append(append([]byte{2, 0x81, byte(len(x))}, x...), append([]byte{2, 0x82, 0, byte(len(y))}, y...)...)
	}
	der := append(append([]byte{0x30, byte(len(body) + g.IntN(20)/19)}, body...), tail...)
	return append(der, b[len(b)-1])
}

// shortInteger is the shortest positive form of an integer.
func shortInteger(b []byte) []byte {
	for len(b) > 1 && b[0] == 0 {
		b = b[1:]
	}
	if b[0]&0x80 != 0 {
		b = append([]byte{0}, b...)
	}
	return append([]byte(nil), b...)
}
