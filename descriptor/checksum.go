package descriptor

import "strings"

const (
	// payloadCharset orders the characters of a descriptor so that the
	// checksum detects case errors and hardened markers best.
	payloadCharset = "0123456789()[],'/*abcdefgh@:$%{}" +
		"IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~" +
		"ijklmnopqrstuvwxyzABCDEFGH`#\"\\ "
	checksumCharset = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	checksumLen     = 8
)

var checksumGenerator = [5]uint64{0xf5dee51989, 0xa9fdca3312, 0x1bab10e32d, 0x3706b1677a, 0x644d626ffd}

// payloadValue maps a byte to its place in payloadCharset, or -1.
var payloadValue = func() (values [256]int8) {
	for i := range values {
		values[i] = -1
	}
	for i, c := range []byte(payloadCharset) {
		values[c] = int8(i)
	}
	return values
}()

// polymod is the state of the checksum's BCH code: eight symbols of five bits.
type polymod uint64

// reductions are the multiples of the generator by the symbols that leave the
// state at its top.
var reductions = func() (multiples [32]polymod) {
	for top := range multiples {
		for i, g := range checksumGenerator {
			if top>>i&1 != 0 {
				multiples[top] ^= polymod(g)
			}
		}
	}
	return multiples
}()

func (c polymod) step(symbol int8) polymod {
	return (c&0x7ffffffff)<<5 ^ polymod(symbol) ^ reductions[c>>35&31]
}

// Checksum computes the eight characters that follow # in a descriptor. It
// fails when body, the part before #, holds a character that descriptors
// cannot have.
//
// Source: BIP380.
func Checksum(body string) (string, bool) { return checksum(body) }

func checksum[T string | []byte](body T) (string, bool) {
	c := polymod(1)
	var class int8
	for i := range len(body) {
		value := payloadValue[body[i]]
		if value < 0 {
			return "", false
		}
		c = c.step(value & 31)
		class = class*3 + value>>5
		if i%3 == 2 {
			c = c.step(class)
			class = 0
		}
	}
	if len(body)%3 != 0 {
		c = c.step(class)
	}
	for range checksumLen {
		c = c.step(0)
	}
	c ^= 1
	var sum [checksumLen]byte
	for i := range sum {
		sum[i] = checksumCharset[c>>(5*(checksumLen-1-i))&31]
	}
	return string(sum[:]), true
}

// AddChecksum returns body#checksum. A body that can have no checksum gets an
// empty one.
func AddChecksum(body string) string {
	sum, _ := Checksum(body)
	return body + "#" + sum
}

// appendChecksum is AddChecksum for the text that dst is.
func appendChecksum(dst []byte) []byte {
	sum, _ := checksum(dst)
	return append(append(dst, '#'), sum...)
}

// isPayload reports whether text has only characters that descriptors can have.
func isPayload(text string) bool {
	for i := range len(text) {
		if payloadValue[text[i]] < 0 {
			return false
		}
	}
	return true
}

// checkChecksum returns the part of text before the checksum.
func checkChecksum(text string, required bool) (string, error) {
	body, given, found := strings.Cut(text, "#")
	switch {
	case strings.Contains(given, "#"):
		return "", failf("Multiple '#' symbols")
	case !found && required:
		return "", failf("Missing checksum")
	case found && len(given) != checksumLen:
		return "", failf("Expected 8 character checksum, not %d characters", len(given))
	}
	if !isPayload(body) {
		return "", failf("Invalid characters in payload")
	}
	if !found {
		return body, nil
	}
	if sum, _ := Checksum(body); given != sum {
		return "", failf("Provided checksum '%s' does not match computed checksum '%s'", given, sum)
	}
	return body, nil
}
