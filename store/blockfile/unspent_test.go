package blockfile

import (
	"bytes"
	"testing"
)

// appendUnspent writes an entry as Core and btcd do.
func appendUnspent(u Unspent) []byte {
	code := uint64(u.Height) << 1
	if u.Coinbase {
		code |= 1
	}
	return append(appendAmount(appendVarInt(nil, code), uint64(u.Amount)), u.Packed...)
}

func FuzzParseUnspent(f *testing.F) {
	for _, script := range [][]byte{nil, {0x51}, bytes.Repeat([]byte{1}, 300)} {
		f.Add(appendUnspent(Unspent{Height: 5, Coinbase: true, Amount: 1 << 40, Packed: PackScript(script)[0]}))
	}
	f.Fuzz(func(t *testing.T, entry []byte) {
		u, err := ParseUnspent(entry)
		if err != nil {
			return
		}
		again, err := ParseUnspent(appendUnspent(u))
		if err != nil || again.Height != u.Height || again.Amount != u.Amount || !bytes.Equal(again.Packed, u.Packed) {
			t.Errorf("%x: %+v became %+v, %v", entry, u, again, err)
		}
		script, err := UnpackScript(nil, u.Packed)
		if err != nil {
			t.Errorf("%x: script cannot be unpacked: %v", entry, err)
		}
		for _, form := range PackScript(script) {
			if back, err := UnpackScript(nil, form); err != nil || !bytes.Equal(back, script) {
				t.Errorf("script %x, form %x: got %x, %v", script, form, back, err)
			}
		}
	})
}
