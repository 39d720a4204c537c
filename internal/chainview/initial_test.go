package chainview_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
)

func TestInitialDownload(t *testing.T) {
	const began = 1_700_000_000
	now := time.Unix(began, 0)
	tree := chainview.NewTree(&wire.BlockHeader{Timestamp: now}, big.NewInt(2))
	tip := tree.Active().Tip()
	for _, test := range []struct {
		name      string
		leastWork string
		maxAge    time.Duration
		age       int64
		importing bool
		want      bool
	}{
		{"young", "", 0, 86_400, false, false},
		{"old", "", 0, 86_401, false, true},
		{"young by choice", "", time.Minute, 60, false, false},
		{"old by choice", "", time.Minute, 61, false, true},
		{"reads files", "", 0, 0, true, true},
		{"enough work", "02", 0, 0, false, false},
		{"not enough work", "3", 0, 0, false, true},
	} {
		var current chainview.Current
		ended := 0
		at := now.Add(time.Duration(test.age) * time.Second)
		d := chainview.NewInitialDownload(
			&current, test.leastWork, test.maxAge, func() time.Time { return at }, func() { ended++ },
		)
		current.SetImporting(test.importing)
		if got := d.Lasts(tip); got != test.want {
			t.Errorf("%s: lasts: %v", test.name, got)
		}
		at = at.Add(240 * time.Hour)
		current.SetImporting(true)
		if got := d.Lasts(tip); got != test.want {
			t.Errorf("%s: ten days later: lasts: %v", test.name, got)
		}
		if over := ended == 1; over == test.want {
			t.Errorf("%s: told of the end %d times", test.name, ended)
		}
	}
}
