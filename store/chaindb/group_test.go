package chaindb

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/database"
)

// put returns a transaction that writes one key of the metadata.
func put(key, value string) func(database.Tx) error {
	return func(tx database.Tx) error { return tx.Metadata().Put([]byte(key), []byte(value)) }
}

// holds reports what a database has under a key.
func holds(t *testing.T, db database.DB, key string) string {
	t.Helper()
	var value []byte
	err := db.View(func(tx database.Tx) error {
		value = bytes.Clone(tx.Metadata().Get([]byte(key)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(value)
}

func TestGroup(t *testing.T) {
	errTest := errors.New("test")
	for _, test := range []struct {
		name string
		do   func(*testing.T, *Groups) error // between Start and what ends the group
		end  func(*Groups) error
		want string // of key a afterwards
		err  error
	}{
		{"all of it", func(t *testing.T, g *Groups) error {
			t.Helper()
			return errors.Join(g.Update(put("a", "1")), g.Update(put("a", "2")))
		}, (*Groups).End, "2", nil},
		{"dropped", func(t *testing.T, g *Groups) error {
			t.Helper()
			return g.Update(put("a", "1"))
		}, func(g *Groups) error { g.Drop(); return nil }, "", nil},
		{"a failure that wrote nothing", func(t *testing.T, g *Groups) error {
			t.Helper()
			if err := g.Update(func(database.Tx) error { return errTest }); !errors.Is(err, errTest) {
				t.Errorf("got %v", err)
			}
			return g.Update(put("a", "1"))
		}, (*Groups).End, "1", nil},
		{"a failure that wrote", func(t *testing.T, g *Groups) error {
			t.Helper()
			err := g.Update(func(tx database.Tx) error { return errors.Join(put("a", "1")(tx), errTest) })
			if !errors.Is(err, errTest) {
				t.Errorf("got %v", err)
			}
			return nil
		}, (*Groups).End, "", errUndone},
		{"an unmanaged transaction", func(t *testing.T, g *Groups) error {
			t.Helper()
			if tx, err := g.Begin(true); err == nil {
				t.Errorf("got %v", tx)
			}
			return g.Update(put("a", "1"))
		}, (*Groups).End, "1", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := open(t, testOptions(t.TempDir()))
			g := db.Groups()
			if err := g.Start(); err != nil {
				t.Fatal(err)
			}
			if err := test.do(t, g); err != nil {
				t.Fatal(err)
			}
			if got := holds(t, db.BTCD(), "a"); got != "" {
				t.Errorf("seen before the end: %q", got)
			}
			if err := test.end(g); !errors.Is(err, test.err) {
				t.Errorf("end: got %v, want %v", err, test.err)
			}
			for _, db := range []database.DB{db.BTCD(), g} {
				if got := holds(t, db, "a"); got != test.want {
					t.Errorf("after the end: got %q, want %q", got, test.want)
				}
			}
		})
	}
}
