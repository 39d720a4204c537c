package p2mr

import (
	"bytes"
	"strings"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
)

// An oldScript executes scripts that are older than P2MR. txscript takes the opcode
// of P2MR's signatures for one that does nothing, as it once was; here it is one
// that no such script may execute.
type oldScript struct {
	*txscript.Engine
	script   string // that is executed, by its number
	branches []bool // whether each open branch is executed
}

// execute runs the scripts of an input that spends out.
func (o *oldScript) execute(in *wire.TxIn, out *wire.TxOut) error {
	if !mentions(in, out) || txscript.IsPayToTaproot(out.PkScript) {
		return o.Execute()
	}
	for done := false; !done; {
		if err := o.watch(); err != nil {
			return err
		}
		var err error
		if done, err = o.Step(); err != nil {
			return err
		}
	}
	return o.CheckErrorCondition(true)
}

// mentions reports whether the opcode may be in any of an input's scripts.
func mentions(in *wire.TxIn, out *wire.TxOut) bool {
	for _, script := range append([][]byte{in.SignatureScript, out.PkScript}, in.Witness...) {
		if bytes.IndexByte(script, p2mr.OpCheckSigPQC) >= 0 {
			return true
		}
	}
	return false
}

// watch looks at the opcode that comes next.
func (o *oldScript) watch() error {
	text, err := o.DisasmPC() // script:place: name
	parts := strings.SplitN(text, ":", 3)
	if err != nil || len(parts) != 3 {
		return nil //nolint:nilerr // the step says what is wrong
	}
	if parts[0] != o.script {
		o.script, o.branches = parts[0], nil
	}
	executed := true
	for _, taken := range o.branches {
		executed = executed && taken
	}
	switch name := strings.TrimSpace(parts[2]); name {
	case "OP_IF", "OP_NOTIF":
		taken := false
		if stack := o.GetStack(); executed && len(stack) > 0 {
			taken = isTrue(stack[len(stack)-1]) == (name == "OP_IF")
		}
		o.branches = append(o.branches, taken)
	case "OP_ELSE":
		if n := len(o.branches); n > 0 {
			o.branches[n-1] = !o.branches[n-1]
		}
	case "OP_ENDIF":
		if n := len(o.branches); n > 0 {
			o.branches = o.branches[:n-1]
		}
	case "OP_NOP4":
		if executed {
			return vm.ErrBadOpcode
		}
	}
	return nil
}

// isTrue is false for zero, also for a negative one.
func isTrue(item []byte) bool {
	item = bytes.TrimLeft(item, "\x00")
	return len(item) > 1 || len(item) == 1 && item[0] != 0x80
}
