// Package bip39 makes the seed of a wallet's keys from the words that people note, by BIP39 with its English list.
//
// It is pure. Errors tell where the words are wrong, and have no word.
package bip39

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	_ "embed" // the list of words
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/text/unicode/norm"
)

// list is the English list of BIP39: 2048 words in the order of the alphabet.
//
//go:embed english.txt
var list string

// english returns the words of the list.
var english = sync.OnceValue(func() []string { return strings.Fields(list) })

var (
	// ErrCount reports a number of words that BIP39 does not know.
	ErrCount = errors.New("12, 15, 18, 21 or 24 words are needed")

	// ErrChecksum reports words of the list that do not belong together.
	ErrChecksum = errors.New("the checksum of the words is wrong: a word is another, or at another place")
)

// A WordError reports a word that is not in the list.
type WordError struct{ Place int } // 1 is the first word

// Error implements error.
func (e *WordError) Error() string {
	return fmt.Sprintf("word %d is not in the English list of BIP39", e.Place)
}

const (
	wordBits   = 11
	iterations = 2048
	seedLen    = 64
)

// Seed returns the seed of words, 64 bytes for the caller to overwrite. Words are separated by white space; capital
// letters are taken for small ones. Each passphrase, also none, makes another seed.
//
// Errors: [ErrCount], [*WordError], [ErrChecksum].
func Seed(words, passphrase string) ([]byte, error) {
	all := strings.Fields(strings.ToLower(norm.NFKD.String(words)))
	if err := check(all); err != nil {
		return nil, err
	}
	salt := []byte(norm.NFKD.String("mnemonic" + passphrase))
	defer clear(salt)
	sentence := make([]byte, 0, len(words)+len(all))
	defer func() { clear(sentence[:cap(sentence)]) }()
	for i, word := range all {
		if i > 0 {
			sentence = append(sentence, ' ')
		}
		sentence = append(sentence, word...)
	}
	return pbkdf2.Key(sha512.New, unsafe.String(unsafe.SliceData(sentence), len(sentence)), salt, iterations, seedLen)
}

// check holds words against the list and their checksum: one bit for each three words.
func check(all []string) error {
	if n := len(all); n < 12 || n > 24 || n%3 != 0 {
		return fmt.Errorf("%w, not %d", ErrCount, n)
	}
	var entropy bytes.Buffer
	defer func() { clear(entropy.Bytes()) }()
	bits, count := uint32(0), 0 // that are not in entropy yet
	for i, word := range all {
		number, in := slices.BinarySearch(english(), word)
		if !in {
			return &WordError{Place: i + 1}
		}
		bits, count = bits<<wordBits|uint32(number), count+wordBits
		for ; count >= 8 && entropy.Len() < len(all)/3*4; count -= 8 {
			entropy.WriteByte(byte(bits >> (count - 8)))
		}
	}
	sum := sha256.Sum256(entropy.Bytes())
	checks := len(all) / 3
	if byte(bits)<<(8-checks) != sum[0]>>(8-checks)<<(8-checks) {
		return ErrChecksum
	}
	return nil
}
