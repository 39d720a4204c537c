package descriptor

// parseUnused reads unused(KEY): a key that no scripts are made of, which a wallet keeps for later.
//
// Source: Bitcoin Core 31, script/descriptor.cpp.
func parseUnused(p *parser, args string, ctx scope) (script, error) {
	arg, rest := cutExpression(args)
	if rest != "" {
		return nil, failf("unused(): only one key expected")
	}
	k, err := p.parseKey(arg, ctx)
	if err != nil {
		return nil, err
	}
	if k.ranged() {
		return nil, failf("unused(): key cannot be ranged")
	}
	none := func([]byte) [][]byte { return nil }
	return &keyScript{name: unused, key: k, build: none, kind: Unknown}, nil
}

const unused = "unused"

// HasScripts reports whether a descriptor has scripts; unused() has none.
func HasScripts(d *Descriptor) bool {
	s, ok := d.root.(*keyScript)
	return !ok || s.name != unused
}
