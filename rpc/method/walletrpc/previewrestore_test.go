package walletrpc

import (
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
)

func TestPreviewText(t *testing.T) {
	at := time.Unix(1700000000, 0)
	for _, test := range []struct {
		got  messages.RestorePreview
		want string
	}{
		{
			messages.RestorePreview{Size: 5, Format: "unknown", Problem: "no wallet"},
			`{"size":5,"format":"unknown","intact":false,"problem":"no wallet"}`,
		},
		{
			messages.RestorePreview{Format: "sqlite", Plan: messages.RestorePlan{Name: "w"}},
			`{"size":0,"format":"sqlite","intact":true,"flags":[],"private_keys":false,"encrypted":false,"txcount":0,` +
				`"labels":0,"descriptorcount":0,"descriptors":[],"restore":{"name":"w","possible":true,"rescan_blocks":0,` +
				`"filters":false,"blocks_to_fetch":0,"estimated_seconds":0}}`,
		},
		{
			messages.RestorePreview{
				Format: "sqlite", Partial: true, RolledBack: true, FromLog: true, Warnings: []string{"w1"},
				Plan: messages.RestorePlan{Name: "w"},
			},
			`{"size":0,"format":"sqlite","intact":false,"recovered":["rolled back by its journal","taken over from its log"],` +
				`"warnings":["w1"],"flags":[],"private_keys":false,"encrypted":false,"txcount":0,` +
				`"labels":0,"descriptorcount":0,"descriptors":[],"restore":{"name":"w","possible":true,"rescan_blocks":0,` +
				`"filters":false,"blocks_to_fetch":0,"estimated_seconds":0}}`,
		},
		{
			messages.RestorePreview{
				Size: 9, Format: "sqlite", Version: new(int32(300200)), Flags: []string{"blank"}, PrivateKeys: true,
				Encrypted: true, NDescriptors: 2, Transactions: 3, Labels: 4, Birth: at,
				LastBlock: &messages.PreviewBlock{Hash: chainhash.Hash{1}, Height: 7},
				Descriptors: []messages.PreviewDescriptor{
					{
						Desc: "a", Fingerprints: []string{"f"}, Addresses: []string{"x", "y"}, Active: true,
						PrivateKeys: true, Birth: at, Ranged: true, Range: [2]int32{0, 9}, Next: 1,
					},
					{Desc: "b", Birth: at},
				},
				Plan: messages.RestorePlan{
					Name: "w", Problem: "taken", From: 8, To: 10, Blocks: 3, Filters: true, Fetch: 1,
					Estimate: 1100 * time.Millisecond,
				},
			},
			`{"size":9,"format":"sqlite","intact":true,"version":300200,"flags":["blank"],"private_keys":true,` +
				`"encrypted":true,"birthtime":1700000000,"txcount":3,"labels":4,"lastprocessedblock":{"hash":"` +
				`0000000000000000000000000000000000000000000000000000000000000001","height":7},"descriptorcount":2,` +
				`"descriptors":[{"desc":"a","timestamp":1700000000,"active":true,"internal":false,"range":[0,9],` +
				`"next_index":1,"private_keys":true,"fingerprints":["f"],"addresses":["x","y"]},{"desc":"b",` +
				`"timestamp":1700000000,"active":false,"private_keys":false,"fingerprints":[],"addresses":[]}],"restore":` +
				`{"name":"w","possible":false,"problem":"taken","rescan_blocks":3,"rescan_from":8,"rescan_to":10,` +
				`"filters":true,"blocks_to_fetch":1,"estimated_seconds":2}}`,
		},
	} {
		text, err := jsontree.Append(nil, previewOf(&test.got))
		if err != nil || string(text) != test.want {
			t.Errorf("%v\n got %s\nwant %s", err, text, test.want)
		}
	}
}
