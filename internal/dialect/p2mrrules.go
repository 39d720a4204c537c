package dialect

import (
	"errors"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/txpool"
)

// setP2MRRules fills in the rules of chains that pay to P2MR outputs which are
// functions, or follow from others.
func (n *Network) setP2MRRules() {
	work := &n.P2MR.Params
	work.Limit, work.LimitBits = n.Params.PowLimit, n.Params.PowLimitBits
	work.Start = n.Params.GenesisBlock.Header.Timestamp.Unix()
	n.P2MR.Signatures = vm.NewSignatures()
	n.Engine = EngineP2MR
	n.Params.PoWNoRetargeting = work.Difficulty == pow.FixedDifficulty
	work.PeriodBits = func(parent *chainview.Block, late bool) uint32 { return periodBits(n.Params, parent, late) }
	n.Proves = work.Proves
	n.NextBits = work.NextBits(pow.Permissionless)
	n.MinTime = n.p2mrMinTime
	n.MergedMining = n.mergedMining()
	n.RollVersion = rollVersion
	n.NewSigning = n.newSigning
	n.Template = vm.NewTemplate
	n.DecodePSBT, n.PSBTVersions = psbt.DecodeP2MR, []uint32{0}
	n.Verify, n.VerifyVersion = n.P2MR.verify, n.P2MR.weightVersion
	n.Standard = txpool.Forms{
		Native: isP2MR, NativeInput: p2mrInput, NativeWitness: vm.Standard, TRUCSize: 50_000, TRUCChildSize: 45_500,
	}
	n.Scheduled = n.P2MR.scheduled()
}

// p2mrMinTime is MinTime: the rule against time warps is of chains whose difficulty changes by periods.
func (n *Network) p2mrMinTime(parent *chainview.Block) int64 {
	earliest := parent.MedianTimePast() + 1
	if n.P2MR.warps(n, parent) {
		earliest = max(earliest, parent.Time().Unix()-maxP2MRTimewarp)
	}
	return earliest
}

// maxP2MRTimewarp is how many seconds the first block of a period may lie before the block that it follows.
const maxP2MRTimewarp = 60

// warps reports whether a block on parent begins a period that must not begin long before the last one ended.
func (p *P2MR) warps(n *Network, parent *chainview.Block) bool {
	return n.Params.EnforceBIP94 && p.Difficulty != pow.ASERT && (parent.Height+1)%n.RetargetPeriod() == 0
}

// scheduled are the rules that have a second version.
func (p *P2MR) scheduled() []ScheduledRule {
	return []ScheduledRule{
		{Kind: SigOpWeight, Height: p.WeightV2, Before: SigWeightV1, Since: SigWeightV2},
		{Kind: FutureTime, Height: p.FutureTimeV2, Before: MaxFutureV1, Since: MaxFutureV2},
	}
}

// p2mrInput is the size of an input that spends a P2MR output with one signature:
// the outpoint, an empty script, the sequence, and the witness with a byte for the
// hash type.
const p2mrInput = 32 + 4 + 1 + 4 + 1 + 3 + slhdsa.SignatureSize + 1 + 1 + 34 + 1 + 1

func isP2MR(script []byte) bool { _, is := p2mr.ParseOutputScript(script); return is }

// weightVersion tells which version of the weight of signatures transactions are relayed by, for a block at
// height. While P2MR scripts are not executed yet it is that of the first block that does.
func (p *P2MR) weightVersion(height int32) int {
	if max(height, p.Spends) < p.WeightV2 {
		return 1
	}
	return 2
}

// verify runs the scripts of inputs that spend P2MR outputs, and all others by
// Bitcoin's rules.
func (p *P2MR) verify(tx *wire.MsgTx, spent []*wire.TxOut, height int32) error {
	others := script.NewSpend(tx, spent)
	hasher, err := p2mr.NewSigHasher(tx, spent)
	if err != nil {
		return err
	}
	rules := vm.Rules{Policy: true, WeightV1: p.weightVersion(height) == 1}
	for i, out := range spent {
		var err error
		if root, ok := p2mr.ParseOutputScript(out.PkScript); ok && len(tx.TxIn[i].SignatureScript) == 0 {
			spend := vm.Spend{
				Tx: tx, Input: i, Program: root, Hasher: hasher, Rules: rules, Known: p.Signatures, Remember: true,
			}
			err = spend.Verify()
		} else {
			err = others.VerifyInput(i, script.Standard|script.ReservedNOP4)
			if old, ok := errors.AsType[script.Error](err); ok {
				err = old.Coarse()
			}
		}
		if err != nil {
			return &rawtx.InputScriptError{Tx: tx, Index: i, Err: err}
		}
	}
	return nil
}
