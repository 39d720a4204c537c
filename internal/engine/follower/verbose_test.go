package follower

import (
	"encoding/json"
	"strings"
	"testing"
)

// No more of a node's answer about spent outputs is read than the block has transactions
// and inputs.
func TestVerboseBlockIsBounded(t *testing.T) {
	const many = 1 << 20
	of := shape{1, 2}
	for name, text := range map[string]string{
		"transactions": `{"tx":[` + strings.Repeat(`{},`, many) + `{}]}`,
		"inputs":       `{"tx":[{"vin":[{}]},{"vin":[` + strings.Repeat(`{},`, many) + `{}]}]}`,
		"no list":      `{"tx":{}}`,
		"nothing":      `{}`,
	} {
		block := verboseBlock{of: of}
		if err := json.Unmarshal([]byte(text), &block); err == nil {
			t.Errorf("%s: no error", name)
		}
		if len(block.txs) > len(of) {
			t.Errorf("%s: %d transactions", name, len(block.txs))
		}
		for _, inputs := range block.txs {
			if len(inputs) > 2 {
				t.Errorf("%s: %d inputs", name, len(inputs))
			}
		}
	}
}
