package descriptor_test

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
)

// Describe tells what its parts do, each asked alone.
func FuzzDescribe(f *testing.F) {
	point := append([]byte{0x21, 2}, bytes.Repeat([]byte{0x79}, 32)...)
	for _, script := range [][]byte{
		nil,
		{0x6a},
		{0x51, 2, 0x4e, 0x73},
		append(point, 0xac),
		append([]byte{0x51, 32}, bytes.Repeat([]byte{3}, 32)...),
		append([]byte{0x51, 32}, bytes.Repeat([]byte{5}, 32)...),
		append([]byte{0x52, 32}, make([]byte, 32)...), append([]byte{0x60, 40}, make([]byte, 40)...),
		append([]byte{0, 20}, make([]byte, 20)...), append([]byte{0, 32}, make([]byte, 32)...),
		append(append([]byte{0xa9, 20}, make([]byte, 20)...), 0x87),
		append(append([]byte{0x76, 0xa9, 20}, make([]byte, 20)...), 0x88, 0xac),
	} {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		open := descriptor.NetworkOf(&chaincfg.MainNetParams)
		restricted, p2mr := *open, *open
		restricted.Restricted = true
		p2mr.Restricted, p2mr.Reserved, p2mr.Dialect = true, true, descriptor.P2MR
		for _, net := range []*descriptor.Network{open, &restricted, &p2mr} {
			address, _ := descriptor.AddressOf(script, net)
			if !net.Allows(script) {
				address = ""
			}
			want := descriptor.Description{net.ScriptType(script), address, descriptor.Infer(script, net)}
			if got := descriptor.Describe(script, net); got != want {
				t.Errorf("%x: %+v, want %+v", script, got, want)
			}
		}
	})
}
