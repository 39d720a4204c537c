package differ_test

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// signedTogether is the difference where several sign for a key: Core 30 does not say who they are.
var signedTogether = differ.Exception{
	Reason: "fields of MuSig2, which only later versions of Core fill in and combine",
	Is: func(_ differ.Call, got differ.Replies) bool {
		trawl, all := withoutMusig(got.Trawl)
		core, _ := withoutMusig(got.Core)
		return all > 0 && trawl == core
	},
}

// withoutMusig returns a reply whose packet lacks the fields of MuSig2 and the
// origins of taproot keys. The number fields counts the removed fields of
// MuSig2.
func withoutMusig(r differ.Reply) (text string, fields int) {
	text = r.String()
	var result struct{ PSBT string }
	if !r.OK() || json.Unmarshal(r.Result, &result) != nil && json.Unmarshal(r.Result, &result.PSBT) != nil {
		return text, 0
	}
	p, err := psbt.Decode(result.PSBT)
	if err != nil {
		return text, 0
	}
	drop := func(m *psbt.Map, kinds ...uint64) {
		*m = slices.DeleteFunc(*m, func(e psbt.Entry) bool {
			if e.Type != kinds[0] && slices.Contains(kinds, e.Type) {
				fields++
			}
			return slices.Contains(kinds, e.Type)
		})
	}
	for i := range p.Inputs {
		drop(&p.Inputs[i], psbt.TapDerivation, psbt.MusigParticipants, psbt.MusigPubNonce, psbt.MusigPartialSig)
	}
	for i := range p.Outputs {
		drop(&p.Outputs[i], psbt.OutTapDerivation, psbt.OutMusigParticipants)
	}
	return strings.Replace(text, result.PSBT, p.Encode(), 1), fields
}
