package dialect_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview/merkleproof"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/dialect"
)

// All networks answer as Bitcoin Core 30.2 does; the zero value answers as later versions.
func TestAnswers(t *testing.T) {
	choices := map[string]dialect.Choices{dialect.NameBitcoin: {Reference: dialect.Core30}}
	for _, name := range []string{dialect.NameBitcoin, dialect.NameQbit} {
		for _, chain := range dialect.Chains() {
			n, err := dialect.Named(name, chain, choices[name])
			if err != nil {
				t.Fatal(err)
			}
			want := dialect.Answers{
				UnnamedWallets: true, AnyWalletName: true, AsksWatchOnly: true, EndsRanges: true, KeepsPolicyKeys: true,
				HidesOutputKeys: true, InternalUnlabelled: true, FinalSweeps: true, SearchesByPlace: true,
				PlainFeeErrors: true, FeeReasons: true, BoolFunding: true, MixedKeys: true, SilentInputs: true,
				FewScriptErrors: true, FirstDevices: true, OldLog: true,
				BlocksBelowReserve: true, PlainPrunedData: true, ClockUptime: true, StreamedProofs: true,
			}
			if n.Answers != want {
				t.Errorf("%s %s: %+v", name, chain, n.Answers)
			}
			if w := n.Wallet(); w.Answers != want {
				t.Errorf("%s %s: wallets %+v", name, chain, w)
			}
			if got := n.Answers.PrunedData(); got != "" {
				t.Errorf("%s %s: pruned data%s", name, chain, got)
			}
			if n.Answers.UptimeClock(time.Now) == nil || (dialect.Answers{}).UptimeClock(time.Now) != nil {
				t.Errorf("%s %s: the clock is read in the wrong version", name, chain)
			}
			if got := n.Answers.ProofError(merkleproof.ErrShort); got != merkleproof.ErrShort.Error() {
				t.Errorf("%s %s: %s", name, chain, got)
			}
			n.Answers = dialect.Answers{}
			const later = "SpanReader::read(): end of data: iostream error"
			if got := n.Answers.ProofError(merkleproof.ErrShort); got != later {
				t.Errorf("%s %s: %s", name, chain, got)
			}
			if got := n.Answers.PrunedData(); got != " (including undo data)" {
				t.Errorf("%s %s: pruned data%s", name, chain, got)
			}
			if w := n.Wallet(); w.Answers != (dialect.Answers{}) {
				t.Errorf("%s %s: %+v", name, chain, w)
			}
		}
	}
}

// A failure of a script has the reason of the version spoken as, in the pool too.
func TestScriptErrors(t *testing.T) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(new(wire.OutPoint), nil, nil))
	spent := []*wire.TxOut{wire.NewTxOut(1, []byte{txscript.OP_IF, txscript.OP_ENDIF})}
	for words, n := range map[string]*dialect.Network{
		"Invalid OP_IF construction":                      named(t, "bitcoin", dialect.Choices{Reference: dialect.Core30}),
		"Operation not valid with the current stack size": named(t, "bitcoin", dialect.Choices{Reference: dialect.Core32}),
		" Invalid OP_IF construction":                     named(t, "qbit", dialect.Choices{}),
	} {
		words = strings.TrimSpace(words)
		if err := n.Verify(tx, spent, 1); err == nil || err.Error() != words {
			t.Errorf("%v %d: the pool says %v", n.Software, n.Reference, err)
		}
		if err := n.ScriptError(script.ErrNoCondition); err.Error() != words {
			t.Errorf("%v %d: blocks: %v", n.Software, n.Reference, err)
		}
		if err := n.ScriptError(io.EOF); err != io.EOF { //nolint:errorlint // as it is
			t.Error(err)
		}
	}
}
