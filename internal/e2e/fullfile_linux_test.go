package e2e_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// A block that cannot be written ends the node; the next start goes on where the
// last block was written, with the unspent outputs of that moment.
func TestBlockFileCannotGrow(t *testing.T) {
	t.Parallel()
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex=0", "-debuglogfile=0"}})
	const mined = 200
	d.Get(nil, "generatetodescriptor", mined, "raw(51)")
	d.Stop()
	d.Restart()
	file, err := os.Stat(filepath.Join(d.NetDir, "blocks", "blk00000.dat"))
	if err != nil {
		t.Fatal(err)
	}
	d.LimitFiles(uint64(file.Size()))
	if err := d.Call(t.Context(), nil, "generatetodescriptor", 3, "raw(51)"); err == nil {
		t.Error("blocks were made without room for them")
	}
	e2e.Eventually(t, syncLimit, "the node ends", d.HasEnded)
	for range 2 {
		d.Kill()
		d.Restart()
		var height, outputs int
		d.Get(&height, "getblockcount")
		var set struct {
			Height int `json:"height"`
			Txouts int `json:"txouts"`
		}
		d.Get(&set, "gettxoutsetinfo")
		outputs = set.Txouts
		if height < mined || set.Height != height || outputs != height {
			t.Errorf("up again at height %d, with %d outputs at height %d", height, outputs, set.Height)
		}
		d.Get(nil, "generatetodescriptor", 1, "raw(51)")
	}
}
