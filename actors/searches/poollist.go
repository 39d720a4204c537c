package searches

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
)

// poolList is what the memory pool has for a search, in the order in which its transactions came. The zero value is
// empty.
type poolList struct {
	byWID   map[chainhash.Hash]*poolTx
	ordered []*poolTx // with some that have left
	left    int       // how many of them have
	entries int       // of all
}

// poolTx is a transaction of the pool; without entries it has left.
type poolTx struct {
	poolPlace

	entries []search.Entry
}

// poolPlace is where a transaction, and an entry of it, stands.
type poolPlace struct {
	order uint64
	wid   chainhash.Hash
	entry uint32
}

func (p *poolTx) compare(at poolPlace) int {
	return cmp.Or(cmp.Compare(p.order, at.order), bytes.Compare(p.wid[:], at.wid[:]))
}

// of returns the entries of a transaction.
func (l *poolList) of(wid chainhash.Hash) []search.Entry {
	if tx := l.byWID[wid]; tx != nil {
		return tx.entries
	}
	return nil
}

// set notes the entries of a transaction, of which there are some, in place of those that it had.
func (l *poolList) set(wid chainhash.Hash, order uint64, entries []search.Entry) {
	if old := l.byWID[wid]; old != nil {
		if old.order == order {
			l.entries += len(entries) - len(old.entries)
			old.entries = entries
			return
		}
		l.remove(wid)
	}
	tx := &poolTx{poolPlace{order: order, wid: wid}, entries}
	if l.byWID == nil {
		l.byWID = map[chainhash.Hash]*poolTx{}
	}
	l.byWID[wid] = tx
	l.entries += len(entries)
	at := len(l.ordered)
	if at > 0 && l.ordered[at-1].compare(tx.poolPlace) >= 0 {
		at, _ = slices.BinarySearchFunc(l.ordered, tx.poolPlace, (*poolTx).compare)
	}
	l.ordered = slices.Insert(l.ordered, at, tx)
}

// remove forgets a transaction.
func (l *poolList) remove(wid chainhash.Hash) {
	tx := l.byWID[wid]
	if tx == nil {
		return
	}
	delete(l.byWID, wid)
	l.entries -= len(tx.entries)
	tx.entries = nil
	if l.left++; l.left > len(l.ordered)/2 {
		l.ordered = slices.DeleteFunc(l.ordered, func(tx *poolTx) bool { return tx.entries == nil })
		l.left = 0
	}
}

// behind returns entries behind a place, the first ones where that is nil, and where each stands. There are more where
// it returns as many as limit.
func (l *poolList) behind(after *poolPlace, limit int) (list []search.Entry, places []poolPlace) {
	at := 0
	if after != nil {
		at, _ = slices.BinarySearchFunc(l.ordered, *after, (*poolTx).compare)
	}
	for _, tx := range l.ordered[at:] {
		first := 0
		if after != nil && tx.compare(*after) == 0 {
			first = int(after.entry) + 1
		}
		for n := first; n < len(tx.entries); n++ {
			if len(list) >= limit {
				return list, places
			}
			list = append(list, tx.entries[n])
			places = append(places, poolPlace{tx.order, tx.wid, uint32(n)})
		}
	}
	return list, places
}

// text is the place as a cursor.
func (p poolPlace) text() string {
	b := append(binary.BigEndian.AppendUint64(nil, p.order), p.wid[:]...)
	return hex.EncodeToString(binary.BigEndian.AppendUint32(b, p.entry))
}

// parsePoolPlace is the inverse of text; nil for an empty one.
func parsePoolPlace(text string) (*poolPlace, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // before all
	}
	const size = 8 + chainhash.HashSize + 4
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != size {
		return nil, messages.ErrBadCursor
	}
	p := &poolPlace{order: binary.BigEndian.Uint64(b), entry: binary.BigEndian.Uint32(b[size-4:])}
	copy(p.wid[:], b[8:])
	return p, nil
}
