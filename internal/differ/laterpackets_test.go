package differ_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// exceptPackets names the differences of packets that are there on purpose, by the version of Core.
func exceptPackets(p *differ.Pair) {
	p.Report.Except(joinedByChance, signForgotten)
	if p.Later {
		p.Report.Except(forbidding, turned, forgotten, noncesByChance)
		return
	}
	p.Report.Except(signedTogether)
}

// finalWithoutOutput is the difference where final scripts are of an output that is not known, or wrong.
var finalWithoutOutput = differ.Exception{
	Reason: "an assertion of Core fails where final scripts cannot be verified; here the packet is not complete",
	Is: func(c differ.Call, got differ.Replies) bool {
		return c.Method == "descriptorprocesspsbt" && got.Trawl.OK() &&
			strings.Contains(string(got.Trawl.Result), `"complete":false`) &&
			strings.Contains(string(got.Core.Error), "Internal bug detected: FinalizeAndExtractPSBT")
	},
}

// forbidding is the difference where something signs a packet that says what may be modified.
var forbidding = differ.Exception{
	Reason: "a signature takes back what it forbids to modify, which Core leaves as it is",
	Is: func(_ differ.Call, got differ.Replies) bool {
		return sameAfter(got, func(p *psbt.Packet) { p.Global.Drop(psbt.TxModifiable) })
	},
}

// turned is the difference between trees of outputs.
var turned = differ.Exception{
	Reason: "later Cores turn the tree of an output round whose descriptor they are not told, each time",
	Is:     func(_ differ.Call, got differ.Replies) bool { return sameAfter(got, normalize) },
}

// forgotten is the difference where several sign for a key.
var forgotten = differ.Exception{
	Reason: "later Cores make nonces of MuSig2 for descriptors of a call, whose secrets they forget",
	Is: func(c differ.Call, got differ.Replies) bool {
		return c.Method == "descriptorprocesspsbt" && sameAfter(got, func(p *psbt.Packet) {
			normalize(p)
			for i := range p.Inputs {
				p.Inputs[i].Drop(psbt.MusigPubNonce)
			}
		})
	},
}

// noncesByChance is the difference of wallets that sign for a key together with others.
var noncesByChance = differ.Exception{
	Reason: "nonces of MuSig2 are chosen by chance, and the wallet that has made one signs by it: packets go on with " +
		"Core's",
	Is: func(c differ.Call, got differ.Replies) bool {
		if c.Method != "walletprocesspsbt" || !got.Trawl.OK() || !got.Core.OK() {
			return false
		}
		p, err := psbt.Decode(c.Params.([]any)[0].(string))
		hasNonces := func(m psbt.Map) bool { return m.Has(psbt.MusigPubNonce) }
		return err == nil && slices.ContainsFunc(p.Inputs, hasNonces) || sameAfter(got, func(p *psbt.Packet) {
			forgetSigns(p)
			for i := range p.Inputs {
				for j := range p.Inputs[i] {
					if e := &p.Inputs[i][j]; e.Type == psbt.MusigPubNonce {
						e.Value = make([]byte, len(e.Value))
					}
				}
			}
		})
	},
}

// signForgotten is the difference between wallets with x-only keys.
var signForgotten = differ.Exception{
	Reason: "the fingerprint of an x-only key that came as a private key: Core forgets its sign when the wallet is " +
		"loaded again",
	Is: func(c differ.Call, got differ.Replies) bool {
		return c.Method == "walletprocesspsbt" && sameAfter(got, forgetSigns)
	},
}

func forgetSigns(p *psbt.Packet) {
	normalize(p)
	for i := range p.Inputs {
		forgetKeys(p.Inputs[i], psbt.TapDerivation)
	}
	for i := range p.Outputs {
		forgetKeys(p.Outputs[i], psbt.OutTapDerivation)
	}
}

// forgetKeys takes away the fingerprints of keys that do not derive from others.
func forgetKeys(m psbt.Map, kind uint64) {
	for i := range m {
		if m[i].Type != kind {
			continue
		}
		from := psbt.NewTapOrigin(m[i].Value)
		if len(psbt.Path(from.Origin)) == 0 {
			from.Origin = make([]byte, len(from.Origin))
			m[i].Value = from.Value()
		}
	}
}

// normalize leaves out what may be modified, and in which order the leaves of trees are.
func normalize(p *psbt.Packet) {
	p.Global.Drop(psbt.TxModifiable)
	for i := range p.Outputs {
		if tree, ok := p.Outputs[i].One(psbt.OutTapTree); ok {
			p.Outputs[i].Put(psbt.OutTapTree, nil, sortedTree(tree))
		}
	}
}

// sortedTree brings the leaves of a tree into an order of their own.
func sortedTree(tree []byte) []byte {
	var leaves [][]byte
	for r := psbt.NewValue(tree); len(r.Rest) > 0; {
		leaf := []byte{r.Byte(), r.Byte()}
		script := r.VarBytes()
		leaves = append(leaves, append(append(leaf, byte(len(script))), script...))
	}
	slices.SortFunc(leaves, bytes.Compare)
	return bytes.Join(leaves, nil)
}

// sameAfter reports whether replies are the same once their packets were changed.
func sameAfter(got differ.Replies, change func(*psbt.Packet)) bool {
	trawl, ok := changed(got.Trawl, change)
	core, also := changed(got.Core, change)
	return ok && also && trawl == core
}

// changed returns a reply with its packet changed. It is false where the reply has none.
func changed(r differ.Reply, change func(*psbt.Packet)) (string, bool) {
	var result struct{ PSBT string }
	if !r.OK() || json.Unmarshal(r.Result, &result) != nil && json.Unmarshal(r.Result, &result.PSBT) != nil {
		return "", false
	}
	p, err := psbt.Decode(result.PSBT)
	if err != nil {
		return "", false
	}
	change(p)
	return strings.Replace(r.String(), result.PSBT, p.Encode(), 1), true
}
