package chainstate

// Prepare reads a serialized block and checks it as far as that depends on nothing else:
// its form, its proof of work, and Core's CheckBlock. The returned function is Accept
// for the rest, to be called once, by the engine's user. Prepare itself may be called
// from anywhere, at any time.
func (e *Engine) Prepare(raw []byte) (accept func() error) {
	b, err := e.prepare(raw)
	return func() error {
		if err != nil {
			return err
		}
		return e.acceptBlock(b, verdicts{})
	}
}

// prepare knows nothing of the engine but its rules.
func (c *checks) prepare(raw []byte) (*block, error) {
	b, err := c.readBlock(raw)
	if err != nil {
		return nil, badBlock(err)
	}
	b.judged, b.verdict = true, c.checkSolved(b)
	if b.verdict == nil {
		b.JudgeWitnesses()
	}
	return b, nil
}

// solved is checkSolved for a block that may have been judged before.
func (c *checks) solved(b *block) error {
	if b.judged {
		return b.verdict
	}
	return c.checkSolved(b)
}
