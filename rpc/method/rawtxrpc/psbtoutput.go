package rawtxrpc

import (
	"encoding/hex"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/txjson"
)

// outputFields is an output as decodepsbt shows it. Fields that are not there are
// not shown.
type outputFields struct {
	RedeemScript   *scriptText          `json:"redeem_script,omitempty"`
	WitnessScript  *scriptText          `json:"witness_script,omitempty"`
	Derivations    []keyPath            `json:"bip32_derivs,omitempty"`
	Amount         *jsontree.Amount     `json:"amount,omitempty"`
	Script         *txjson.ScriptPubKey `json:"script,omitempty"`
	TapInternalKey string               `json:"taproot_internal_key,omitempty"`
	TapTree        []tapLeaf            `json:"taproot_tree,omitempty"`
	TapDerivations []tapDerivation      `json:"taproot_bip32_derivs,omitempty"`
	Participants   []musigMembers       `json:"musig2_participant_pubkeys,omitempty"`
	Proprietary    []proprietaryField   `json:"proprietary,omitempty"`
	Unknown        jsontree.Members     `json:"unknown,omitempty"`
}

type tapLeaf struct {
	Depth   int    `json:"depth"`
	Version int    `json:"leaf_ver"`
	Script  string `json:"script"`
}

func showOutput(p *txjson.Printer, output psbt.Map) outputFields {
	return outputFields{
		RedeemScript:   showScript(p, output, psbt.OutRedeemScript),
		WitnessScript:  showScript(p, output, psbt.OutWitnessScript),
		Derivations:    showDerivations(output, psbt.OutDerivation),
		TapInternalKey: showHash(output, psbt.OutTapInternalKey),
		TapTree:        showTapTree(output),
		TapDerivations: showTapDerivations(output, psbt.OutTapDerivation),
		Participants:   showParticipants(output, psbt.OutMusigParticipants),
		Proprietary:    showProprietary(output),
		Unknown:        showUnknown(output, outputTypes),
	}
}

func showTapTree(output psbt.Map) []tapLeaf {
	raw, _ := output.One(psbt.OutTapTree)
	var leaves []tapLeaf
	for v := psbt.NewValue(raw); len(v.Rest) > 0; {
		leaf := tapLeaf{Depth: int(v.Bytes(1)[0]), Version: int(v.Bytes(1)[0])}
		leaf.Script = hex.EncodeToString(v.VarBytes())
		leaves = append(leaves, leaf)
	}
	return leaves
}
