package walletrpc

import (
	"encoding/hex"
	"slices"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

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
	var most messages.PQCUse
	for _, use := range uses {
		most.Made = max(most.Made, use.Made)
		usage.Keys = append(usage.Keys, pqcKey{hex.EncodeToString(use.PublicKey[:]), newPQCUse(use)})
	}
	usage.Overall = most.State()
	if len(usage.Keys) == 1 {
		usage.pqcUse = &usage.Keys[0].pqcUse
	}
	return usage
}

func newPQCUse(use messages.PQCUse) pqcUse {
	return pqcUse{Made: use.Made, Limit: messages.PQCSignatureLimit, Remaining: use.Remaining(), State: use.State()}
}

// pqcWarnings warns of keys that a request has brought nearer to their last signature.
func pqcWarnings(uses []messages.PQCUse) []string {
	var texts []string
	for _, use := range uses {
		if text := use.Warning(); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}
