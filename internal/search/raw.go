package search

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
)

// ErrBadBlock reports bytes that are no serialized block.
var ErrBadBlock = errors.New("malformed block")

// InRaw is [InBlock] of a serialized block, whose header has so many bytes. Only transactions that have something
// are hashed. The error wraps [ErrBadBlock].
func InRaw(raw []byte, headerLen int, spent [][]chainview.Coin, scripts Finder) ([]Entry, error) {
	w := rawWalk{raw: raw, at: min(headerLen, len(raw)), scripts: scripts}
	for i := range w.count() {
		var of []chainview.Coin
		if i > 0 && i <= uint64(len(spent)) {
			of = spent[i-1]
		}
		if w.tx(of); w.bad {
			break
		}
	}
	if w.bad || w.at != len(raw) {
		return nil, fmt.Errorf("%w: at byte %d of %d", ErrBadBlock, w.at, len(raw))
	}
	return w.found, nil
}

// rawWalk walks over transactions. Once bad is set all that it reads is empty.
type rawWalk struct {
	raw     []byte
	at      int
	bad     bool
	scripts Finder
	found   []Entry
}

// bytes takes the next n bytes.
func (w *rawWalk) bytes(n uint64) []byte {
	if w.bad || n > uint64(len(w.raw)-w.at) {
		w.bad = true
		return nil
	}
	b := w.raw[w.at : w.at+int(n)]
	w.at += int(n)
	return b
}

// count takes a number of BIP144's variable length.
func (w *rawWalk) count() uint64 {
	first := w.bytes(1)
	if w.bad {
		return 0
	}
	if first[0] < 0xfd {
		return uint64(first[0])
	}
	var n [8]byte
	copy(n[:], w.bytes(2<<(first[0]-0xfd)))
	return binary.LittleEndian.Uint64(n[:])
}

// tx takes a transaction, and notes what it spends, of the outputs that are given, and pays.
func (w *rawWalk) tx(spent []chainview.Coin) {
	start, before := w.at, len(w.found)
	w.bytes(4)
	body := w.at
	inputs := w.count()
	witness := inputs == 0 // the mark of BIP144 stands where the count would
	if witness {
		if flag := w.bytes(1); !w.bad && flag[0] != 1 {
			w.bad = true
		}
		body = w.at
		inputs = w.count()
	}
	for n := uint64(0); n < inputs && !w.bad; n++ {
		w.input(n, spent)
	}
	outputs := w.count()
	for n := uint64(0); n < outputs && !w.bad; n++ {
		w.output(n)
	}
	tail := w.at
	for ; witness && inputs > 0 && !w.bad; inputs-- {
		for items := w.count(); items > 0 && !w.bad; items-- {
			w.bytes(w.count())
		}
	}
	if w.bytes(4); !w.bad && len(w.found) > before {
		id := w.id(start, body, tail)
		for i := range w.found[before:] {
			w.found[before+i].TxID = id
		}
	}
}

func (w *rawWalk) input(n uint64, spent []chainview.Coin) {
	const hash = chainhash.HashSize
	prev := w.bytes(hash + 4)
	w.bytes(w.count())
	w.bytes(4)
	if w.bad || n >= uint64(len(spent)) {
		return
	}
	if script, ok := w.scripts.Find(spent[n].Script); ok {
		w.found = append(w.found, Entry{
			Kind: Spend, Amount: int64(spent[n].Value), N: uint32(n), Script: uint32(script),
			Prev: wire.OutPoint{Hash: chainhash.Hash(prev[:hash]), Index: binary.LittleEndian.Uint32(prev[hash:])},
		})
	}
}

func (w *rawWalk) output(n uint64) {
	amount := w.bytes(8)
	script := w.bytes(w.count())
	if w.bad {
		return
	}
	if number, ok := w.scripts.Find(script); ok {
		w.found = append(w.found, Entry{
			Kind: Receive, Amount: int64(binary.LittleEndian.Uint64(amount)), N: uint32(n), Script: uint32(number),
		})
	}
}

// id is the hash of the transaction that ends here without its witnesses.
func (w *rawWalk) id(start, body, tail int) chainhash.Hash {
	h := sha256.New()
	h.Write(w.raw[start : start+4])
	h.Write(w.raw[body:tail])
	h.Write(w.raw[w.at-4 : w.at])
	return sha256.Sum256(h.Sum(nil))
}
