package arg

import (
	"slices"
	"strings"
)

const (
	bech32Digits      = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	bech32MaxLen      = 90
	bech32ChecksumLen = 6

	// The checksums of a right text in the two encodings.
	bech32Constant  = 1
	bech32mConstant = 0x2bc830a3
)

// bech32Fault returns why a text is not bech32. Up to two wrong characters of
// the data part are located by the checksum.
//
// Source: BIP173, BIP350.
func bech32Fault(text string) AddressFault {
	if len(text) > bech32MaxLen {
		f := AddressFault{Text: "Bech32 string too long"}
		for i := bech32MaxLen; i < len(text); i++ {
			f.Locations = append(f.Locations, i)
		}
		return f
	}
	if wrong := wrongCharacters(text); wrong != nil {
		return AddressFault{"Invalid character or mixed case", wrong}
	}
	separator := strings.LastIndexByte(text, '1')
	if separator < 0 {
		return AddressFault{Text: "Missing separator"}
	}
	if separator == 0 || separator+bech32ChecksumLen >= len(text) {
		return AddressFault{"Invalid separator position", []int{separator}}
	}
	lower := strings.ToLower(text)
	hrp, data := lower[:separator], lower[separator+1:]
	groups := make([]byte, len(data))
	for i := range data {
		group := strings.IndexByte(bech32Digits, data[i])
		if group < 0 {
			return AddressFault{"Invalid Base 32 character", []int{separator + 1 + i}}
		}
		groups[i] = byte(group)
	}
	return checksumFault(len(text), checksumOf(hrp, groups), len(groups))
}

// wrongCharacters returns where a text has characters that bech32 does not
// have, or letters of the other case than its first letter.
func wrongCharacters(text string) []int {
	var wrong []int
	var lower, upper bool
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z' && !upper:
			lower = true
		case c >= 'A' && c <= 'Z' && !lower:
			upper = true
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c < '!', c > '~':
			wrong = append(wrong, i)
		}
	}
	return wrong
}

// checksumFault names the encoding that a text was probably meant to have,
// which is the encoding with fewer errors, and the places of the errors.
func checksumFault(textLen int, sum checksum, groups int) AddressFault {
	f := AddressFault{Text: "Invalid checksum"}
	for _, encoding := range []struct {
		text     string
		constant checksum
	}{
		{"Invalid Bech32 checksum", bech32Constant},
		{"Invalid Bech32m checksum", bech32mConstant},
	} {
		places := locateErrors(sum^encoding.constant, groups)
		if len(places) == 0 || f.Locations != nil && len(places) >= len(f.Locations) {
			continue
		}
		f.Text, f.Locations = encoding.text, nil
		for _, place := range places {
			f.Locations = append(f.Locations, textLen-1-place)
		}
		slices.Sort(f.Locations)
	}
	return f
}

// A checksum is the remainder of a text as polynomial over GF(32): six groups
// of five bits.
type checksum uint32

// append appends a group to the text whose remainder is c.
func (c checksum) append(group byte) checksum {
	generator := [5]checksum{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3}
	top := c >> 25
	c = c&0x1ffffff<<5 ^ checksum(group)
	for bit, g := range generator {
		if top>>bit&1 != 0 {
			c ^= g
		}
	}
	return c
}

func checksumOf(hrp string, groups []byte) checksum {
	c := checksum(1)
	for i := range len(hrp) {
		c = c.append(hrp[i] >> 5)
	}
	c = c.append(0)
	for i := range len(hrp) {
		c = c.append(hrp[i] & 31)
	}
	for _, group := range groups {
		c = c.append(group)
	}
	return c
}

// locateErrors returns the places of the wrong groups among the last n, if one
// or two wrong groups explain the difference of a checksum from the right
// checksum. Places are counted from the end of the text; nil stands for more
// errors. At most one such explanation exists: the code tells up to four errors
// from none.
func locateErrors(difference checksum, n int) []int {
	places := make(map[checksum]int, n*31) // of single errors by their effect on the checksum
	for value := byte(1); value < 32; value++ {
		effect := checksum(value)
		for place := range n {
			places[effect] = place
			effect = effect.append(0)
		}
	}
	if place, ok := places[difference]; ok {
		return []int{place}
	}
	for effect, place := range places {
		if other, ok := places[difference^effect]; ok && other != place {
			return []int{place, other}
		}
	}
	return nil
}
