package slhdsa

import (
	"errors"
	"slices"
	"testing"
)

func TestReserve(t *testing.T) {
	a, b := PublicKey{1}, PublicKey{2}
	var stored []Use
	store := func(uses []Use) error {
		stored = slices.Clone(uses)
		return nil
	}
	reserved, err := Reserve([]Use{{Key: a, Made: 5, More: 2}, {Key: b, Made: MaxSignatures - 1, More: 1}}, store)
	if err != nil {
		t.Fatal(err)
	}
	want := []Use{{Key: a, Made: 7, More: 2}, {Key: b, Made: MaxSignatures, More: 1}}
	if !slices.Equal(stored, want) {
		t.Errorf("stored %v, want %v", stored, want)
	}
	for i, take := range []struct {
		key PublicKey
		err error
	}{{a, nil}, {b, nil}, {b, ErrNotReserved}, {a, nil}, {a, ErrNotReserved}, {PublicKey{3}, ErrNotReserved}} {
		if err := reserved.take(take.key); !errors.Is(err, take.err) {
			t.Errorf("take %d: %v, want %v", i, err, take.err)
		}
	}
}

func TestReserveRefuses(t *testing.T) {
	key := PublicKey{1}
	disk := errors.New("disk full")
	tests := []struct {
		name   string
		uses   []Use
		err    error
		stored bool
	}{
		{"beyond the limit", []Use{{key, MaxSignatures, 1}}, ErrLimit, false},
		{"made too many", []Use{{key, MaxSignatures + 1, 0}}, ErrLimit, false},
		{"sum overflows", []Use{{key, 1, 1<<32 - 1}}, ErrLimit, false},
		{"second beyond the limit", []Use{{PublicKey{2}, 0, 1}, {key, 1, MaxSignatures}}, ErrLimit, false},
		{"twice", []Use{{key, 0, 1}, {key, 0, 1}}, ErrKeyTwice, false},
		{"not stored", []Use{{key, 0, 1}}, disk, true},
	}
	for _, test := range tests {
		stored := false
		reserved, err := Reserve(test.uses, func([]Use) error {
			stored = true
			return disk
		})
		if reserved != nil || !errors.Is(err, test.err) || stored != test.stored {
			t.Errorf("%s: reservation %v, error %v, stored %v", test.name, reserved, err, stored)
		}
	}
	for _, none := range []*Reservation{nil, {}} {
		if _, err := smallKey(t, 1).Sign(none, nil); !errors.Is(err, ErrNotReserved) {
			t.Errorf("signed without a reservation: %v", err)
		}
	}
}
