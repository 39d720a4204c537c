package dialect

import (
	"fmt"
	"math/big"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Assume sets what the operator assumes of the chain in place of the network's own values: the least work, in hex, and
// the block whose ancestors' scripts are not executed. An empty text changes nothing. The error names the value.
func (n *Network) Assume(minimumChainWork, assumeValid string) error {
	if minimumChainWork != "" {
		if _, ok := new(big.Int).SetString(minimumChainWork, 16); !ok || len(minimumChainWork) > 64 {
			return fmt.Errorf("MinimumChainWork: %q is not up to 64 hex digits", minimumChainWork)
		}
		n.MinimumChainWork = minimumChainWork
	}
	if assumeValid != "" {
		hash, err := chainhash.NewHashFromStr(assumeValid)
		if err != nil {
			return fmt.Errorf("AssumeValid: %q is no hash of a block", assumeValid)
		}
		n.AssumeValid = *hash
	}
	return nil
}
