package slhdsa

import (
	"errors"
	"fmt"
	"sync"
)

// MaxSignatures is how many signatures a key may make. Beyond, each further one
// makes it easier to forge another.
const MaxSignatures = 1 << 30

// The errors of counting signatures.
var (
	// ErrLimit reports a key that may not make so many signatures more.
	ErrLimit = errors.New("signature limit of the key")
	// ErrNotReserved reports a signature that was not counted before.
	ErrNotReserved = errors.New("signature is not reserved")
	// ErrKeyTwice reports a key that a reservation names twice.
	ErrKeyTwice = errors.New("key is named twice")
)

// A Use says how many signatures a key has made, and how many more are wanted.
type Use struct {
	Key  PublicKey
	Made uint32 // counted so far, whether they left or not
	More uint32
}

// A Reservation is the right to make signatures that are counted already. It may
// be used by many goroutines. The zero value allows none.
type Reservation struct {
	mu   sync.Mutex
	left map[PublicKey]uint32
}

// Reserve counts signatures before they are made. It adds the signatures wanted
// of each key to those that the key has made, has store keep the new counts, and
// returns the right to sign once store returned nil. The uses come to store in
// their order with the new counts in Made; store must return only when all of
// them are on disk, in one transaction. Reserved signatures stay counted, used
// or not.
//
// Errors: [ErrLimit] and [ErrKeyTwice], before anything is stored; that of store.
func Reserve(uses []Use, store func([]Use) error) (*Reservation, error) {
	counted := make([]Use, len(uses))
	left := make(map[PublicKey]uint32, len(uses))
	for i, use := range uses {
		if _, ok := left[use.Key]; ok {
			return nil, fmt.Errorf("%v: %w", use.Key, ErrKeyTwice)
		}
		if use.Made > MaxSignatures || use.More > MaxSignatures-use.Made {
			return nil, fmt.Errorf("%v made %d of %d: %w", use.Key, use.Made, MaxSignatures, ErrLimit)
		}
		left[use.Key] = use.More
		counted[i] = Use{Key: use.Key, Made: use.Made + use.More, More: use.More}
	}
	if err := store(counted); err != nil {
		return nil, fmt.Errorf("storing the signature counts: %w", err)
	}
	return &Reservation{left: left}, nil
}

// take uses up one signature of a key.
func (r *Reservation) take(key PublicKey) error {
	if r == nil {
		return fmt.Errorf("%v: %w", key, ErrNotReserved)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left[key] == 0 {
		return fmt.Errorf("%v: %w", key, ErrNotReserved)
	}
	r.left[key]--
	return nil
}
