package searchdb

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/seed61375155/trawl/store/internal/ledger"
)

// partBytes is about how many bytes of objects or scripts are in one record.
const partBytes = 64 << 10

// parts puts the objects and scripts of a search, whose first numbers are given.
func (n *Search) parts(b *ledger.Batch, id ID, firstObject, firstScript uint32) {
	split(b, key(objectPrefix, id), firstObject, len(n.Objects), func(record []byte, i int) []byte {
		return appendText(record, n.Objects[i])
	})
	split(b, key(scriptPrefix, id), firstScript, len(n.Scripts), func(record []byte, i int) []byte {
		s := &n.Scripts[i]
		record = binary.AppendUvarint(appendText(record, s.Script), uint64(s.Object))
		return binary.AppendVarint(record, int64(s.Index))
	})
}

// split puts count things into records of about partBytes.
func split(b *ledger.Batch, prefix []byte, first uint32, count int, add func(record []byte, i int) []byte) {
	var record []byte
	begin := 0
	for i := range count {
		if record = add(record, i); len(record) >= partBytes || i == count-1 {
			put(b, binary.BigEndian.AppendUint32(bytes.Clone(prefix), first+uint32(begin)), record)
			record, begin = nil, i+1
		}
	}
}

func (n *Search) addObjects(first uint32, raw []byte) error {
	if int(first) != len(n.Objects) {
		return fmt.Errorf("%w: scan objects from %d on are missing", ErrDamaged, len(n.Objects))
	}
	r := decoder{rest: raw}
	for len(r.rest) > 0 {
		n.Objects = append(n.Objects, Object(r.text()))
	}
	return r.end("scan objects")
}

func (n *Search) addScripts(first uint32, raw []byte) error {
	if int(first) != len(n.Scripts) {
		return fmt.Errorf("%w: scripts from %d on are missing", ErrDamaged, len(n.Scripts))
	}
	r := decoder{rest: bytes.Clone(raw)} // of which the scripts are pieces
	for len(r.rest) > 0 {
		script := r.bytes(r.uint())
		n.Scripts = append(n.Scripts, Script{
			Script: script[:len(script):len(script)], Object: r.uint32(), Index: r.int32(),
		})
	}
	return r.end("scripts")
}

// check reports whether what was loaded belongs together.
func (n *Search) check() error {
	for i := range n.Scripts {
		if int(n.Scripts[i].Object) >= len(n.Objects) {
			return fmt.Errorf("%w: scan object of script %d is missing", ErrDamaged, i)
		}
	}
	if last := n.Status.Joined[len(n.Status.Joined)-1]; int(last.First) > len(n.Scripts) {
		return fmt.Errorf("%w: script %d is missing", ErrDamaged, last.First)
	}
	return nil
}
