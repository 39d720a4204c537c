package walletrpc

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// FuzzImport reads lists of descriptors of anyone. Each list is refused in words
// for the client, or has one item for each element.
func FuzzImport(f *testing.F) {
	ranged := descriptor.AddChecksum("wpkh(tpubD6NzVbkrYhZ4XqsQLsvaubrz9UoDAsWK7fXZxmQ3aGAr4J1TcWiJvS61ysaEGXNLpMRjrGR" +
		"QrB1VhhVoqotrpF8vR4xY2TrFCiKdXJ34fXF/0/*)")
	for _, seed := range []string{
		`[]`, `[5]`, `[{}]`, `{"a":1}`, `[{"timestamp":0}]`, `[{"timestamp":"now","desc":"raw(51)#8lvh9jxk"}]`,
		`[{"timestamp":0,"desc":"` + ranged + `","range":[0,1],"next_index":1,"active":true}]`,
		`[{"timestamp":0,"desc":"` + ranged + `","range":1.5}]`,
		`[{"timestamp":1.5,"desc":5,"label":null,"internal":null,"range":null}]`,
	} {
		f.Add(seed)
	}
	m := &methods{net: descriptor.NetworkOf(&chaincfg.RegressionNetParams)}
	table, err := command.NewTable()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := jsontree.Parse([]byte(text))
		if err != nil {
			return
		}
		items, err := m.readImports(list)
		if err != nil {
			if _, known := table.Reveal(err); !known {
				t.Errorf("error without words: %v", err)
			}
			return
		}
		if len(items) != list.Len() {
			t.Fatalf("%d items of %d elements", len(items), list.Len())
		}
		for i, item := range items {
			if item.NoDesc && (item.Range != nil || item.Label != nil || item.Internal != nil) {
				t.Errorf("item %d has more than a time: %+v", i, item)
			}
			if r := item.Range; r != nil && item.RangeErr == nil && (r[0] < 0 || r[0] > r[1] ||
				r[1] > descriptor.MaxIndex) {
				t.Errorf("item %d has the range %v", i, *r)
			}
		}
	})
}
