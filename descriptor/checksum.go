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

func (c polymod) step(symbol int8) polymod {
	top := c >> 35
	c = (c&0x7ffffffff)<<5 ^ polymod(symbol)
	for i, g := range checksumGenerator {
		if top>>i&1 != 0 {
			c ^= polymod(g)
		}
	}
	return c
}

// Checksum computes the eight characters that follow # in a descriptor. It
// fails when body, the part before #, holds a character that descriptors
// cannot have.
//
// Source: BIP380.
func Checksum(body string) (string, bool) {
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
	sum, ok := Checksum(body)
	if !ok {
		return "", failf("Invalid characters in payload")
	}
	if found && given != sum {
		return "", failf("Provided checksum '%s' does not match computed checksum '%s'", given, sum)
	}
	return body, nil
}
