package descriptor

import "strings"

// parseMusig reads a key expression that begins with musig(.
func (p *parser) parseMusig(text string) (keySource, error) {
	// Neither keys nor the path have brackets.
	args, path, closed := strings.Cut(strings.TrimPrefix(text, "musig("), ")")
	switch {
	case strings.Contains(path, ")"):
		return nil, failf("Too many ')' in musig() expression")
	case !closed:
		return nil, failf("Invalid musig() expression")
	}
	m := &musigKey{}
	if err := p.parseParticipants(m, args); err != nil {
		return nil, within("musig()", err)
	}
	// Core ignores what follows the bracket when it is no path.
	if strings.HasPrefix(path, "/") {
		if err := m.parsePath(path[1:]); err != nil {
			return nil, within("musig()", err)
		}
	}
	var ok bool
	m.count, ok = commonBranches(m.participants)
	switch {
	case m.count > 1 && m.path.branches() > 1:
		return nil, failf("musig(): Cannot have multipath participant keys if musig() is also multipath")
	case !ok:
		return nil, failf("musig(): Multipath derivation paths have mismatched lengths")
	}
	m.count = max(m.count, m.path.branches())
	return m, nil
}

func (p *parser) parseParticipants(m *musigKey, text string) error {
	if text == "" {
		return failf("Must contain key expressions")
	}
	for text = "," + text; text != ""; {
		if text[0] != ',' {
			return failf("expected ',', got '%c'", text[0])
		}
		var arg string
		arg, text = cutExpression(text[1:])
		k, err := p.parseKey(arg, inMusig)
		if err != nil {
			return err
		}
		m.participants = append(m.participants, k)
	}
	return nil
}

// parsePath reads the derivation from the aggregate key.
func (m *musigKey) parsePath(text string) (err error) {
	for _, k := range m.participants {
		if _, extended := k.keySource.(*extendedKey); !extended {
			return failf("derivation requires all participants to be xpubs or xprvs")
		}
	}
	if m.rangedParticipants() {
		return failf("Cannot have ranged participant keys if musig() also has derivation")
	}
	var r pathParser
	parts, last := r.cutWildcard(strings.Split(text, "/"))
	if last == hardenedWildcard {
		return failf("Cannot have hardened child derivation")
	}
	m.last = last
	if m.path, err = r.parse(parts, true); err != nil {
		return err
	}
	if m.path.hardened() {
		return failf("cannot have hardened derivation steps")
	}
	return nil
}
