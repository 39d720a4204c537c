package dialect

import (
	"cmp"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/script"
)

// activations are the names of -testactivationheight, with that of the buried
// deployment where there is one.
var activations = map[string]string{
	"segwit": "segwit", "bip34": "bip34", "dersig": "bip66", "cltv": "bip65", "csv": "csv",
}

// ruleNames are the names that only regtests of P2MR chains know beside them.
var ruleNames = map[string]func(*P2MR) *int32{
	"cadence":          func(r *P2MR) *int32 { return &r.Cadence },
	"auxpowcommitment": func(r *P2MR) *int32 { return &r.DisplayOrder },
	"outerwitness":     func(r *P2MR) *int32 { return &r.OuterWitness },
	"p2mr":             func(r *P2MR) *int32 { return &r.Spends },
	"p2mrweightv2":     func(r *P2MR) *int32 { return &r.WeightV2 },
	"futuretime":       func(r *P2MR) *int32 { return &r.FutureTimeV2 },
}

// VersionBits says when and where a deployment that miners decide can be
// signalled for.
type VersionBits struct {
	Start, Timeout      int64 // median times in seconds; see AlwaysActive, NeverActive, NoTimeout
	MinActivationHeight int32
}

// HasRule reports whether the regtest of a dialect has a rule of that name, whose
// height can be chosen.
func HasRule(dialect, name string) bool {
	if _, ok := activations[name]; ok {
		return true
	}
	_, ok := ruleNames[name]
	return ok && dialect == NameQbit
}

// HasDeployment reports whether miners decide a deployment of that name by a reference, 0 for the default one, so that
// its signalling can be chosen on a regtest.
func HasDeployment(name string, reference int) bool {
	return name == nameTestDummy || name == nameTaproot && cmp.Or(reference, DefaultReference) == Core30
}

// choose makes a regtest follow its operator.
func (n *Network) choose(c Choices) {
	n.BlockVersion = c.BlockVersion
	n.Params.EnforceBIP94 = n.Params.EnforceBIP94 || c.BIP94
	for rule, height := range c.Activation {
		n.activate(rule, height)
	}
	for i := range n.Deployments {
		d := &n.Deployments[i]
		if bits, ok := c.VersionBits[d.Name]; ok && !d.Buried {
			d.Start, d.Timeout, d.MinActivationHeight = bits.Start, bits.Timeout, bits.MinActivationHeight
		}
	}
}

// activate makes a rule of a regtest hold from the block at height on.
func (n *Network) activate(rule string, height int32) {
	if at, ok := ruleNames[rule]; ok && n.P2MR != nil {
		*at(n.P2MR) = height
		return
	}
	for i := range n.Deployments {
		if d := &n.Deployments[i]; d.Buried && d.Name == activations[rule] {
			d.Height = height
		}
	}
	n.syncParams()
}

// syncParams makes what btcd reads agree with the buried deployments.
func (n *Network) syncParams() {
	p := n.Params
	p.BIP0034Height, p.BIP0065Height, p.BIP0066Height = n.buriedAt("bip34"), n.buriedAt("bip65"), n.buriedAt("bip66")
	if !n.MineOnDemand || n.P2MR != nil {
		return
	}
	for id, name := range map[int]string{chaincfg.DeploymentCSV: "csv", chaincfg.DeploymentSegwit: "segwit"} {
		p.Deployments[id].AlwaysActiveHeight = uint32(max(n.buriedAt(name), 1)) // 0 is none
	}
}

// buriedAt returns the height of a buried deployment.
func (n *Network) buriedAt(name string) int32 {
	for i := range n.Deployments {
		if d := &n.Deployments[i]; d.Buried && d.Name == name {
			return d.Height
		}
	}
	return 0
}

// OldVersion reports whether version is too old for a block at a height, because a
// rule holds there that needs a later version.
func (n *Network) OldVersion(version, height int32) bool {
	return version < 2 && n.Active("bip34", height) || version < 3 && n.Active("bip66", height) ||
		version < 4 && n.Active("bip65", height)
}

// BlockFlags are the rules that the scripts of a block of Bitcoin's chains keep to.
func (n *Network) BlockFlags(b *chainview.Block) script.Flags {
	flags, ok := n.ScriptExceptions[b.Hash]
	if !ok {
		flags = script.P2SH | script.Witness | script.Taproot
	}
	return flags | n.ScriptFlags(b.Height)
}

// ScriptFlags are the rules of scripts that hold from a height on.
func (n *Network) ScriptFlags(height int32) (flags script.Flags) {
	for _, rule := range [...]struct {
		name string
		flag script.Flags
	}{
		{"bip66", script.DERSig},
		{"bip65", script.CheckLockTimeVerify},
		{"csv", script.CheckSequenceVerify},
		{"segwit", script.NullDummy},
	} {
		if n.Active(rule.name, height) {
			flags |= rule.flag
		}
	}
	return flags
}
