package descriptor

import (
	"slices"
	"strings"
)

var (
	// keyFragments are the miniscript fragments that hold a key and nothing else.
	keyFragments = []string{"pk", "pkh", "pk_k", "pk_h"}

	// compositeFragments are the others, but for multi and multi_a, which are
	// functions of their own unless they have wrappers.
	compositeFragments = []string{
		"older", "after", "sha256", "hash256", "ripemd160", "hash160",
		"andor", "and_v", "and_b", "and_n", "or_b", "or_c", "or_d", "or_i", "thresh",
	}

	wrappedFragments = slices.Concat(keyFragments, compositeFragments, []string{"multi", "multi_a", "0", "1"})
)

var (
	errNoMiniscript    = failf("Miniscript is not supported yet")
	errMiniscriptPlace = failf("Miniscript expressions can only be used in wsh or tr.")
)

// parseMiniscript reads an expression that is none of the functions. Of
// miniscript it knows the constants and the fragments of a single key; for
// others it fails with a text that says so.
func (p *parser) parseMiniscript(expression string, ctx scope) (script, error) {
	name, args, called := strings.Cut(expression, "(")
	switch {
	case !called && (name == "0" || name == "1"):
		return nil, constantError(name, ctx)
	case called && slices.Contains(keyFragments, name):
		return p.parseKeyFragment(expression, name, args, ctx)
	case called && slices.Contains(compositeFragments, name), isWrapped(name):
		return nil, errNoMiniscript
	}
	return nil, notAFunction(expression, ctx)
}

// parseKeyFragment reads a key, which ends at the first closing bracket. Its
// errors come before those of what follows.
func (p *parser) parseKeyFragment(expression, name, args string, ctx scope) (script, error) {
	text, rest, closed := strings.Cut(args, ")")
	if !closed {
		return nil, notAFunction(expression, ctx)
	}
	keyScope := inTr
	if ctx == inWsh {
		keyScope = inWsh
	}
	k, err := p.parseKey(text, keyScope)
	switch {
	case err != nil:
		return nil, err
	case rest != "":
		return nil, notAFunction(expression, ctx)
	case ctx != inWsh && ctx != inTr:
		return nil, errMiniscriptPlace
	case name == "pkh":
		return &keyScript{name: name, key: k, build: tapPkhScripts, kind: Unknown}, nil
	}
	return nil, errNoMiniscript
}

// constantError is the error for a script that always fails, 0, or that anyone
// can satisfy, 1.
func constantError(name string, ctx scope) error {
	switch {
	case ctx != inWsh && ctx != inTr:
		return errMiniscriptPlace
	case name == "0":
		return failf("0 is not satisfiable")
	}
	return failf("1 is not sane: witnesses without signature exist")
}

// isWrapped reports whether the beginning of an expression has wrappers, a
// colon, and the name of a fragment.
func isWrapped(name string) bool {
	wrappers, fragment, ok := strings.Cut(name, ":")
	return ok && wrappers != "" && strings.Trim(wrappers, "asctdvjnlu") == "" &&
		slices.Contains(wrappedFragments, fragment)
}

// notAFunction is the error for an expression that is nothing at all.
func notAFunction(expression string, ctx scope) error {
	switch ctx {
	case inSh:
		return failf("A function is needed within P2SH")
	case inWsh:
		return failf("A function is needed within P2WSH")
	default:
		return failf("'%s' is not a valid descriptor function", expression)
	}
}
