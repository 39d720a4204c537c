package spend

import (
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/wallet/coinselect"
)

// kindOf returns the kind of address of a coin.
func kindOf(c *Coin) coinselect.Kind {
	switch s := c.Script; {
	case txscript.IsPayToTaproot(s):
		return coinselect.Bech32m
	case txscript.IsPayToWitnessPubKeyHash(s), txscript.IsPayToWitnessScriptHash(s):
		return coinselect.Bech32
	case txscript.IsPayToScriptHash(s) && c.Known && c.Size.Witness:
		return coinselect.P2SHSegwit
	case txscript.IsPayToScriptHash(s), txscript.IsPayToPubKeyHash(s):
		return coinselect.Legacy
	case txscript.IsWitnessProgram(s):
		return coinselect.MerkleRoot
	}
	return coinselect.OtherKind
}
