package descriptor

import "sync/atomic"

// scope is where in a descriptor an expression stands, as a set of one.
type scope uint

const (
	inTop   scope = 1 << iota // not inside of any function
	inSh                      // inside of sh()
	inWpkh                    // inside of wpkh(), which takes keys only
	inWsh                     // inside of wsh()
	inTr                      // inside of tr() or rawtr()
	inMusig                   // inside of musig(), which takes keys only
	inMr                      // inside of mr()
	inPQC                     // inside of pqc(), which takes keys only
)

func (s scope) allowsUncompressed() bool { return s&(inTop|inSh) != 0 }

// function is a script expression of the form name(…).
type function struct {
	name string

	// allowed is the set of scopes in which the function may stand.
	allowed scope

	// misplaced is the error in other scopes. When it is empty, the
	// expression may still be something else there.
	misplaced string

	parse func(p *parser, args string, ctx scope) (script, error)
}

// dialects are the lists of functions by dialect. They are made when they are
// first needed, because their functions in turn use the lists to parse.
var dialects [P2MR + 1]atomic.Pointer[[]function]

// functions returns the script expressions of the dialect.
func (d Dialect) functions() []function {
	if list := dialects[d].Load(); list != nil {
		return *list
	}
	var list []function
	switch d {
	case Bitcoin:
		list = bitcoinFunctions()
	case P2MR:
		list = p2mrFunctions()
	default:
		panic("descriptor: unknown dialect")
	}
	dialects[d].Store(&list)
	return list
}

// bitcoinFunctions are the script expressions of Bitcoin.
func bitcoinFunctions() []function {
	const anyScript = inTop | inSh | inWsh
	const multiMisplaced = "Can only have multi/sortedmulti at top level, in sh(), or in wsh()"
	const multiAMisplaced = "Can only have multi_a/sortedmulti_a inside tr()"
	return []function{
		{"pk", anyScript | inTr, "", parsePk},
		{"pkh", anyScript, "", parsePkh},
		{"combo", inTop, "Can only have combo() at top level", parseCombo},
		{"multi", anyScript, multiMisplaced, parseMulti("multi", false, false)},
		{"sortedmulti", anyScript, multiMisplaced, parseMulti("sortedmulti", true, false)},
		{"multi_a", inTr, multiAMisplaced, parseMulti("multi_a", false, true)},
		{"sortedmulti_a", inTr, multiAMisplaced, parseMulti("sortedmulti_a", true, true)},
		{"wpkh", inTop | inSh, "Can only have wpkh() at top level or inside sh()", parseWpkh},
		{"sh", inTop, "Can only have sh() at top level", parseSh},
		{"wsh", inTop | inSh, "Can only have wsh() at top level or inside sh()", parseWsh},
		{"addr", inTop, "Can only have addr() at top level", parseAddr},
		{"tr", inTop, "Can only have tr at top level", parseTr},
		{"rawtr", inTop, "Can only have rawtr at top level", parseRawTr},
		{unused, inTop, "Can only have unused at top level", parseUnused},
		{"raw", inTop, "Can only have raw() at top level", parseRaw},
	}
}

// parser reads one descriptor. Its functions are those of the network's dialect.
type parser struct {
	net       *Network
	functions []function
	secrets   keyring

	keys        []*key // read so far, without participants of musig()
	expressions int    // key expressions read so far
}

// parseScript reads the script expression at the start of text and returns
// what stands behind it.
func (p *parser) parseScript(text string, ctx scope) (s script, rest string, err error) {
	expression, rest := cutExpression(text)
	for _, f := range p.functions {
		args, ok := cutCall(expression, f.name)
		if !ok {
			continue
		}
		if ctx&f.allowed != 0 {
			s, err = f.parse(p, args, ctx)
			return s, rest, err
		}
		if f.misplaced != "" {
			return nil, rest, failf("%s", f.misplaced)
		}
	}
	if ctx == inMr {
		return nil, rest, failf("A function is needed within P2MR")
	}
	s, err = p.parseMiniscript(expression, ctx)
	return s, rest, err
}

// parseWhole reads a script expression that must fill text.
func (p *parser) parseWhole(text string, ctx scope) (script, error) {
	s, rest, err := p.parseScript(text, ctx)
	if err != nil {
		return nil, err
	}
	if rest != "" {
		return nil, failf("") // Core has no words for it
	}
	return s, nil
}
