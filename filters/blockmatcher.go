package filters

// Presence is what a block itself shows of the scripts of a query.
type Presence int

// How scripts of a query are present in a block.
const (
	Absent    Presence = iota // none of them: where its filter matches, it does so by chance
	Unindexed                 // some, but none that filters have: OP_RETURN outputs, empty scripts
	Indexed                   // at least one script of the block's filter
)

// BlockMatcher looks the scripts of blocks up in a query of any size. It holds the memory of
// one worker, and is not safe for concurrent use.
type BlockMatcher struct {
	query    *Query
	outputs  bool // what is added are outputs, and not what is spent
	presence Presence

	// Scripts are looked up together, so that the waits for the memory overlap.
	count   int
	scripts [chunk][]byte
	hashes  [chunk]uint64
}

// NewBlockMatcher returns a matcher for a query.
func NewBlockMatcher(q *Query) *BlockMatcher { return &BlockMatcher{query: q} }

// Match tells what a block shows. It takes the arguments of [Query.InBlock] and agrees with its
// result. The error wraps [ErrBadBlock]; it is not sure to be noticed when the block has an indexed
// script.
func (m *BlockMatcher) Match(rawBlock []byte, headerLen int, spent [][]byte) (Presence, error) {
	defer clear(m.scripts[:]) // parts of the block
	m.presence, m.count, m.outputs = Absent, 0, false
	for _, script := range spent {
		if !m.add(script) {
			return Indexed, nil
		}
	}
	if !m.lookUp() {
		return Indexed, nil
	}
	m.outputs = true
	if err := EachOutputScript(rawBlock, headerLen, m.add); err != nil {
		return Absent, err
	}
	m.lookUp()
	return m.presence, nil
}

// add adds a script, and reports whether to go on.
func (m *BlockMatcher) add(script []byte) bool {
	m.scripts[m.count], m.hashes[m.count] = script, m.query.index.hash(script)
	m.count++
	return m.count < chunk || m.lookUp()
}

// lookUp looks up what was added, and reports whether to go on.
func (m *BlockMatcher) lookUp() bool {
	n := m.count
	m.count = 0
	if m.query.index.marks != nil {
		n = m.dropUnmarked(n)
	}
	for i, script := range m.scripts[:n] {
		if _, at := m.query.find(m.hashes[i], script); at < 0 {
			continue
		}
		if m.isIndexed(script) {
			m.presence = Indexed
			return false
		}
		m.presence = Unindexed
	}
	return true
}

// dropUnmarked moves those of the first n scripts to the front that may be in the query. It has no
// branch, since those that wait for memory cannot be foreseen.
func (m *BlockMatcher) dropUnmarked(n int) (kept int) {
	x := &m.query.index
	for i, hash := range m.hashes[:n] {
		mark := x.mark(hash)
		m.hashes[kept], m.scripts[kept] = hash, m.scripts[i]
		kept += int(x.marks[mark/64] >> (mark % 64) & 1)
	}
	return kept
}

// isIndexed reports whether filters have a script that a block creates or spends.
func (m *BlockMatcher) isIndexed(script []byte) bool {
	return len(script) > 0 && (!m.outputs || script[0] != opReturn)
}
