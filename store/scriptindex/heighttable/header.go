package heighttable

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

const (
	headSize = 256
	infoSize = 24
	version  = 1
)

// A Label is what a store says of its table.
type Label [64]byte

var magic = []byte("TRAWLHGT")

// header is what stands at the beginning of a table.
type header struct {
	label          Label
	sections       uint
	from, to       uint32
	keys, elements uint64
	table          uint64 // offset of the infos of the sections
	sum            uint32 // of the infos
	counts, gaps   *code
}

func (h *header) append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, magic...)
	b = le.AppendUint32(b, version)
	b = le.AppendUint32(b, uint32(h.sections))
	b = le.AppendUint32(b, h.from)
	b = le.AppendUint32(b, h.to)
	b = le.AppendUint64(b, h.keys)
	b = le.AppendUint64(b, h.elements)
	b = le.AppendUint64(b, h.table)
	b = le.AppendUint32(b, h.sum)
	b = append(b, h.label[:]...)
	b = h.gaps.append(h.counts.append(b))
	b = append(b, make([]byte, headSize-4-len(b))...)
	return le.AppendUint32(b, checksum(0, b))
}

// parseHeader reads what append wrote.
func parseHeader(b []byte) (h header, err error) {
	le := binary.LittleEndian
	if !bytes.HasPrefix(b, magic) || le.Uint32(b[headSize-4:]) != checksum(0, b[:headSize-4]) {
		return h, fmt.Errorf("%w: header", ErrDamaged)
	}
	if v := le.Uint32(b[8:]); v != version {
		return h, fmt.Errorf("%w: version %d", ErrDamaged, v)
	}
	h = header{
		sections: uint(le.Uint32(b[12:])), from: le.Uint32(b[16:]), to: le.Uint32(b[20:]), keys: le.Uint64(b[24:]),
		elements: le.Uint64(b[32:]), table: le.Uint64(b[40:]), sum: le.Uint32(b[48:]), label: Label(b[52:116]),
	}
	var ok, also bool
	h.counts, ok = parseCode(b[116:])
	h.gaps, also = parseCode(b[116+codeSize:])
	if !ok || !also || h.sections > maxSectionBits || h.from > h.to || h.to > MaxHeight {
		return h, fmt.Errorf("%w: header", ErrDamaged)
	}
	return h, nil
}
