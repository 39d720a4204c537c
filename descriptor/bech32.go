package descriptor

// bech32Chars are the digits of bech32.
const bech32Chars = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// Final constants of the checksum, for programs of version 0 (BIP173) and of later
// versions (BIP350).
const bech32End, bech32mEnd = 1, 0x2bc830a3

// bech32Steps has the value that a step adds to a checksum, by the checksum's five
// highest bits.
var bech32Steps = func() (steps [32]uint32) {
	for i, generator := range [5]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
		for top := range steps {
			if top>>i&1 == 1 {
				steps[top] ^= generator
			}
		}
	}
	return steps
}()

// bech32Step goes on with a checksum by a digit.
func bech32Step(sum uint32, digit byte) uint32 {
	return sum&0x1ffffff<<5 ^ uint32(digit) ^ bech32Steps[sum>>25]
}

// appendSegwit appends a witness program of at most 40 bytes as BIP173 and BIP350 say.
// hrp is in lower case.
func appendSegwit(text []byte, hrp string, version int, program []byte) []byte {
	sum := uint32(1)
	for i := range len(hrp) {
		sum = bech32Step(sum, hrp[i]>>5)
	}
	sum = bech32Step(sum, 0)
	for i := range len(hrp) {
		sum = bech32Step(sum, hrp[i]&31)
	}
	text = append(append(text, hrp...), '1')
	put := func(digit byte) {
		sum = bech32Step(sum, digit)
		text = append(text, bech32Chars[digit])
	}
	put(byte(version))
	var bits, count uint
	for _, b := range program {
		bits, count = bits<<8|uint(b), count+8
		for ; count >= 5; count -= 5 {
			put(byte(bits >> (count - 5) & 31))
		}
	}
	if count > 0 {
		put(byte(bits << (5 - count) & 31))
	}
	for range 6 {
		sum = bech32Step(sum, 0)
	}
	if version == 0 {
		sum ^= bech32End
	} else {
		sum ^= bech32mEnd
	}
	for i := range 6 {
		text = append(text, bech32Chars[sum>>(25-5*i)&31])
	}
	return text
}
