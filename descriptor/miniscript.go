package descriptor

import (
	"errors"

	"github.com/seed61375155/trawl/descriptor/internal/miniscript"
)

// policy is a script that a miniscript describes, within wsh() or as a leaf of
// a taproot tree.
type policy struct {
	expression *miniscript.Expression
	template   *miniscript.Template
	keys       []*key
	tapscript  bool
	count      int // of branches
}

func (m *policy) branches() int    { return m.count }
func (*policy) output() OutputType { return Unknown }

func (m *policy) appendText(dst []byte, f form) []byte {
	if f.normal != nil && !f.normal.policies {
		f.normal = nil
	}
	return m.expression.AppendText(dst, func(dst []byte, i int) []byte {
		return m.keys[i].appendText(dst, f)
	})
}

func (m *policy) scripts(all [][]byte) ([][]byte, error) {
	script := m.template.Script(func(i int) []byte {
		public := all[m.keys[i].number]
		if m.tapscript {
			return public[1:]
		}
		return public
	})
	return [][]byte{script}, nil
}

// parseMiniscript reads an expression that is none of the functions. Outside
// of wsh() and tr() it is an error, but which one depends on what it is.
func (p *parser) parseMiniscript(expression string, ctx scope) (script, error) {
	reader := &policyKeys{parser: p, scope: inTr, netForm: form{net: p.net}}
	kind := miniscript.Tapscript
	if ctx == inWsh {
		reader.scope, kind = inWsh, miniscript.P2WSH
	}
	e, err := miniscript.Parse(expression, kind, reader)
	switch {
	case errors.Is(err, miniscript.ErrSyntax):
		return nil, notAFunction(expression, ctx)
	case err != nil:
		return nil, err
	case ctx != inWsh && ctx != inTr:
		return nil, failf("Miniscript expressions can only be used in wsh or tr.")
	}
	if problem := e.Check(); problem != nil {
		return nil, failf("%s%s", problem.AppendText(nil, reader.appendKey), problem.Reason)
	}
	n, ok := commonBranches(reader.keys)
	if !ok {
		return nil, failf("Miniscript: Multipath derivation paths have mismatched lengths")
	}
	return &policy{
		expression: e, template: e.Compile(), keys: reader.keys, tapscript: kind == miniscript.Tapscript, count: n,
	}, nil
}

// policyKeys reads the keys of a miniscript.
type policyKeys struct {
	parser  *parser
	scope   scope
	netForm form
	keys    []*key
}

// ReadKey implements [miniscript.Keys].
func (r *policyKeys) ReadKey(text string) error {
	k, err := r.parser.parseKey(text, r.scope)
	if err != nil {
		return err
	}
	r.keys = append(r.keys, k)
	return nil
}

// Identity implements [miniscript.Keys]. As in Core, the public keys of index 0
// on the first branch are compared. All keys behind hardened steps count as the
// same key, whether their private key is known or not. Participants of a
// musig() behind hardened steps are told apart by their texts.
func (r *policyKeys) Identity(i int) string {
	source := neutered(r.keys[i].keySource)
	public, err := source.open(opening{})
	if m, together := source.(*musigKey); err != nil && together {
		return m.identity(r.netForm)
	}
	if err != nil {
		return ""
	}
	first, err := public.at(0)
	if err != nil {
		return ""
	}
	return string(first)
}

// neutered returns the source without its private keys.
func neutered(source keySource) keySource {
	switch source := source.(type) {
	case *extendedKey:
		return &extendedKey{root: source.root.Neuter(), path: source.path, last: source.last}
	case *musigKey:
		public := *source
		public.participants = make([]*key, len(source.participants))
		for i, k := range source.participants {
			participant := *k
			participant.keySource = neutered(k.keySource)
			public.participants[i] = &participant
		}
		return &public
	default:
		return source
	}
}

func (r *policyKeys) appendKey(dst []byte, i int) []byte {
	return r.keys[i].appendText(dst, r.netForm)
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
