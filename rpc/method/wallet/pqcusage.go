package wallet

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// maxSignatures is how many signatures a key of P2MR may make.
const maxSignatures = 1 << 30

// pqcUsage is how many signatures keys of P2MR have made.
type pqcUsage struct {
	Keys    []pqcKey `json:"pqc_key_states"`
	Overall string   `json:"pqc_overall_limit_state"`
	*pqcUse          // of the only one
}

type pqcKey struct {
	Key string `json:"pubkey"`
	pqcUse
}

type pqcUse struct {
	Made      uint32 `json:"pqc_signature_count"`
	Limit     uint32 `json:"pqc_signature_limit"`
	Remaining uint32 `json:"pqc_signatures_remaining"`
	State     string `json:"pqc_limit_state"`
}

var pqcUseResults = []command.Result{
	{Type: command.Number, Key: "pqc_signature_count", Optional: true, Help: "how many signatures the key has made"},
	{Type: command.Number, Key: "pqc_signature_limit", Optional: true, Help: "how many it may make"},
	{Type: command.Number, Key: "pqc_signatures_remaining", Optional: true, Help: "how many it may make yet"},
	{
		Type: command.String, Key: "pqc_limit_state", Optional: true,
		Help: "how near that is: normal, warning, critical or exhausted",
	},
}

// pqcUsageResults declares a [pqcUsage].
var pqcUsageResults = append([]command.Result{
	{
		Type: command.Array, Key: "pqc_key_states", Optional: true,
		Help: "keys of P2MR that the wallet can sign with here",
		Inner: []command.Result{{Type: command.Object, Inner: append([]command.Result{
			{Type: command.Hex, Key: "pubkey", Help: "the public key"},
		}, pqcUseResults...)}},
	},
	{Type: command.String, Key: "pqc_overall_limit_state", Optional: true, Help: "the worst state of a key"},
}, pqcUseResults...)

// pqcSignedResults declares a [pqcUsage] of a request that has signed, and its warnings.
func pqcSignedResults() []command.Result {
	return append(slices.Clone(pqcUsageResults), command.Result{
		Type: command.Array, Key: "warnings", Optional: true, Help: "keys of P2MR that come near their last signature",
		Inner: []command.Result{{Type: command.String, Help: "a warning"}},
	})
}

// pqcSigned is how many signatures keys of P2MR have made that a request has signed with.
type pqcSigned struct {
	*pqcUsage
	Warnings []string `json:"warnings,omitempty"`
}

func newPQCSigned(uses []messages.PQCUse) pqcSigned {
	return pqcSigned{newPQCUsage(uses), pqcWarnings(uses)}
}

// newPQCUsage tells of keys, nil without any.
func newPQCUsage(uses []messages.PQCUse) *pqcUsage {
	if len(uses) == 0 {
		return nil
	}
	usage := &pqcUsage{}
	most := uint32(0)
	for _, use := range uses {
		most = max(most, use.Made)
		usage.Keys = append(usage.Keys, pqcKey{hex.EncodeToString(use.PublicKey[:]), newPQCUse(use.Made)})
	}
	usage.Overall = newPQCUse(most).State
	if len(usage.Keys) == 1 {
		usage.pqcUse = &usage.Keys[0].pqcUse
	}
	return usage
}

func newPQCUse(made uint32) pqcUse {
	use := pqcUse{Made: made, Limit: maxSignatures, State: "normal"}
	if made < maxSignatures {
		use.Remaining = maxSignatures - made
	}
	switch {
	case made >= maxSignatures:
		use.State = "exhausted"
	case made >= maxSignatures-1<<24:
		use.State = "critical"
	case made >= maxSignatures/4:
		use.State = "warning"
	}
	return use
}

// How often a person is reminded of a key that comes near its last signature.
const (
	warningFrom, warningEvery   = maxSignatures / 4, 1 << 24
	criticalFrom, criticalEvery = maxSignatures - 1<<24, 1 << 20
)

// pqcWarnings warns of keys that a request has brought nearer to their last
// signature, in the reference's words.
func pqcWarnings(uses []messages.PQCUse) []string {
	var texts []string
	for _, use := range uses {
		before, now := newPQCUse(use.Before), newPQCUse(use.Made)
		counts := fmt.Sprintf("(%d of %d signatures used, %d remaining)", use.Made, maxSignatures, now.Remaining)
		key := "PQC key " + hex.EncodeToString(use.PublicKey[:])
		switch {
		case before.State != now.State && now.State == "exhausted":
			texts = append(texts, key+" reached the signature limit "+counts+". Rotate to a new key/address.")
		case before.State != now.State:
			texts = append(texts, key+" entered "+now.State+" usage range "+counts)
		case now.State == "warning" && reminds(use, warningFrom, warningEvery),
			now.State == "critical" && reminds(use, criticalFrom, criticalEvery):
			texts = append(texts, key+" remains in "+now.State+" usage range "+counts)
		}
	}
	return texts
}

func reminds(use messages.PQCUse, from, every uint32) bool {
	return (use.Made-from)/every > (use.Before-from)/every
}
