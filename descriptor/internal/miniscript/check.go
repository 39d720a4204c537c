package miniscript

const (
	// maxStandardWitnessScript is the size in bytes above which nodes do not
	// relay the spending of a P2WSH output.
	maxStandardWitnessScript = 3600

	// maxTapscript is the size in bytes of the largest leaf script. It has no
	// separate limit, but a relayed transaction may have 400,000 weight units.
	// A body with one input and one output takes 378. A stack of 1,000
	// signatures of 65 bytes and a control block of 4,129 takes 70,135, and the
	// length of the script 5.
	maxTapscript = 400_000 - 378 - 70_135 - 5

	maxOpcodes       = 201   // executed in a P2WSH script, by consensus
	maxWitnessItems  = 100   // relayed for a P2WSH script, without the script
	maxStackElements = 1_000 // on the stack at any moment, by consensus
)

// Problem says why an expression is refused.
type Problem struct {
	// Reason describes the problem in Core's words. They follow the text of the
	// sub-expression.
	Reason string

	node *node
}

// AppendText prints the smallest sub-expression that has the problem; see
// [Expression.AppendText].
func (p *Problem) AppendText(dst []byte, printKey func(dst []byte, key int) []byte) []byte {
	return p.node.appendText(dst, printKey)
}

// Check returns why the expression must not be used as a script of its own, or
// nil.
func (e *Expression) Check() *Problem {
	bad := e.root
	for _, n := range e.nodes {
		if !n.saneWithin(e.ctx) {
			bad = n
			break
		}
	}
	sane := bad == e.root && bad.saneWithin(e.ctx) && bad.typ.has("Bs")
	switch {
	case !bad.valid(e.ctx):
		return &Problem{" is invalid", bad}
	case !sane:
		return &Problem{" is not sane" + bad.fault(e.ctx, bad == e.root), bad}
	case !bad.bounds.sat.possible:
		return &Problem{" is not satisfiable", bad}
	}
	return nil
}

// Sane reports whether the expression can be a script of its own. Unlike an
// expression that passes [Expression.Check] it may be impossible to satisfy.
func (e *Expression) Sane() bool {
	for _, n := range e.nodes {
		if !n.saneWithin(e.ctx) {
			return false
		}
	}
	return e.root.typ.has("Bs")
}

// fault names what is wrong with a valid expression; whole says that it is no
// part of another. There is no name for a wrong base type.
func (n *node) fault(ctx Context, whole bool) string {
	switch {
	case !n.typ.has("m"):
		return ": malleable witnesses exist"
	case whole && !n.typ.has("s"):
		return ": witnesses without signature exist"
	case !n.typ.has("k"):
		return ": contains mixes of timelocks expressed in blocks and seconds"
	case n.repeatsKey():
		return ": contains duplicate public keys"
	case !n.withinLimits(ctx):
		return ": needs witnesses that may exceed resource limits"
	}
	return ""
}

// valid reports whether the expression has a type and a size that is allowed.
func (n *node) valid(ctx Context) bool {
	return n.typ != 0 && n.size <= ctx.maxScriptSize()
}

// saneWithin reports whether the expression may be part of another.
func (n *node) saneWithin(ctx Context) bool {
	return n.valid(ctx) && n.withinLimits(ctx) && n.typ.has("mk") && !n.repeatsKey()
}

// withinLimits reports whether no witness that satisfies the expression can
// exceed the limits on execution.
func (n *node) withinLimits(ctx Context) bool {
	if !n.bounds.sat.possible {
		return true
	}
	if ctx == Tapscript {
		return n.maxStack() <= maxStackElements
	}
	return n.maxOps() <= maxOpcodes && n.maxWitness() <= maxWitnessItems
}

// maxOps is the highest number of opcodes that count when it is satisfied.
func (n *node) maxOps() int { return n.ops + int(n.bounds.sat.multisigKeys) }

// maxWitness is the highest number of elements that satisfy the expression.
func (n *node) maxWitness() int { return int(n.bounds.sat.net) + n.leaves() }

// maxStack is the highest number of elements on the stack meanwhile.
func (n *node) maxStack() int { return int(n.bounds.sat.peak) + n.leaves() }

// leaves is the number of elements that the satisfied expression leaves.
func (n *node) leaves() int {
	if n.typ.has("V") {
		return 0
	}
	return 1
}
