package synth

import "encoding/binary"

// appendCoinbase appends the only transaction of a block.
func (c Chain) appendCoinbase(dst []byte, height int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, 2) // version
	dst = append(dst, 1)                           // input
	dst = append(dst, make([]byte, 32)...)
	dst = append(dst, 0xff, 0xff, 0xff, 0xff)
	dst = c.appendSigScript(dst, height)
	dst = append(dst, 0xff, 0xff, 0xff, 0xff)
	dst = appendCompactSize(dst, c.Outputs)
	for i := range c.Outputs {
		dst = append(dst, make([]byte, 8)...) // amount
		dst = c.appendOutputScript(dst, height, i)
	}
	return append(dst, 0, 0, 0, 0) // lock time
}

// appendSigScript appends the height and a push that differs between seeds, for
// chains must not share coinbases.
func (c Chain) appendSigScript(dst []byte, height int) []byte {
	script := make([]byte, 0, 16)
	if height <= 16 {
		script = append(script, byte(0x50+height)) // OP_1 to OP_16
	} else {
		var number []byte
		for v := height; v > 0; v >>= 8 {
			number = append(number, byte(v))
		}
		if number[len(number)-1]&0x80 != 0 {
			number = append(number, 0) // or it would be negative
		}
		script = append(append(script, byte(len(number))), number...)
	}
	script = append(script, 4, 'h', '2', byte(c.Seed), 0)
	return append(appendCompactSize(dst, len(script)), script...)
}

func (c Chain) appendOutputScript(dst []byte, height, output int) []byte {
	var script [40]byte
	s := script[:0]
	if query := Planted(height); query >= 0 && output == c.Outputs/2 {
		s = c.appendQuery(s, query)
	} else {
		s = appendScript(s, c.Seed, uint64(height), uint64(output))
	}
	return append(appendCompactSize(dst, len(s)), s...)
}

func appendCompactSize(dst []byte, n int) []byte {
	switch {
	case n < 0xfd:
		return append(dst, byte(n))
	case n <= 0xffff:
		return binary.LittleEndian.AppendUint16(append(dst, 0xfd), uint16(n))
	default:
		return binary.LittleEndian.AppendUint32(append(dst, 0xfe), uint32(n))
	}
}
